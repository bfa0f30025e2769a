"""Steps: fewer steps, two that one says, weaker ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from labkit.lab.fault_table import FAULTS
from labkit.scenario.scenario import MAYBE
from labkit.scenario.steps.step_timing import NEVER_REFUSED
from labkit.scenario.verbs import VERBS

Data = dict[str, Any]
Edit = Callable[[Data], bool]

MAX_TOGETHER = 4
CHANGING_MODES = frozenset(
    {"promote", "demote", "failover", "repoint", "disable", "enable-primary", "enable-secondary"}
)
UNDOES = {fault.verb: fault.undone_by.replace(" ", "-") for fault in FAULTS if fault.undone_by}
UNDOES |= {verb.name: verb.undo for verb in VERBS.values() if verb.undo and verb.name not in UNDOES}
UNDOING = frozenset([fault.undone_by.replace(" ", "-") for fault in FAULTS if fault.undone_by]) | {"unseal"}


def of_chain(data: Data, chain: Collection[int]) -> Iterator[Edit]:
    """Leave only the steps at the places of a chain of causes; with those that undo them; with those that change modes.

    At last all from the first of the chain on.  Clusters that replicate do so in any case.
    """
    verbs = [step["do"] for step in data["timeline"]]
    kept = {place for place, verb in enumerate(verbs) if verb == "replicate"} | set(chain)
    undone = {UNDOES.get(verbs[place]) for place in chain}
    undoing = {place for place, verb in enumerate(verbs) if verb in undone and place > min(chain)}
    modes = {place for place, verb in enumerate(verbs) if verb in CHANGING_MODES}
    later = set(range(min(chain, default=0), len(verbs)))
    for wanted in (kept, kept | undoing, kept | undoing | modes, kept | later):
        yield without(tuple([place for place in range(len(verbs)) if place not in wanted]))


def may_be_refused(data: Data) -> Data:
    """Return data in which each step may be refused."""
    steps = [step if step["do"] in NEVER_REFUSED else {**step, "fails": MAYBE} for step in data["timeline"]]
    return {**data, "timeline": steps}


def singles(data: Data) -> Iterator[Edit]:
    """Leave out one step, the last ones first."""
    for place in reversed(range(len(data["timeline"]))):
        yield without((place,))


def several(data: Data) -> Iterator[Edit]:
    """Leave out a step together with one below that undoes it, then some that follow one another, as runbooks do.

    These begin with what undoes nothing, and stand below what lets clusters replicate.
    """
    timeline = data["timeline"]
    for first, step in enumerate(timeline):
        for second in range(first + 1, len(timeline)):
            if timeline[second]["do"] in (UNDOES.get(step["do"]), "unseal" if step["do"] == "restart" else None):
                yield without((first, second))
    joined = max((place for place, step in enumerate(timeline) if step["do"] == "replicate"), default=-1) + 1
    begin = [place for place in range(joined, len(timeline)) if timeline[place]["do"] not in UNDOING]
    for size in range(min(MAX_TOGETHER, len(timeline) - 1), 1, -1):
        for first in reversed(begin):
            if first + size <= len(timeline):
                yield without(range(first, first + size))


def without(places: range | tuple[int, ...]) -> Edit:
    """Leave out the steps at some places."""

    def edit(data: Data) -> bool:
        left = [step for place, step in enumerate(data["timeline"]) if place not in places]
        changed = len(left) < len(data["timeline"])
        data["timeline"] = left
        return changed

    return edit


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
