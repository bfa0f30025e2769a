"""Condition causes: why a condition over time is broken, by what was measured of it, which begins with its name.

1. A lag is broken by what became of the oldest entry that its secondary has not applied, not by the newest write.
2. A mode, a state, a connection and what is counted are broken by the last row of that kind.
3. Of what names nothing that is recorded by itself, the cause is that of any rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from labkit.lab.causes.explanation import Cause, CauseStep, Effect
from labkit.lab.causes.message_causes import seconds
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.causes.replication_causes import LOST_KINDS, asks
from labkit.lab.fault_table import CUT
from labkit.lab.records.observations import FETCHING
from labkit.lab.wire.reports import REFUSED, UNKNOWN
from labkit.service.durations import SECOND_NS

HOLDING_BACK = ("pause", "impersonate")
"""Faults by which a node takes in nothing that reaches it."""

STREAMING = "stream-wals"


def broken_condition(run: RecordedRun, number: int, step: CauseStep) -> Cause | None:
    """Return why a condition is broken at a row; None where what was measured says nothing of that."""
    what, _, found = run.rows[number][4].split("; ")[0].partition(": ")
    if what in ("lag", "lag time"):
        return _behind(run, number, step)
    kind, _, cluster = what.partition(" of ")
    if kind in ("mode", "state", "connection") and cluster in set(run.nodes.values()):
        effect = connection(run, number, cluster) if kind == "connection" else _mode(run, number, cluster)
    else:
        effect = COUNTED[what](run, number, found) if what in COUNTED else _rule(run, number, what)
    return None if effect is None else Cause(step, effect)


def _behind(run: RecordedRun, number: int, step: CauseStep) -> Cause | None:
    """Return what keeps the secondary that is furthest behind from applying the oldest entry that it has not."""
    at_ns = run.at_ns(number)
    lags = run.queries.lags(at_ns)
    cluster = max(lags, key=lambda name: (lags[name].entries, lags[name].seconds), default="")
    if not cluster or lags[cluster].level:
        return None
    upstream = run.queries.progress.upstream(cluster, at_ns)
    if lags[cluster].entries == inf:
        joined = _mode(run, number, cluster)
        return None if joined is None else Cause(step, joined)
    since_ns = at_ns - round(lags[cluster].seconds * SECOND_NS)
    said = f"{step.sentence}; the oldest that {cluster} has not applied, {upstream} made at {seconds(since_ns)}"
    effect = _not_applied(run, number, (upstream, cluster), since_ns)
    return None if effect is None else Cause(step._replace(sentence=said), effect)


def _not_applied(run: RecordedRun, number: int, pair: tuple[str, str], since_ns: int) -> Effect | None:
    """Return what became of an entry that one cluster made at an instant, and another has not applied at a row."""
    at_ns = run.at_ns(number)
    pushed = next(_pushes(run, pair, since_ns), None)
    if pushed is not None:
        arrived_ns = run.rows[pushed][2]
        if run.rows[pushed][7] == "lost":
            return "lost", pushed
        return ("late", pushed) if arrived_ns > at_ns else _held(run, number, run.rows[pushed][4], pair[1])
    for node in run.nodes_of(pair[0]):
        flying = run.under_way(node, "stream", since_ns)
        if flying is not None and run.nodes.get(flying.target) == pair[1]:
            return "under way", flying
    return _not_sent(run, number, pair)


def _pushes(run: RecordedRun, pair: tuple[str, str], sent_ns: int) -> Iterator[int]:
    """Yield what one cluster streamed to another at an instant."""
    rows = range(run.between(sent_ns, sent_ns).start, len(run.rows))
    for row in run.messages(rows, what="stream", sent_ns=sent_ns):
        if (run.nodes.get(run.rows[row][3]), run.nodes.get(run.rows[row][4])) == pair:
            yield row


def _held(run: RecordedRun, number: int, node: str, cluster: str) -> Effect | None:
    """Return what keeps a node from what has arrived there: a fault, or something that did not arrive before it."""
    for verb in HOLDING_BACK:
        found = run.faults.on_node(verb, node, number)
        if found is not None:
            return "fault", found
    gap = run.last("observed", number, node=run.nodes_of(cluster), what=LOST_KINDS)
    return _not_streaming(run, number, cluster) if gap is None else ("observed", gap)


def _not_sent(run: RecordedRun, number: int, pair: tuple[str, str]) -> Effect | None:
    """Return why nothing was streamed: a comparison is under way, or no connection exists."""
    found = _not_streaming(run, number, pair[1]) or connection(run, number, pair[1])
    cut = run.faults.on_line(CUT, (run.queries.site_of(pair[0]), run.queries.site_of(pair[1])), number)
    return ("fault", cut) if found is None and cut is not None else found


def _not_streaming(run: RecordedRun, number: int, cluster: str) -> Effect | None:
    """Return the change of state since which a secondary does not follow the stream; None where it does."""
    changed = run.last("mode", number, cluster=cluster)
    return None if changed is None or run.rows[changed][4] == STREAMING else ("mode", changed)


def _mode(run: RecordedRun, number: int, cluster: str) -> Effect | None:
    changed = run.last("mode", number, cluster=cluster)
    return None if changed is None else ("mode", changed)


def connection(run: RecordedRun, number: int, cluster: str) -> Effect | None:
    """Return the loss of a secondary's connection, or its making; else what made it ask for one."""
    kinds = ("replication_disconnected", "replication_connected", "upstream_refused")
    found = run.last("observed", number, node=run.nodes_of(cluster), what=kinds)
    return asks(run, number, cluster) if found is None else ("observed", found)


