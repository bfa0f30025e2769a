"""Playing: the run of one seed of a campaign, and what is kept of it."""

from __future__ import annotations

from typing import NamedTuple

from labkit.hunt.drawing import Beginning, Drawn, drawn
from labkit.hunt.findings import SeedFinding, exception_of, findings_of
from labkit.hunt.kinds import KINDS, OPTIONAL
from labkit.hunt.quiet import what_is_left
from labkit.hunt.schedule import FAULT_VERBS
from labkit.hunt.shared_start import world_from
from labkit.hunt.world import World, read, run_of, world_of
from labkit.lab.fault_meters import FaultMeters
from labkit.lab.fault_table import DECIDED
from labkit.scenario.file_parts import MAX_TIMELINE_STEPS
from labkit.scenario.running import Run
from labkit.scenario.witnesses import EFFECTS, had_effect

WITNESSED = frozenset(
    kind.verb for kind in KINDS if kind.group == OPTIONAL and kind.verb in FAULT_VERBS and EFFECTS[kind.verb] != DECIDED
)
"""Faults of which it is known whether they met anything; nothing shows that a clock was read."""

RAISED = "labkit raised"
TOO_LONG = f"steps: those of the beginning leave no room in the {MAX_TIMELINE_STEPS} of a file"


class PlayedSeed(NamedTuple):
    """What became of a seed: steps, faults and how many of them met nothing, what broke, why it is not judged."""

    seed: int
    mode: str
    steps: int
    done: int
    faults: int
    idle: int
    findings: tuple[SeedFinding, ...]
    left: str = ""

    @property
    def is_judged(self) -> bool:
        """Whether it was played to its end and the lab came to rest: what it did not find was not there."""
        return not self.left


def play(seed: int, operator: str, beginning: Beginning | None) -> PlayedSeed:
    """Draw the scenario of a seed, play it to its end, and return what became of it."""
    found = drawn(seed, operator, beginning)
    if found.is_too_long:
        return PlayedSeed(seed, found.swarm.mode, 0, 0, 0, 0, (), TOO_LONG)
    world: World | None = None
    try:
        scenario = read(found.data)
        world = world_of(scenario) if found.shared is None else world_from(found.data, found.shared, scenario)
        world.run()
    except Exception as error:  # whatever labkit raises is what a campaign looks for
        broken = exception_of(error, seed, 0 if world is None else world.now)
        return PlayedSeed(seed, found.swarm.mode, 0, 0, 0, 0, (broken,), RAISED)
    return _played(found, world)


def _played(found: Drawn, world: World) -> PlayedSeed:
    run, meters = run_of(world), FaultMeters(world.parts)
    steps = run.scenario.timeline
    results = [result for result in run.results if result.number < found.quiet_from]
    witnessed = [
        (steps[number - 1].verb, made)
        for number, made in run.faults.items()
        if number < found.quiet_from and steps[number - 1].verb in WITNESSED
    ]
    return PlayedSeed(
        seed=found.seed,
        mode=found.swarm.mode,
        steps=len(results),
        done=sum(result.ok for result in results),
        faults=len(witnessed),
        idle=sum(not had_effect(verb, made, meters) for verb, made in witnessed),
        findings=tuple(findings_of(world, found.seed)),
        left=_ended_early(run) or what_is_left(world),
    )


def _ended_early(run: Run) -> str:
    """Return which step ended the run before its time; empty where all were played."""
    steps = run.scenario.timeline
    ended = next((one for one in run.results if not one.as_expected(steps[one.number - 1])), None)
    return "" if ended is None else f"step {ended.number}, {steps[ended.number - 1].verb}, failed and ended the run"
