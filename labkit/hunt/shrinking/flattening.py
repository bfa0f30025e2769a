"""Flattening: the timeline of a run as it was: the steps that were done, at the instants at which they began.

What was refused or skipped is left out, and so are conditions for which steps waited, and waits; a run that is to end
earlier does so.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from labkit.hunt.world import World, run_of
from labkit.scenario.running import STARTING, WORKING
from labkit.scenario.steps.step_timing import KEYS
from labkit.scenario.value_types import read_duration
from labkit.service.durations import SECOND_NS, format_duration

Data = dict[str, Any]
LEFT_OUT = ("wait", "note", "check")
NOT_FLAT = frozenset(KEYS) - {"do", "at", "after"}


def flattened(data: Data, world: World, at_ns: int, left_out: Collection[int] = ()) -> Data:
    """Return the data of a run up to an instant, with nothing but instants; some steps are left out by number."""
    run, timeline = run_of(world), data["timeline"]
    begun = {result.number: result.began_ns for result in run.results if result.ok}
    if run.step_state in (STARTING, WORKING):
        begun[run.step_number] = run.began_ns
    begun = {number: began_ns for number, began_ns in begun.items() if began_ns <= at_ns and number not in left_out}
    ordered = sorted((began_ns, number) for number, began_ns in begun.items())
    steps = [
        {**_bare(timeline[number - 1]), "at": format_duration(began_ns)}
        for began_ns, number in ordered
        if timeline[number - 1]["do"] not in LEFT_OUT
    ]
    ends = [data["end"]] if "end" in data else []
    return {**data, "timeline": steps, "end": min([*ends, whole_end(at_ns)], key=read_duration)}


def is_flat(data: Data) -> bool:
    """Whether every step says only what is done and when: such data is not made flat once more."""
    return all(NOT_FLAT.isdisjoint(step) and step["do"] not in LEFT_OUT for step in data["timeline"])


def whole_end(at_ns: int) -> str:
    """Return the first whole second that is more than a moment after an instant."""
    return f"{at_ns // SECOND_NS + 1}s"


def _bare(step: Data) -> Data:
    return {key: value for key, value in step.items() if key == "do" or key not in KEYS}
