"""Breaking runs: what it means that a run breaks, and the run of a scenario as it is written."""

from __future__ import annotations

from typing import NamedTuple

from labkit.hunt.world import World, run_of, world_of
from labkit.scenario.measures import BROKEN, NOT_JUDGED
from labkit.scenario.problems import expected
from labkit.scenario.scenario import Scenario
from labkit.scenario.verdict import Verdict, judge

STEPS = ("timeline", "step")


class UnknownKey(ValueError):
    """A key that the verdict of a scenario does not have, or does not judge."""


class WrittenRun(NamedTuple):
    """The run of a scenario as it is written: its verdict, when it ended, and when each step began."""

    scenario: Scenario
    verdict: Verdict
    end_ns: int
    began_ns: dict[int, int]


def written_run(scenario: Scenario) -> WrittenRun:
    """Play a scenario to its end."""
    world = world_of(scenario)
    world.run()
    began_ns = {result.number: result.began_ns for result in run_of(world).results if not result.skipped}
    return WrittenRun(scenario, verdict_of(world), world.now, began_ns)


def verdict_of(world: World) -> Verdict:
    """Judge a world whose scenario is over."""
    return judge(run_of(world), world.queries, world.ledger, world.invariants, alone=False)


def broken_keys(verdict: Verdict) -> tuple[str, ...]:
    """Return what is broken, as keys of a file or names of rules."""
    return tuple(dict.fromkeys([row.key for row in verdict.rows if row.status == BROKEN]))


def key_to_follow(run: WrittenRun, of: str | None) -> str:
    """Return the key of which it is asked when it breaks: the one that is wanted, or the first that is broken.

    It is empty for anything that breaks, where nothing does in the run as it is written.  Steps come last: that one is
    refused follows from something else.  UnknownKey for one that the verdict does not have, or that it only lists.
    """
    if of is not None:
        known = list(dict.fromkeys([row.key for row in run.verdict.rows]))
        if of not in known:
            raise UnknownKey(f"--of: {expected('a key of the verdict', of, known)}")
        if all(row.status == NOT_JUDGED for row in run.verdict.rows if row.key == of):
            text = f"expected a key that the verdict judges, got {of!r}, which it only lists"
            raise UnknownKey(f"--of: {text}; write what is expected of it")
        return of
    keys = sorted(broken_keys(run.verdict), key=lambda key: key.startswith(STEPS))
    return keys[0] if keys else ""


def breaks(world: World, key: str) -> bool:
    """Whether a key is broken in a world whose scenario is over; an empty one: whether anything is."""
    return has_broken(verdict_of(world), key)


def has_broken(verdict: Verdict, key: str) -> bool:
    """Whether a verdict has a key broken; an empty one: whether anything is."""
    broken = broken_keys(verdict)
    return key in broken if key else bool(broken)
