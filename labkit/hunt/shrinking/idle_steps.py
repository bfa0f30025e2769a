"""Idle steps: those of a run of which nothing came, for they were refused or skipped, or their faults met nothing."""

from __future__ import annotations

from labkit.hunt.world import World, run_of
from labkit.lab.fault_meters import FaultMeters
from labkit.lab.fault_table import DECIDED
from labkit.scenario.witnesses import EFFECTS, had_effect


def not_done(world: World) -> frozenset[int]:
    """Return the numbers of the steps that were refused or skipped."""
    return frozenset([result.number for result in run_of(world).results if not result.ok])


def without_effect(world: World) -> frozenset[int]:
    """Return the numbers of the steps whose faults changed or met nothing; whether a clock was read is not known."""
    run, meters = run_of(world), FaultMeters(world.parts)
    made = [(number, run.scenario.timeline[number - 1].verb, fault) for number, fault in run.faults.items()]
    judged = [one for one in made if EFFECTS[one[1]] != DECIDED]
    return frozenset([number for number, verb, fault in judged if not had_effect(verb, fault, meters)])
