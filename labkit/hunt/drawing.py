"""Drawing: the scenario of one seed as the data of a file: lab, timeline, conditions, and the quiet at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from labkit.hunt.draws import Draws
from labkit.hunt.kinds import CLOUD, KINDS, OWN_SITES, TWO_CLUSTERS, TWO_SITES, Kind, Names
from labkit.hunt.labs import LabData, drawn_lab
from labkit.hunt.operators import OPERATOR_BLOCKS, more_requests
from labkit.hunt.quiet import QUIET_NS, undo_all
from labkit.hunt.schedule import Schedule, StepData
from labkit.hunt.swarm import RUNBOOK, Swarm, drawn_swarm
from labkit.scenario.file_parts import MAX_TIMELINE_STEPS
from labkit.scenario.value_types import write_duration
from labkit.service.durations import MILLISECOND_NS, SECOND_NS
from labkit.vault.storage.interruption import BETWEEN

Data = dict[str, Any]
NAMED = {kind.name: kind for kind in KINDS}
FIRST_NS, LAST_NS = 7 * SECOND_NS, 45 * SECOND_NS
LUCK_BEFORE_NS = SECOND_NS // 2
COMMIT = "crash in a commit"
JOINING = ("replicate", "enable-secondary")
MAX_DRAWN = 14
PAUSES_MS = (50, 200, 700, 1_500, 3_000, 6_000)


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """What a campaign takes from a file: lab, the timeline up to its first fault, conditions, and when that is over."""

    lab: LabData
    steps: tuple[StepData, ...] = ()
    over_time: dict[str, list[Data]] = field(default_factory=dict)
    from_ns: int = FIRST_NS


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The scenario of a seed as the data of a file, what was on when it was drawn, and with which step quiet begins.

    ``shared`` are the steps that all seeds of the campaign have above the one that takes luck; None without that.
    """

    seed: int
    data: Data
    swarm: Swarm
    quiet_from: int
    shared: int | None = None

    @property
    def is_too_long(self) -> bool:
        """Whether no file can have so many steps."""
        return len(self.data["timeline"]) > MAX_TIMELINE_STEPS


def drawn(seed: int, operator: str = RUNBOOK, beginning: Beginning | None = None) -> Drawn:
    """Draw the scenario of a seed, with fewer faults and runbooks where a file could not have all its steps.

    Where its beginning and its quiet are too many steps by themselves, no file can have it.
    """
    tried = (_drawn(seed, operator, beginning, most) for most in range(MAX_DRAWN, 0, -1))
    return next((found for found in tried if not found.is_too_long), None) or _drawn(seed, operator, beginning, 0)


def _drawn(seed: int, operator: str, beginning: Beginning | None, most: int) -> Drawn:
    """Draw the scenario of a seed with so many faults and runbooks at most, and as many requests beside them."""
    draws = Draws(operator, seed)
    start = beginning or _beginning(draws)
    names = _names(start.lab)
    swarm = drawn_swarm(seed, operator, draws, _lacking(start.lab, names))
    schedule = Schedule(names, start.from_ns)
    _fill(schedule, draws, swarm, min(most, draws.between(5, MAX_DRAWN)))
    _scatter(schedule, draws.apart("scattered"), swarm, start.from_ns, most)
    schedule.now_ns = max(schedule.now_ns, LAST_NS) + 3 * SECOND_NS
    above = start.steps if beginning is None else (*start.steps, _luck(seed, start.from_ns))
    drawn_steps = len(above) + len(schedule.end())
    undo_all(schedule, cloud="cloud" in start.lab, replicates=any(step["do"] in JOINING for step in start.steps))
    schedule.then({"do": "wait", "for": write_duration(QUIET_NS)}, if_done=False)
    data = {
        "scenario": f"seed {seed} of a {operator} campaign",
        "seed": seed if beginning is None else 0,
        "lab": start.lab,
        "timeline": [*above, *schedule.steps(len(above))],
        **start.over_time,
    }
    shared = None if beginning is None else len(start.steps)
    return Drawn(seed=seed, data=data, swarm=swarm, quiet_from=drawn_steps + 1, shared=shared)


