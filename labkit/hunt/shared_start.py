"""Shared start: what all seeds of a campaign have in common is played once; each seed goes on from a snapshot of it.

1. All seeds have the lab's seed 0 up to an instant, at which a step of their timeline takes the luck of their number.
2. What a seed plays from the snapshot is to the byte what its file plays from the beginning: only the steps below are
   put in, and in the clock what those with instants have waiting there from the first moment on.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from labkit.hunt.world import World, world_of
from labkit.hunt.writing import written
from labkit.lab.snapshot import Snapshot
from labkit.scenario.loading import loads
from labkit.scenario.scenario import Scenario
from labkit.scenario.steps.waiting import happens_beside
from labkit.sim.clock import Pending

MAX_STARTS = 2


class SharedStart(NamedTuple):
    """A lab just before luck is taken, and what waited in its clock from when it was built."""

    snapshot: Snapshot
    from_the_first: frozenset[tuple[int, str]]


def world_from(data: dict[str, Any], above: int, scenario: Scenario) -> World:
    """Build the world of a seed, whose first steps up to the one that takes luck are played already."""
    luck = scenario.timeline[above]
    assert luck.verb == "luck", "the steps above are those that all seeds share"
    assert luck.at_ns is not None, "luck is taken at an instant"
    shared = {**data, "timeline": [*data["timeline"][:above], {**data["timeline"][above], "number": 0}]}
    shared["scenario"] = "what all seeds share"
    start = _started(written(shared), luck.at_ns)
    state = start.snapshot.state
    run = {**state["scenario"], "scenario": scenario.state()}
    now_ns, pending = state["clock"]
    clock = (now_ns, _with_steps(pending, start, scenario, above + 1))
    return World.restore(replace(start.snapshot, state={**state, "scenario": run, "clock": clock}))


@lru_cache(MAX_STARTS)
def _started(text: str, luck_ns: int) -> SharedStart:
    """Play what is shared up to the nanosecond before luck is taken; each process does so once."""
    world = world_of(loads(text.encode(), "what all seeds share"))
    from_the_first = frozenset([(at_ns, repr(item)) for at_ns, item in world.parts.clock.pending()])
    world.run(until=f"{luck_ns - 1}ns")
    return SharedStart(world.snapshot(), from_the_first)


def _with_steps(pending: Pending, start: SharedStart, scenario: Scenario, above: int) -> Pending:
    """Put in the clock the steps below that have instants: after what waits there from the first, before all else."""
    steps = [
        (step.at_ns, ("scenario", "", ("beside", step.number)))
        for step in scenario.timeline[above:]
        if happens_beside(step) and step.at_ns is not None
    ]
    first = [entry for entry in pending if (entry[0], repr(entry[1])) in start.from_the_first]
    later = [entry for entry in pending if (entry[0], repr(entry[1])) not in start.from_the_first]
    return tuple(sorted([*first, *steps, *later], key=lambda entry: entry[0]))
