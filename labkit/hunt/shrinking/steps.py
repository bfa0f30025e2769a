"""Steps: fewer steps, two that one says, weaker ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from labkit.lab.fault_table import FAULTS
from labkit.scenario.value_types import read_duration
from labkit.scenario.verbs import VERBS

Data = dict[str, Any]
Edit = Callable[[Data], bool]

MAX_TOGETHER = 4
UNDOES = {fault.verb: fault.undone_by.replace(" ", "-") for fault in FAULTS if fault.undone_by}
UNDOES |= {verb.name: verb.undo for verb in VERBS.values() if verb.undo and verb.name not in UNDOES}


def of_chain(data: Data, instants: Sequence[int]) -> Iterator[Edit]:
    """Leave only the steps at the instants of a chain of causes, or only those from its first instant on.

    Clusters that replicate do so in any case.
    """
    begun = [read_duration(step["at"]) for step in data["timeline"]]
    needed = [step["do"] == "replicate" for step in data["timeline"]]
    for wanted in (
        [at_ns in instants for at_ns in begun],
        [at_ns >= min(instants) for at_ns in begun],
    ):
        left_out = [place for place, pair in enumerate(zip(needed, wanted, strict=True)) if not any(pair)]
        yield without(tuple(left_out))


def singles(data: Data) -> Iterator[Edit]:
    """Leave out one step."""
    yield from _parts_of(data, 1)


def several(data: Data) -> Iterator[Edit]:
    """Leave out a step together with one below that undoes it, then some that follow one another, as runbooks do."""
    timeline = data["timeline"]
    for first, step in enumerate(timeline):
        for second in range(first + 1, len(timeline)):
            if timeline[second]["do"] in (UNDOES.get(step["do"]), "unseal" if step["do"] == "restart" else None):
                yield without((first, second))
    size = len(timeline) // 2
    while size > MAX_TOGETHER:
        yield from _parts_of(data, size)
        size //= 2
    for size in range(min(MAX_TOGETHER, len(timeline) - 1), 1, -1):
        for first in range(len(timeline) - size, -1, -1):
            yield without(range(first, first + size))


def without(places: range | tuple[int, ...]) -> Edit:
    """Leave out the steps at some places."""

    def edit(data: Data) -> bool:
        left = [step for place, step in enumerate(data["timeline"]) if place not in places]
        changed = len(left) < len(data["timeline"])
        data["timeline"] = left
        return changed

    return edit


def _parts_of(data: Data, size: int) -> Iterator[Edit]:
    """Leave out so many steps that follow one another, the last ones first."""
    for end in range(len(data["timeline"]), 0, -size):
        yield without(range(max(0, end - size), end))


def kinds(data: Data) -> Iterator[Edit]:
    """Say two steps by one, and take weaker faults and fewer options."""
    timeline = data["timeline"]
    for place, step in enumerate(timeline):
        if place + 1 < len(timeline):
            yield from _as_one(place, step, timeline[place + 1])
        sites = data["lab"]["sites"]
        if step["do"] == "isolate" and len(sites) == 2:
            yield _instead(place, _replaced(step, {"do": "partition", "between": list(sites)}))
        if step["do"] == "crash" and step["target"] in data["lab"]["clusters"]:
            yield _instead(place, {**step, "target": f"{step['target']}-1"})
        for option in [key for key in step if key in _options(step["do"])]:
            yield _instead(place, {key: value for key, value in step.items() if key != option})


def _options(verb: str) -> frozenset[str]:
    """Return what a step can do without; not its cluster, even where it can be said otherwise."""
    names = [parameter.name for parameter in VERBS[verb].parameters if not parameter.required]
    return frozenset(names) - {"cluster"}


def _as_one(place: int, one: Data, other: Data) -> Iterator[Edit]:
    """Yield the step that says two."""
    if (one["do"], other["do"]) == ("enable-primary", "enable-secondary") and one["cluster"] == other["primary"]:
        said = {"do": "replicate", "primary": one["cluster"], "secondary": other["cluster"]}
        yield _both(place, _replaced(one, said))
    both = one["do"] == other["do"] and "target" in one and "target" in other
    cluster = str(one.get("target", "")).rpartition("-")[0]
    if both and cluster and cluster == str(other["target"]).rpartition("-")[0]:
        yield _both(place, {**one, "target": cluster})


def _replaced(step: Data, said: Data) -> Data:
    """Return what is said at the instant of a step."""
    return {**said, **{key: step[key] for key in ("at", "after") if key in step}}


def _instead(place: int, step: Data) -> Edit:
    def edit(data: Data) -> bool:
        data["timeline"][place] = step
        return True

    return edit


def _both(place: int, step: Data) -> Edit:
    def edit(data: Data) -> bool:
        data["timeline"][place : place + 2] = [step]
        return True

    return edit
