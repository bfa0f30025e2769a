"""Bookkeeping: who was promoted, whose history each cluster holds, and whom each secondary follows.

1. It consumes what nodes, clients, the operators' console and faults report, at once and in order, and calls none back.
2. A cluster's history is a count of its promotions: entry numbers of two histories are not compared.
3. A secondary that leaves its upstream still holds what it applied of it; a demoted primary holds its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab import reports
from labkit.lab.invariants import Invariants
from labkit.lab.lag import Progress
from labkit.lab.loss_and_outage import Promotion, RecoveryLedger
from labkit.trace import Trace


class Bookkeeping:
    """What is known of a lab's clusters from reports only; feeds ledger, trace and invariants."""

    __slots__ = (
        "_invariants",
        "_last_entry",
        "_ledger",
        "_trace",
        "applied_positions",
        "histories",
        "modes",
        "progress",
        "upstreams",
    )

    _invariants: Invariants
    _last_entry: Callable[[str], int]

    def __init__(self, ledger: RecoveryLedger, trace: Trace, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self._ledger, self._trace = ledger, trace
        self.histories: dict[str, int] = dict(state.get("histories", {}))
        self.modes: dict[str, tuple[str, str]] = dict(state.get("modes", {}))
        self.upstreams: dict[str, str] = dict(state.get("upstreams", {}))
        self.applied_positions: dict[str, int] = dict(state.get("applied_positions", {}))
        self.progress = Progress(state.get("progress"))

    def __repr__(self) -> str:
        return f"Bookkeeping({len(self.upstreams)} clusters with an upstream)"

    def connect(self, invariants: Invariants, last_entry: Callable[[str], int]) -> None:
        """Name the invariants to feed, and the query for a cluster's newest journal entry; before any report."""
        self._invariants, self._last_entry = invariants, last_entry

    def take(self, report: Any) -> None:
        """Take what was reported."""
        HANDLERS[type(report)](self, report)

    def state(self) -> dict[str, Any]:
        """Return the books as plain values."""
        return {
            "histories": dict(self.histories),
            "modes": dict(self.modes),
            "upstreams": dict(self.upstreams),
            "applied_positions": dict(self.applied_positions),
            "progress": self.progress.state(),
        }

    # ---- what clients and operators were answered

    def _on_committed(self, report: reports.Committed) -> None:
        history = self.histories.get(report.cluster, 0)
        self._ledger.commit(report.correlation, report.cluster, history, report.entry_number)

    def _on_operation_ended(self, report: reports.OperationEnded) -> None:
        self._count(report, report.client)
        row = (report.started_ns, report.at_ns, report.client, report.operation, report.path, report.cluster)
        self._trace.record(("outcome", *row, report.outcome, report.status, report.attempts))
        self._invariants.on_outcome()

    def _on_ask_ended(self, report: reports.AskEnded) -> None:
        self._count(report, report.asker)

    def _count(self, report: reports.OperationEnded | reports.AskEnded, client: str) -> None:
        if report.outcome == reports.ANSWERED:
            self._ledger.acknowledge(report.at_ns, client, report.path, report.correlation)
        elif report.outcome == reports.REFUSED:
            self._ledger.note_refused()
        else:
            self._ledger.note_unknown()

    # ---- what nodes did

    def _on_observed(self, report: reports.Observed) -> None:
        self._trace.record(("observed", *report))

    def _on_leader_taken(self, report: reports.LeaderTaken) -> None:
        self._trace.record(("leader", *report))
        self._invariants.on_change()

    def _on_service_changed(self, report: reports.ServiceChanged) -> None:
        self._invariants.on_change()

    def _on_mode_changed(self, report: reports.ModeChanged) -> None:
        before = self.modes.get(report.cluster, ("disabled", ""))
        self.modes[report.cluster] = (report.mode, report.state)
        if before != (report.mode, report.state):
            self._trace.record(("mode", *report))
        if before[0] != report.mode:
            self._invariants.on_change()

    def _on_progressed(self, report: reports.Progressed) -> None:
        self.progress.take(report)

    def _on_noted(self, report: reports.Noted) -> None:
        self._trace.record(("note", *report))

    def _on_upstream_followed(self, report: reports.UpstreamFollowed) -> None:
        """Note whom a secondary follows; with none to follow it still holds the history of the last."""
        if report.upstream or report.demoted:
            if report.upstream != self.upstreams.get(report.cluster):
                self.applied_positions.pop(report.cluster, None)
            self.upstreams[report.cluster] = report.upstream

    def _on_upstream_left(self, report: reports.UpstreamLeft) -> None:
        """Note how far a secondary was; when it becomes primary by leaving, that is a promotion."""
        survivor = report.cluster
        if report.position is not None:
            self.applied_positions[survivor] = report.position
        if report.mode != "primary":
            return
        upstream = self.upstreams.get(survivor, "")
        applied = self.applied_positions.get(survivor, 0) if report.complete else 0
        history = self.histories.get(upstream, 0)
        planned = self.modes.get(upstream, ("", ""))[0] == "secondary"
        at_ns = report.at_ns
        self._ledger.promoted(Promotion(at_ns, survivor, upstream, history, applied, at_ns, planned))
        self.histories[survivor] = self.histories.get(survivor, 0) + 1
        promotion = self._ledger.promotions[-1]
        lag = max(0, self._last_entry(upstream) - applied) if upstream else 0
        self._invariants.on_promotion(promotion, len(self._ledger.lost(promotion)), lag)

    # ---- what faults did

    def _on_cluster_struck(self, report: reports.ClusterStruck) -> None:
        self._ledger.fault(report.cluster, report.at_ns)

    def _on_reach_changed(self, report: reports.ReachChanged) -> None:
        self._invariants.on_change()

    def _on_corrupted(self, report: reports.Corrupted) -> None:
        self._invariants.corrupted = True
        self._trace.record(("fault", report.at_ns, "corrupt", report.cluster, report.layer))


HANDLERS: dict[type, Callable[[Bookkeeping, Any], None]] = {
    reports.Committed: Bookkeeping._on_committed,
    reports.OperationEnded: Bookkeeping._on_operation_ended,
    reports.AskEnded: Bookkeeping._on_ask_ended,
    reports.Observed: Bookkeeping._on_observed,
    reports.LeaderTaken: Bookkeeping._on_leader_taken,
    reports.ServiceChanged: Bookkeeping._on_service_changed,
    reports.ModeChanged: Bookkeeping._on_mode_changed,
    reports.Progressed: Bookkeeping._on_progressed,
    reports.Noted: Bookkeeping._on_noted,
    reports.UpstreamFollowed: Bookkeeping._on_upstream_followed,
    reports.UpstreamLeft: Bookkeeping._on_upstream_left,
    reports.ClusterStruck: Bookkeeping._on_cluster_struck,
    reports.ReachChanged: Bookkeeping._on_reach_changed,
    reports.Corrupted: Bookkeeping._on_corrupted,
}
