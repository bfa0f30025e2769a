"""Leadership causes: why a node took the lead of its cluster, ceased to serve, or does not serve a request.

A node ceases to lead because it goes down, stands still, is sealed or steps down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab.causes.explanation import BEGINNING, NOT_RECORDED, TIME, Cause, CauseStep
from labkit.lab.causes.recorded_run import RecordedRun

CATCHING_UP = ("merkle-diff", "merkle-sync")


def leader(run: RecordedRun, number: int) -> Cause:
    """A node took the lease of its cluster."""
    _, at_ns, cluster, node, term = run.rows[number]
    before = run.last("leader", number, cluster=cluster)
    takes = f"{node} takes the lead of {cluster} (term {term})"
    if before is None:
        return Cause(CauseStep(at_ns, f"{takes}: the first", number), None, BEGINNING)
    holder = run.rows[before][3]
    found, why = _stopped(run, holder, range(before, number))
    if found is None:
        return Cause(CauseStep(at_ns, f"{takes}: the lease of {holder} is over", number), None, TIME)
    step = CauseStep(at_ns, f"{takes}: {holder}, which led until then, {why}", number)
    return Cause(step, (run.rows[found][0], found))


def _stopped(run: RecordedRun, node: str, rows: range) -> tuple[int | None, str]:
    """Return the row by which a node ceased to serve at the end of some rows, and how, in words; None without one."""
    down, still = (run.faults.on_node(verb, node, rows.stop) for verb in ("crash", "pause"))
    if down is not None and (still is None or down < still):
        return down, "has gone down"
    if still is not None:
        return still, "stands still and does not renew its lease"
    crashed = run.faults.last(("crash",), (node,), rows.stop)
    ended = run.last("observed", rows.stop, node=node, what=("sealed", "stepped down"))
    last = max((found for found in (crashed, ended) if found is not None and found >= rows.start), default=None)
    if last is None:
        return None, ""
    return last, "went down and came up sealed" if last == crashed else f"was {run.rows[last][3]}"


def not_serving(run: RecordedRun, asked: tuple[str, int]) -> Cause:
    """Why a node does not serve before a row: it is sealed or down itself, or no node of its cluster leads."""
    node, before = asked
    row, cluster = run.rows[before], run.nodes[node]
    at_ns = row[1] if row[0] == "message" else run.at_ns(before)
    before = run.between(at_ns, at_ns).stop  # an answer's row stands where it arrives
    sealed = run.last("observed", before, node=node, what=("sealed", "unsealed"))
    crashed = run.faults.last(("crash",), (node,), before)
    if crashed is not None and crashed > (-1 if sealed is None else sealed):
        return Cause(CauseStep(at_ns, f"{node} has come up sealed, or is down", None), ("fault", crashed))
    if sealed is not None and run.rows[sealed][3] == "sealed":
        return Cause(CauseStep(at_ns, f"{node} is sealed", None), ("observed", sealed))
    led = run.last("leader", before, cluster=cluster)
    holder = "" if led is None else run.rows[led][3]
    found, why = _stopped(run, holder, range(led or 0, before))
    if found is None:
        changed = run.last("mode", before, cluster=cluster)
        if changed is not None and run.rows[changed][4] in CATCHING_UP:
            return Cause(CauseStep(at_ns, f"{cluster} is still catching up", None), ("mode", changed))
        apart = _without_connection(run, cluster, changed, before)
        if apart is not None and holder == node:
            words = f"{cluster} is a secondary that has no connection to its primary"
            return Cause(CauseStep(at_ns, words, None), ("observed", apart))
        if led is not None and holder != node:
            return Cause(CauseStep(at_ns, f"{node} is a standby: {holder} leads", None), ("leader", led))
        words = f"{node} does not serve" if led is None else f"{node} leads {cluster}, and recorded no reason"
        return Cause(CauseStep(at_ns, words, None), None, NOT_RECORDED)
    step = CauseStep(at_ns, f"no node of {cluster} leads: {holder}, which led last, {why}", None)
    return Cause(step, (run.rows[found][0], found))


def _without_connection(run: RecordedRun, cluster: str, changed: int | None, before: int) -> int | None:
    """Return the row by which a secondary lost its primary; None when it is connected before a row, or none."""
    if changed is None or run.rows[changed][3] != "secondary":
        return None
    either = ("replication_connected", "replication_disconnected")
    last = run.last("observed", before, node=run.nodes_of(cluster), what=either)
    return None if last is None or run.rows[last][3] == either[0] else last


RULES: dict[str, Callable[[RecordedRun, Any], Cause]] = {"leader": leader, "not serving": not_serving}
