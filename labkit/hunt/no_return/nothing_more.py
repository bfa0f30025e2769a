"""Nothing more: a scenario of which only the first steps are done, up to the same end; one run a step.

The first step after which the same breaks anyway is the point of no return: whoever stops there prevents nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from labkit.hunt.no_return.breaking_runs import WrittenRun, breaks
from labkit.hunt.world import world_of


class StoppedRun(NamedTuple):
    """A run of which only so many steps were done, and whether it breaks."""

    steps: int
    breaks: bool


def stopped_runs(run: WrittenRun, key: str) -> tuple[StoppedRun, ...]:
    """Play a scenario up to each of its steps, from none at all on."""
    found = []
    for steps in range(len(run.scenario.timeline) + 1):
        world = world_of(replace(run.scenario, timeline=run.scenario.timeline[:steps], end_ns=run.end_ns))
        world.run()
        found.append(StoppedRun(steps, breaks(world, key)))
    return tuple(found)


def point_of_no_return(runs: tuple[StoppedRun, ...]) -> int | None:
    """Return the first step after which it breaks whether anything more is done or not; None without one.

    0 is the beginning: it breaks though no step is done.
    """
    kept = [run.steps for run in runs if not run.breaks]
    first = kept[-1] + 1 if kept else 0
    return first if first < len(runs) else None
