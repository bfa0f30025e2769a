"""Waiting: what a step waits for: its instant, or a condition, which it looks at again and again for some time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.lab.records.lag import furthest_behind
from labkit.scenario.conditions import compiled, finding
from labkit.scenario.expect_keys import Expectations
from labkit.scenario.fault_verbs import FAULT_VERBS
from labkit.scenario.value_types import read_condition, write_duration
from labkit.service.durations import MILLISECOND_NS, SECOND_NS

if TYPE_CHECKING:
    from labkit.lab.queries import Queries
    from labkit.scenario.measures import Seen
    from labkit.scenario.scenario import Step

# How often a step that waits for a condition looks whether it holds, and how long it does so unless the file says.
LOOK_NS = 10 * MILLISECOND_NS
MAX_WAIT_NS = 120 * SECOND_NS

AT_ONCE = frozenset({*(verb.name for verb in FAULT_VERBS), "check", "note", "luck"})
"""Verbs whose steps take no time, and may happen beside what is in progress."""


class Sight(NamedTuple):
    """What a step saw when it looked at its condition: whether it holds, and what was there instead."""

    holds: bool
    found: str


def happens_beside(step: Step) -> bool:
    """Whether a step happens whatever is in progress: at its instant, after a step, or once its condition holds."""
    timed = step.at_ns is not None or step.after_step > 0 or step.condition is not None
    return timed and not step.when and step.verb in AT_ONCE


def is_awaited(step: Step) -> bool:
    """Whether the steps below wait until a step is over: they do, unless nobody knows when it happens."""
    return not happens_beside(step) or (step.after_step == 0 and step.condition is None)


def look(until: str | tuple[Any, ...], seen: Seen) -> Sight:
    """Look whether what a step waits for holds: of the lag, as a text, or any condition, as plain data."""
    if isinstance(until, str):
        return look_at_lag(until, seen.queries)
    condition = Expectations.from_state(until)
    if compiled(condition, seen)() is True:
        return Sight(True, "")
    return Sight(False, finding(condition, seen).text)


def look_at_lag(until: str, queries: Queries) -> Sight:
    """Look whether the lag of the secondary that is furthest behind is as wanted."""
    lags = queries.lags()
    holds = bool(lags) and read_condition(until).holds(*furthest_behind(lags.values()))
    return Sight(holds, "; ".join(f"{name}: {lag.text}" for name, lag in lags.items()) or "no cluster follows another")


def too_late(since_ns: int, within_ns: int | None, now_ns: int) -> bool:
    """Whether the time for which a step looks is over."""
    return now_ns - since_ns >= (MAX_WAIT_NS if within_ns is None else within_ns)


def not_reached(since_ns: int, now_ns: int, found: str) -> str:
    """Say that a condition did not come to hold."""
    return f"not reached within {write_duration(now_ns - since_ns)}: {found}"