def _luck(seed: int, from_ns: int) -> StepData:
    """Return the step by which a seed has luck of its own, though it begins as all others do."""
    return {"do": "luck", "number": seed, "at": write_duration(from_ns - LUCK_BEFORE_NS)}


def _beginning(draws: Draws) -> Beginning:
    """Draw a lab whose clusters replicate."""
    lab = drawn_lab(draws)
    primary, *others = lab["clusters"]
    steps = [{"do": "replicate", "primary": primary, "secondary": other, "at": "1s", "late": "ok"} for other in others]
    return Beginning(lab=lab, steps=tuple(steps))


def _fill(schedule: Schedule, draws: Draws, swarm: Swarm, count: int) -> None:
    """Make faults and let the operator work, so many times or until the time is over."""
    until_ns = max(schedule.now_ns + 20 * SECOND_NS, LAST_NS)
    for _ in range(count):
        if schedule.now_ns >= until_ns:
            return
        if draws.chance(60) or not swarm.blocks:
            _fault(schedule, draws, swarm, NAMED[draws.one_of(swarm.faults)])
        else:
            OPERATOR_BLOCKS[draws.one_of(swarm.blocks)](schedule, draws, swarm)
        schedule.now_ns += draws.one_of(PAUSES_MS) * MILLISECOND_NS


def _scatter(schedule: Schedule, draws: Draws, swarm: Swarm, from_ns: int, most: int) -> None:
    """Put in what too few schedules would have: more requests, and a crash between two keys of a commit.

    Half of them come early, while most clusters are still open and what they were at first.
    """
    after_ns = schedule.now_ns
    for _ in range(min(most, draws.between(4, 12)) if "requests" in swarm.blocks else 0):
        schedule.now_ns = from_ns + _at_any_time(draws)
        more_requests(schedule, draws, swarm)
        after_ns = max(after_ns, schedule.now_ns)
    if COMMIT in swarm.faults and draws.chance(60):
        schedule.now_ns = from_ns + _at_any_time(draws)
        kind = NAMED[COMMIT]
        target = draws.one_of((schedule.names.clusters[0], *schedule.names.clusters))
        in_force_ns = kind.time_in_force_ns(draws) if kind.undo in swarm.suppressors else 0
        schedule.fault(kind, {"target": target, "moment": BETWEEN}, in_force_ns)
    schedule.now_ns = max(after_ns, schedule.now_ns)


def _at_any_time(draws: Draws) -> int:
    """Draw an instant after the first, off those of blocks: nothing comes while the first step of one is under way."""
    span_ms = (LAST_NS - FIRST_NS) // MILLISECOND_NS // draws.one_of((1, 8))
    return draws.below(span_ms) * MILLISECOND_NS + MILLISECOND_NS // 2


def _fault(schedule: Schedule, draws: Draws, swarm: Swarm, kind: Kind) -> None:
    assert kind.draw is not None, "every fault has arguments"
    arguments, in_force_ns = kind.draw(draws, schedule.names), kind.time_in_force_ns(draws)
    schedule.fault(kind, arguments, in_force_ns if kind.undo in swarm.suppressors else 0)


def _lacking(lab: LabData, names: Names) -> tuple[str, ...]:
    """Return what a lab lacks of what kinds need."""
    own_sites = len(set(names.sites.values())) == len(names.sites)
    has = {CLOUD: "cloud" in lab, TWO_SITES: bool(names.pairs), TWO_CLUSTERS: len(names.clusters) > 1}
    has[OWN_SITES] = own_sites  # else isolating one cluster isolates another
    return tuple([what for what, there in has.items() if not there])


def _names(lab: LabData) -> Names:
    """Return what faults may be aimed at in a lab."""
    plans = lab["clusters"]
    return Names(
        clusters=tuple(plans),
        nodes={
            name: tuple([f"{name}-{number}" for number in range(1, plan.get("nodes", 3) + 1)])
            for name, plan in plans.items()
        },
        sites={name: plan["site"] for name, plan in plans.items()},
        pairs=tuple([tuple(link["between"]) for link in lab.get("links", ())]),
    )
