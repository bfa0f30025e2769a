"""Outcomes: what became of each step of a run, in place of what might have: done, or refused.

A drawn step may be refused, begin late, and have no effect.  A file that says so does not show its reader what of that
it needs.
"""

from __future__ import annotations

from typing import Any

from labkit.hunt.shrinking.idle_steps import not_done, without_effect
from labkit.hunt.world import read, run_of, world_of
from labkit.scenario.scenario import MAYBE

Data = dict[str, Any]
MAY = {"fails": MAYBE, "late": "ok", "idle": "fine"}


def as_it_went(data: Data) -> Data:
    """Return data in which steps say what becomes of them in a run to its end; as it is where labkit raises in it."""
    if not any(_may(step) for step in data["timeline"]):
        return data
    world = world_of(read(data))
    try:
        world.run()
    except Exception:  # that is what the file is about
        return data
    skipped = {result.number for result in run_of(world).results if result.skipped}
    refused, idle = not_done(world) - skipped, without_effect(world)
    steps = []
    for number, step in enumerate(data["timeline"], 1):
        left = {key: value for key, value in step.items() if MAY.get(key) != value}
        left |= {"fails": True} if number in refused and "fails" not in left else {}
        left |= {"idle": "fine"} if number in idle and "idle" in step else {}
        steps.append(left)
    return {**data, "timeline": steps}


def _may(step: Data) -> bool:
    return any(step.get(key) == value for key, value in MAY.items())
