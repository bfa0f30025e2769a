"""Failing run: one run of a candidate under the strict rule, stopped at what breaks, and whether that is the same."""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.hunt.findings import EXCEPTION, Signature, exception_of, signature_of
from labkit.hunt.world import World, read, run_of, world_of
from labkit.scenario.running import LATE_NS, STARTING, WORKING
from labkit.scenario.steps.waiting import happens_beside

Data = dict[str, Any]


class FailingRun(NamedTuple):
    """When a run broke what it was to break, in which world."""

    at_ns: int
    world: World | None


def failing_run(data: Data, signature: Signature, *, strict: bool = True) -> FailingRun | None:
    """Play data until the rule of a signature breaks; None when it does not, or in another way.

    Under the strict rule every step up to there is done, and begins when it is written.  ScenarioError when data cannot
    be a file: then nothing is played.
    """
    scenario, world = read(data), None
    try:
        world = world_of(scenario)
        run, broken = run_of(world), world.invariants.broken
        world.run(until=lambda world: signature.rule in broken or run.ended or (strict and run.stopped))
    except TimeoutError:
        return None
    except Exception as error:  # what labkit raises is a finding too
        same = signature.rule == EXCEPTION and exception_of(error, 0, 0).signature == signature
        return FailingRun(0 if world is None else world.now, None) if same else None
    violation = broken.get(signature.rule)
    if violation is None or not world.invariants.applies(signature.rule):
        return None
    if strict and (run.stopped or is_late(world)):
        return None
    return FailingRun(violation.at_ns, world) if signature_of(world, violation) == signature else None


def is_late(world: World) -> bool:
    """Whether a step began later than it is written."""
    run = run_of(world)
    steps = run.scenario.timeline
    begun = [(steps[result.number - 1], result.began_ns) for result in run.results]
    if run.step_state in (STARTING, WORKING):
        begun.append((steps[run.step_number - 1], run.began_ns))
    return any(
        step.at_ns is not None and not happens_beside(step) and began_ns - step.at_ns > LATE_NS
        for step, began_ns in begun
    )
