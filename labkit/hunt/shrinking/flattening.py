"""Flattening: the timeline of a run as it was: the steps that were done, at the instants at which they began.

What was refused or skipped is left out, and so are conditions for which steps waited, and waits.
"""

from __future__ import annotations

from typing import Any

from labkit.hunt.world import World, run_of
from labkit.scenario.running import STARTING, WORKING
from labkit.scenario.steps.step_timing import KEYS
from labkit.service.durations import SECOND_NS, format_duration

Data = dict[str, Any]


def flattened(data: Data, world: World, at_ns: int) -> Data:
    """Return the data of a run up to an instant, with nothing but instants."""
    run, timeline = run_of(world), data["timeline"]
    begun = {result.number: result.began_ns for result in run.results if result.ok}
    if run.step_state in (STARTING, WORKING):
        begun[run.step_number] = run.began_ns
    ordered = sorted((began_ns, number) for number, began_ns in begun.items() if began_ns <= at_ns)
    steps = [
        {**_bare(timeline[number - 1]), "at": format_duration(began_ns)}
        for began_ns, number in ordered
        if timeline[number - 1]["do"] not in ("wait", "note", "check")
    ]
    return {**data, "timeline": steps, "end": whole_end(at_ns)}


def whole_end(at_ns: int) -> str:
    """Return the first whole second that is more than a moment after an instant."""
    return f"{at_ns // SECOND_NS + 1}s"


def _bare(step: Data) -> Data:
    return {key: value for key, value in step.items() if key == "do" or key not in KEYS}