def _ended(outcome: str) -> Callable[[RecordedRun, int, str], Effect | None]:
    """Return a rule for operations that ended in one way: the last of them, a client's or an operator's."""

    def last(run: RecordedRun, number: int, found: str) -> Effect | None:
        row = run.last("outcome", number, outcome=outcome)
        asked = [ask for ask in run.ledger.failed_asks if ask.outcome == outcome and ask.at_ns <= run.at_ns(number)]
        if asked and (row is None or asked[-1].at_ns > run.at_ns(row)):
            return "failed ask", asked[-1]
        return None if row is None else ("outcome", row)

    return last


def _promotion(run: RecordedRun, number: int, found: str) -> Effect | None:
    """Return the last promotion, with what it lost."""
    taken = [promotion for promotion in run.ledger.promotions if promotion.at_ns <= run.at_ns(number)]
    if not taken:
        return None
    lost = run.ledger.lost(taken[-1])
    return ("lost write", lost[0]) if len(lost) == 1 else ("losses" if lost else "promotion", taken[-1])


def _observed(run: RecordedRun, number: int, found: str) -> Effect | None:
    """Return the last observation of the kind that is counted: ``merkle_sync: 3``."""
    row = run.last("observed", number, what=found.rpartition(": ")[0])
    return None if row is None else ("observed", row)


def _fetched(run: RecordedRun, number: int, found: str) -> Effect | None:
    row = run.last("observed", number, what=FETCHING)
    return None if row is None else ("observed", row)


def _primaries(run: RecordedRun, number: int, found: str) -> Effect | None:
    row = run.last("mode", number, mode=("primary", "secondary", "disabled"))
    return None if row is None else ("mode", row)


def _rule(run: RecordedRun, number: int, what: str) -> Effect | None:
    """Return the breach of a rule of the lab that a condition names."""
    row = run.last("invariant", number, name=what)
    return None if row is None else ("invariant", row)


COUNTED: dict[str, Callable[[RecordedRun, int, str], Effect | None]] = {
    "operations in doubt": _ended(UNKNOWN),
    "operations refused": _ended(REFUSED),
    "of them lost": _promotion,
    "recovery point (RPO)": _promotion,
    "recovery time (RTO)": _promotion,
    "observed": _observed,
    "keys fetched": _fetched,
    "primary": _primaries,
}
"""{what was measured: what led to it}."""
