"""Values: those that a reader expects, whole seconds, a small seed, names in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from labkit.scenario.value_types import read_duration
from labkit.service.durations import SECOND_NS, format_duration

Data = dict[str, Any]
Edit = Callable[[Data], bool]
LATENCY, EVERY = "80ms", "1s"
PACES = ("1s", "2s", "5s")
NAMES = ("paris", "tokyo", "lima")


def values(data: Data) -> Iterator[Edit]:
    """Take the usual latencies and rates, first all of them."""
    yield _all_usual
    yield _usual_latencies
    if sum(len(plan.get("work", [])) for plan in data["lab"].get("clients", {}).values()) > 1:
        yield _usual_work
    yield _always_at_work
    for place in range(len(data["lab"]["links"])):
        yield _usual_latency(place)
    for group, plan in data["lab"].get("clients", {}).items():
        for place, work in enumerate(plan.get("work", [])):
            yield _usual_rate(group, place)
            for key in [key for key in work if key not in ("do", "every")]:
                yield _without(group, place, key)


def instants(data: Data) -> Iterator[Edit]:
    """Take an even pace, or a quicker one, then whole seconds one by one."""
    timeline = data["timeline"]
    paces = {step.get("after") for step in timeline[1:]}
    kept = PACES.index(*paces) if len(paces) == 1 and paces <= set(PACES) else len(PACES)
    for pace in PACES[: kept if _is_whole(timeline[:1]) else None]:
        yield _at_pace(pace)
    for place, step in enumerate(timeline):
        if "at" in step and not _is_whole([step]):
            at_ns = read_duration(step["at"])
            for whole in dict.fromkeys((_nearest(at_ns), at_ns // SECOND_NS, at_ns // SECOND_NS + 1)):
                yield _moved(place, whole)


def usual_seed(data: Data) -> Iterator[Edit]:
    """Take seed 0."""
    if data["seed"]:
        yield _with_seed(0)


def seeds(data: Data) -> Iterator[Edit]:
    """Take a seed from 0 to 9."""
    for seed in range(min(10, data["seed"])):
        yield _with_seed(seed)


def names(data: Data) -> Iterator[Edit]:
    """Call the clusters, and the sites that have their names, by the usual names in order."""
    clusters, sites = list(data["lab"]["clusters"]), data["lab"]["sites"]
    wanted = NAMES[: len(clusters)]
    taken = [name for name in wanted if name in sites and name not in clusters]
    if len(clusters) <= len(NAMES) and clusters != list(wanted) and not taken:
        yield _renamed(dict(zip(clusters, NAMES, strict=False)))


def _all_usual(data: Data) -> bool:
    return _usual_latencies(data) | _usual_work(data)


def _usual_latencies(data: Data) -> bool:
    for link in data["lab"]["links"]:
        if "measured" not in link:
            link["latency"] = LATENCY
    return True


def _usual_work(data: Data) -> bool:
    for plan in data["lab"].get("clients", {}).values():
        plan["work"] = [{"do": work["do"], "every": EVERY} for work in plan.get("work", [])]
    return True


def _always_at_work(data: Data) -> bool:
    """Let clients work from the beginning to the end."""
    for plan in data["lab"].get("clients", {}).values():
        plan["work"] = [
            {key: value for key, value in work.items() if key not in ("from", "until")} for work in plan.get("work", [])
        ]
    return True


def _usual_latency(place: int) -> Edit:
    def edit(data: Data) -> bool:
        link = data["lab"]["links"][place]
        link.pop("measured", None)
        link["latency"] = LATENCY
        return True

    return edit


def _usual_rate(group: str, place: int) -> Edit:
    def edit(data: Data) -> bool:
        data["lab"]["clients"][group]["work"][place]["every"] = EVERY
        return True

    return edit


def _without(group: str, place: int, key: str) -> Edit:
    def edit(data: Data) -> bool:
        del data["lab"]["clients"][group]["work"][place][key]
        return True

    return edit


def _nearest(at_ns: int) -> int:
    return (at_ns + SECOND_NS // 2) // SECOND_NS


def _is_whole(steps: list[Data]) -> bool:
    return all("at" in step and read_duration(step["at"]) % SECOND_NS == 0 for step in steps)


def _at_pace(pace: str) -> Edit:
    """Let each step follow the one above it."""

    def edit(data: Data) -> bool:
        for place, step in enumerate(data["timeline"]):
            step.pop("at", None)
            step.pop("after", None)
            step["after" if place else "at"] = pace if place else "1s"
        data.pop("end", None)
        return bool(data["timeline"])

    return edit


def _moved(place: int, second: int) -> Edit:
    """Move a step to a whole second, and those below it along with it."""

    def edit(data: Data) -> bool:
        timeline = data["timeline"]
        by_ns = second * SECOND_NS - read_duration(timeline[place]["at"])
        for step in timeline[place:]:
            if "at" in step:
                step["at"] = format_duration(max(0, read_duration(step["at"]) + by_ns))
        timeline[place]["at"] = f"{second}s"
        return True

    return edit


def _with_seed(seed: int) -> Edit:
    def edit(data: Data) -> bool:
        data["seed"] = seed
        return True

    return edit


def _renamed(new_names: dict[str, str]) -> Edit:
    def edit(data: Data) -> bool:
        for key in ("lab", "timeline"):
            data[key] = _with_names(data[key], new_names)
        for link in data["lab"]["links"]:
            if "back" not in link:  # else its ends are not alike
                link["between"].sort(key=data["lab"]["sites"].index)
        return True

    return edit


def _with_names(value: Any, new_names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {_with_names(key, new_names): _with_names(one, new_names) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_names(one, new_names) for one in value]
    if isinstance(value, str):
        head, dash, number = value.rpartition("-")
        if dash and head in new_names and number.isdigit():
            return f"{new_names[head]}-{number}"
        return new_names.get(value, value)
    return value
