"""Causes: the chain from an event back to its root, link by link, each by the rule for its kind.

1. A rule reads what the trace and the ledger recorded; it gives one step, and what to explain next.
2. A chain never goes forward in time, nor comes to the same effect twice: there it ends, and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab.causes import (
    leadership_causes,
    message_causes,
    observation_causes,
    outcome_causes,
    refusal_causes,
    replication_causes,
)
from labkit.lab.causes.event_choice import effect_of
from labkit.lab.causes.explanation import NOT_RECORDED, Cause, CauseStep, Effect, Explanation, Root
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.invariants import Invariants
from labkit.lab.queries import Queries

RULES: dict[str, Callable[[RecordedRun, Any], Cause]] = {
    **message_causes.RULES,
    **leadership_causes.RULES,
    **replication_causes.RULES,
    **observation_causes.RULES,
    **outcome_causes.RULES,
    **refusal_causes.RULES,
}
MAX_LINKS, MAX_STEPS, ENDS = 4_000, 40, 18
"""How far a chain is followed, how many of its links are shown, and how many of each end where there are more."""


def why(queries: Queries, invariants: Invariants, event: Any) -> Explanation:
    """Return what led to an event of a lab; ValueError where it keeps no trace, or that is not an event of it."""
    parts = queries.parts
    if not parts.trace.enabled:
        raise ValueError("why: expected a lab that keeps a trace, got one with trace=False")
    return explain(RecordedRun(parts.trace, parts.ledger, queries), invariants, event)


def explain(run: RecordedRun, invariants: Invariants, event: Any) -> Explanation:
    """Return what led to an event of a recorded run."""
    return explain_effect(run, effect_of(run, invariants, event))


def explain_effect(run: RecordedRun, event: Effect) -> Explanation:
    """Return what led to what a rule explains, such as a row by its kind or a silence."""
    effect: Effect | None = event
    steps: list[CauseStep] = []
    seen: set[tuple[str, str]] = set()
    origin = NOT_RECORDED
    while effect is not None and (effect[0], repr(effect[1])) not in seen and len(steps) < MAX_LINKS:
        seen.add((effect[0], repr(effect[1])))
        cause = RULES[effect[0]](run, effect[1])
        if cause.step.row is None or not steps or cause.step.row != steps[-1].row:
            steps.append(cause.step)
        origin, effect = (cause.origin or NOT_RECORDED), cause.effect
    origin = origin if effect is None else NOT_RECORDED
    return Explanation(_shown(steps), origin, _root(run, origin, steps[-1]))


def _shown(steps: list[CauseStep]) -> tuple[CauseStep, ...]:
    """Return the links of a chain; of one that is long, its ends."""
    if len(steps) < MAX_STEPS:
        return tuple(steps)
    between = steps[ENDS:-ENDS]
    words = f"… back through {len(between)} links more"
    return (*steps[:ENDS], CauseStep(between[0].at_ns, words, None), *steps[-ENDS:])


def _root(run: RecordedRun, origin: str, step: CauseStep) -> Root:
    """Return what a chain ends at, as data: read off the row of its last link."""
    if step.row is None:
        return Root(origin, "", ())
    kind, *fields = run.rows[step.row]
    if kind == "message":
        return Root(origin, fields[4], (fields[2], fields[3]))
    if kind in ("fault", "observed"):
        what, where = (fields[1], fields[2]) if kind == "fault" else (fields[2], fields[1])
        return Root(origin, what, tuple(where.replace(" <> ", " > ").split(" > ")))
    names = {"leader": fields[2:3], "mode": fields[1:2], "outcome": fields[2:3]}.get(kind, [])
    return Root(origin, kind, tuple(names))
