"""Event choice: which event a caller means, as a row, a record or a short text; else which events there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labkit.lab.causes.explanation import Effect
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.invariants import Invariants, Violation
from labkit.lab.records.ledger import EndedOperation, FailedAsk, Write
from labkit.lab.records.loss_and_outage import Promotion, RecoveryPoint, RecoveryTime
from labkit.lab.wire.reports import REFUSED, UNKNOWN
from labkit.service.arguments import shown

LOST, PROMOTION, RECOVERY, IN_DOUBT = "lost", "promotion", "recovery", "in doubt"
WORDS = (IN_DOUBT, REFUSED, LOST, PROMOTION, RECOVERY)
LEADS = "leads"
EXPLAINED = ("message", "fault", "observed", "leader", "mode", "outcome", "invariant", "step", "note")
WANTED = (
    "a row number or event of lab.trace, a Violation, a lost write, a promotion, rpo() or rto() of lab.ledger, a broken"
    f" rule's name, one of {', '.join(WORDS)}, or a name with what became of it as in 'tokyo: merkle-diff'"
)


def effect_of(run: RecordedRun, invariants: Invariants, event: Any) -> Effect:
    """Return what a caller wants to have explained; ValueError says what there is."""
    if isinstance(event, str):
        return _by_text(run, invariants, event)
    if type(event) is int:
        return _by_number(run, event)
    chosen = RECORDS.get(type(event))
    if chosen is not None:
        return chosen(run, event)
    if isinstance(event, tuple) and event in run.rows:
        return _by_number(run, len(run.rows) - 1 - run.rows[::-1].index(event))
    raise ValueError(f"why: expected {WANTED}; got {shown(event)}")


def _by_number(run: RecordedRun, number: int) -> Effect:
    if not 0 <= number < len(run.rows):
        raise ValueError(f"why: expected a row of the trace, from 0 to {len(run.rows) - 1}, got {shown(number)}")
    kind = run.rows[number][0]
    if kind not in EXPLAINED:
        raise ValueError(f"why: row {number} is a {kind}; explained are {', '.join(EXPLAINED)}")
    if kind == "message":
        return ("lost" if run.rows[number][7] == "lost" else "request"), number
    return kind, number


def _violation(run: RecordedRun, violation: Violation) -> Effect:
    found = run.last("invariant", len(run.rows), name=violation.name, at_ns=violation.at_ns)
    if found is None:
        raise ValueError(f"why: the trace of this lab does not show that {violation.name!r} was broken then")
    return "invariant", found


def _write(run: RecordedRun, write: Write) -> Effect:
    if write not in run.ledger.lost():
        raise ValueError(f"why: the write to {write.path} is not lost; lab.ledger.lost() names those that are")
    return "lost write", write


def _operation(run: RecordedRun, operation: EndedOperation) -> Effect:
    failed = [ask for ask in run.ledger.failed_asks if (ask.at_ns, ask.outcome) == operation]
    if failed:
        return "failed ask", failed[-1]
    found = run.last("outcome", len(run.rows), at_ns=operation.at_ns, outcome=operation.outcome)
    if found is None:
        raise ValueError("why: an operator's request that was answered has no cause but the operator")
    return "outcome", found


def _recovery_point(run: RecordedRun, point: RecoveryPoint) -> Effect:
    lost = run.ledger.lost(run.ledger.promotions[-1]) if run.ledger.promotions else []
    return _losses(run, run.ledger.promotions[-1], lost) if lost else _last_promotion(run, "promotion")


def _losses(run: RecordedRun, taken: Promotion, lost: list[Write]) -> Effect:
    return ("lost write", lost[0]) if len(lost) == 1 else ("losses", taken)


def _last_promotion(run: RecordedRun, rule: str) -> Effect:
    if not run.ledger.promotions:
        raise ValueError("why: no cluster was promoted in this lab")
    return rule, run.ledger.promotions[-1]


def _by_text(run: RecordedRun, invariants: Invariants, wanted: str) -> Effect:
    if wanted in (PROMOTION, RECOVERY):
        return _last_promotion(run, wanted)
    if wanted == LOST:
        for taken in reversed(run.ledger.promotions):
            lost = run.ledger.lost(taken)
            if lost:
                return _losses(run, taken, lost)
        raise ValueError("why: no acknowledged write is lost in this lab")
    if wanted in (IN_DOUBT, UNKNOWN, REFUSED):
        return _last_outcome(run, wanted)
    verdicts = {**invariants.verdicts(), **invariants.broken}
    if wanted in verdicts:
        return _broken(run, verdicts, wanted)
    name, _, what = wanted.partition(":")
    if name.strip() not in {*run.nodes, *run.nodes.values(), *run.clients} or not what.strip():
        raise ValueError(f"why: expected {WANTED}; got {shown(wanted)}; broken rules: {_list(invariants.broken)}")
    return _of_name(run, name.strip(), what.strip())


def _broken(run: RecordedRun, verdicts: Mapping[str, Violation | None], name: str) -> Effect:
    violation = verdicts[name]
    if violation is None:
        broken = _list([other for other, found in verdicts.items() if found is not None])
        raise ValueError(f"why: the rule {name!r} was not broken; broken rules: {broken}")
    return _violation(run, violation)


def _last_outcome(run: RecordedRun, how: str) -> Effect:
    how, said = (UNKNOWN, IN_DOUBT) if how in (IN_DOUBT, UNKNOWN) else (how, how)
    found = run.last("outcome", len(run.rows), outcome=how)
    failed = next((ask for ask in reversed(run.ledger.failed_asks) if ask.outcome == how), None)
    if failed is not None and (found is None or failed.at_ns > run.at_ns(found)):
        return "failed ask", failed
    if found is None:
        raise ValueError(f"why: no operation is {said} in this lab")
    return "outcome", found


def _of_name(run: RecordedRun, name: str, what: str) -> Effect:
    """Return the last row about a cluster, a node or a client that these words fit."""
    words, observed = _plain(what), None
    known: dict[str, None] = {}
    for number in run.facts_before(len(run.rows)):
        its = [_plain(text) for text in _texts(run, number, name)]
        if words in its or f"replication {words}" in its:
            if run.rows[number][0] != "observed":  # a change of state says more than what a node observed of it
                return run.rows[number][0], number
            observed = number if observed is None else observed
        known.update(dict.fromkeys(its))
    if observed is not None:
        return "observed", observed
    raise ValueError(f"why: expected what became of {name}, got {shown(what)}; there are: {_list(sorted(known))}")


def _texts(run: RecordedRun, number: int, name: str) -> tuple[str, ...]:
    """What a row says of a name, in the words by which it can be chosen."""
    kind, *fields = run.rows[number]
    hosts = (name, *(node for node, cluster in run.nodes.items() if cluster == name))
    if kind == "mode" and fields[1] == name:
        return tuple(filter(None, fields[2:]))
    if kind == "observed" and fields[1] in hosts:
        return (fields[2],)
    if kind == "leader" and name in fields[1:3]:
        return (LEADS,)
    if kind == "fault" and fields[2] in hosts:
        return (fields[1],)
    return (fields[6],) if kind == "outcome" and fields[2] == name else ()


def _plain(text: str) -> str:
    return text.lower().replace("_", " ").replace("-", " ")


def _list(names: Any) -> str:
    return ", ".join(names) or "none"


RECORDS: dict[type, Callable[[RecordedRun, Any], Effect]] = {
    Violation: _violation,
    Write: _write,
    FailedAsk: lambda run, ask: ("failed ask", ask),
    EndedOperation: _operation,
    Promotion: lambda run, taken: ("promotion", taken),
    RecoveryPoint: _recovery_point,
    RecoveryTime: lambda run, time: _last_promotion(run, RECOVERY),
}
