"""Bookkeeping: who was promoted, whose history each cluster holds, and whom each secondary follows.

1. It consumes what nodes, clients, the operators' console and faults report, at once and in order, and calls none back
   but who waits for the end of a runbook.
2. Each commit and each change of mode reaches the histories: a cluster that joins is wiped, one that is enabled
   again begins another history, one that is promoted, or disabled as a secondary, continues the one it followed.
   Of a disabled cluster it is kept of which set it was, and which commit came next.
3. A secondary that leaves its upstream still holds what it applied of it; a demoted primary holds its own.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from labkit.lab.invariants import Arrears, Invariants
from labkit.lab.queries import Queries
from labkit.lab.records.chunks import NEWEST_ROWS
from labkit.lab.records.histories import Continued
from labkit.lab.records.lag import Progress
from labkit.lab.records.ledger import CommittedWrite
from labkit.lab.records.loss_and_outage import Promotion, RecoveryLedger
from labkit.lab.records.observations import Observations
from labkit.lab.records.succession import Succession
from labkit.lab.records.surviving_tokens import TokenSurvival
from labkit.lab.wire import reports
from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.seen_versions import SeenVersion
from labkit.service.limits import is_text
from labkit.trace import Trace
from labkit.vault.replication.mode import MODE_KEY
from labkit.vault.replication.trust.activation import known_key

NOTHING_SHOWN = 404
"""How a reading of a deleted version is answered."""


class Bookkeeping:
    """What is known of a lab's clusters from reports only; feeds ledger, trace and invariants."""

    __slots__ = (
        "_invariants",
        "_ledger",
        "_looked_at_epoch",
        "_queries",
        "_takers",
        "_trace",
        "activations",
        "answering",
        "applied_positions",
        "disabled",
        "followers",
        "ids",
        "left",
        "modes",
        "observations",
        "progress",
        "succession",
        "upstreams",
    )

    _invariants: Invariants
    _ledger: RecoveryLedger
    _queries: Queries
    _trace: Trace
    _takers: dict[type, tuple[Callable[[Any], None], ...]]

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.modes: dict[str, tuple[str, str, str]] = dict(state.get("modes", {}))
        self.disabled: tuple[str, ...] = tuple(state.get("disabled", ()))
        self.left: dict[str, tuple[str, int]] = dict(state.get("left", {}))  # of which set, and the next commit
        self.activations: dict[str, str] = dict(state.get("activations", {}))
        self.upstreams: dict[str, str] = dict(state.get("upstreams", {}))
        self.followers: dict[str, dict[str, None]] = {}  # the same the other way round: who follows each upstream
        for cluster, upstream in self.upstreams.items():
            self.followers.setdefault(upstream, {})[cluster] = None
        self.succession = Succession(self.modes, self.upstreams, state.get("succeeded", ()))
        self.ids: dict[str, str] = dict(state.get("ids", {}))  # under which each secondary follows its upstream now
        self.applied_positions: dict[str, int] = dict(state.get("applied_positions", {}))
        self.progress = Progress(state.get("progress"))
        self.observations = Observations(state.get("observations"))
        # whose answer to a request a load balancer passed on last: {(asker, number): (attempt, cluster)}
        self.answering: dict[tuple[str, int], tuple[int, str]] = dict(state.get("answering", {}))
        self._looked_at_epoch = -1  # the network's epoch when all clusters were looked at last

    def __repr__(self) -> str:
        return f"Bookkeeping({len(self.upstreams)} clusters with an upstream)"

    def connect(
        self, invariants: Invariants, queries: Queries, on_runbook_ended: Callable[[reports.RunbookEnded], None]
    ) -> None:
        """Name the invariants to feed, what can be asked of the lab, and who waits for runbooks; before any report."""
        self._invariants, self._queries = invariants, queries
        self._ledger, self._trace = queries.parts.ledger, queries.parts.trace
        self.progress.newest = 0 if self._trace.enabled else NEWEST_ROWS
        own: dict[type, Callable[[Any], None]] = {
            **{kind: MethodType(take, self) for kind, take in HANDLERS.items()},
            reports.Progressed: self.progress.take,
            reports.ConnectionChanged: self.progress.connect,
            reports.RunbookEnded: on_runbook_ended,
        }

        def link() -> None:
            judges = invariants.judges
            self._takers = {kind: (take, *judges.get(kind, ())) for kind, take in own.items()}
            self._takers |= {kind: judges.get(kind, ()) for kind in reports.JUDGED_ONLY}

        invariants.relink = link
        link()

    def take(self, report: reports.Report) -> None:
        """Take what was reported; then the standing rules judge it."""
        for take in self._takers[type(report)]:
            take(report)

    def state(self) -> dict[str, Any]:
        """Return the books as plain values."""
        return {
            "modes": dict(self.modes),
            "disabled": self.disabled,
            "left": dict(self.left),
            "activations": dict(self.activations),
            "upstreams": dict(self.upstreams),
            "ids": dict(self.ids),
            "applied_positions": dict(self.applied_positions),
            "progress": self.progress.state(),
            "observations": self.observations.state(),
            # none in files of earlier versions
            **({"succeeded": self.succession.succeeded} if self.succession.succeeded else {}),
            **({"answering": dict(self.answering)} if self.answering else {}),
        }

    # ---- what clients and operators were answered

    def _on_committed(self, report: reports.Committed) -> None:
        cluster, correlation = report.cluster, report.correlation
        history, number = self._ledger.histories.add(cluster, report.commits, report.value_digest)
        if correlation is not None and not report.of_system and self._queries.is_awaited(correlation):
            named = (report.method, report.version, report.options, report.value_digest)
            self._ledger.commit(correlation, CommittedWrite(cluster, history, number, *named))
        if report.made is not None and report.commits:
            self._ledger.read_log.make(number, report.made)
        elif report.ends_lives:
            self._ledger.read_log.end_any(number)
        if report.hidden is not None and report.commits:
            self._ledger.read_log.hide(number, report.hidden)

    def _on_commit_ended(self, report: reports.CommitEnded) -> None:
        """Note the ids that a primary revoked, where its process ended right after: no node observed that."""
        deleted = {key for key, _, left in report.rows if left is None}
        if report.kept and not any(key == MODE_KEY for key, _, _ in report.rows):  # else it left its set with them
            for cluster in self.followers.get(report.cluster, ()):
                if known_key(self.ids.get(cluster, "")) in deleted:
                    self._ledger.outages.revoke(report.cluster, cluster, self._queries.now)

    def _on_answer_passed_on(self, report: reports.AnswerPassedOn) -> None:
        if self._queries.is_awaited(report.correlation):
            asker, number, attempt = report.correlation
            self.answering[asker, number] = (attempt, self._queries.cluster_of(report.node))

    def _answered_by(self, cluster: str, correlation: Correlation) -> str:
        """Return the cluster that answered: the one named, or where that is a load balancer the one behind it."""
        attempt, behind = self.answering.pop(correlation[:2], (-1, ""))
        return behind if attempt == correlation.attempt else cluster

    def _on_own_entry_made(self, report: reports.OwnEntryMade) -> None:
        self._invariants.on_own_entry(*report)

    def _on_overtaken_wrote(self, report: reports.OvertakenWrote) -> None:
        self._invariants.on_overtaken_write(*report)

    def _on_wiped(self, report: reports.Wiped) -> None:
        self._ledger.histories.wipe(report.cluster)
        self._invariants.corrupted.pop(report.cluster, None)

    def _on_operation_ended(self, report: reports.OperationEnded) -> None:
        at_ns, started_ns, client, operation, path, cluster, outcome, status, attempts, correlation, seen = report
        answering = self._answered_by(cluster, correlation) if self.answering else cluster
        acknowledged = self._end((at_ns, client, path, outcome, correlation, answering))
        self._ledger.outcomes.end_of_client(report, acknowledged=acknowledged)
        row = (started_ns, at_ns, client, operation, path, cluster, outcome, status, attempts)
        self._trace.record(("outcome", *row))
        if seen is not None:
            self._read((started_ns, at_ns), (client, answering), seen, status)
        self._invariants.on_outcome()

    def _on_ask_ended(self, report: reports.AskEnded) -> None:
        at_ns, asker, path, outcome, correlation, *how, started_ns, cluster, seen, method = report
        if not path.isascii() or not method.isascii():
            path, method = _kept(path), _kept(method)
        self._end((at_ns, asker, path, outcome, correlation, cluster))
        if outcome != reports.ANSWERED:
            self._ledger.failed_asks.append((at_ns, asker, path, outcome, *how, method))
        if seen is not None:
            self._read((started_ns, at_ns), (asker, cluster), seen, report.status)

    def _end(self, ended: tuple[int, str, str, str, Correlation, str]) -> bool:
        """Note how an operation ended (``Ledger.end``), and return whether it was an acknowledged write.

        A write of a disabled cluster is one of the set that it left.
        """
        self._ledger.outcomes.end(ended[2], ended[3])
        acknowledged = self._ledger.end(*ended)
        if acknowledged and self.left:
            committed = self._ledger.writes[-1].committed
            set_id, next_commit = self.left.get(committed.cluster, ("", 0))
            if set_id and committed.commit >= next_commit:
                self._invariants.on_write_apart(committed.cluster, set_id)
        return acknowledged

    def _read(self, times: tuple[int, int], ends: tuple[str, str], seen: SeenVersion, status: int) -> None:
        histories = self._ledger.histories
        place = (histories.current.get(ends[1], -1), len(histories.commits))
        self._ledger.read_log.read(times, ends, seen, place, with_data=status != NOTHING_SHOWN)

    # ---- what nodes did

    def _on_observed(self, report: reports.Observed) -> None:
        self._trace.record(("observed", *report))
        self.observations.take(report)
        if report.kind == reports.REVOKED:
            self._revoked(report.at_ns, self._queries.cluster_of(report.node), dict(report.fields)["secondary"])
        elif report.kind == reports.REINDEX_BEGUN:
            self._invariants.on_reindex_begun(self._queries.cluster_of(report.node))

    def _revoked(self, at_ns: int, primary: str, secondary_id: str) -> None:
        for cluster in self.followers.get(primary, ()):
            if self.ids.get(cluster) == secondary_id:
                self._ledger.outages.revoke(primary, cluster, at_ns)

    def _on_leader_taken(self, report: reports.LeaderTaken) -> None:
        self._trace.record(("leader", *report))
        self._service_changed(report.at_ns, report.cluster)

    def _on_service_changed(self, report: reports.ServiceChanged) -> None:
        self._service_changed(report.at_ns, report.cluster)

    def _on_reach_changed(self, report: reports.ReachChanged) -> None:
        self._service_changed(report.at_ns, "")

    def _service_changed(self, at_ns: int, cluster: str) -> None:
        """Note what is down, fenced or cut, and let the invariants judge it: of one cluster, or of all."""
        scope, outages, queries = self._scope(cluster), self._ledger.outages, self._queries
        if scope:
            outages.serve(scope, at_ns, down=not queries.active_node(scope))
        else:
            outages.seen(queries.outages(), at_ns)
            self._looked_at_epoch = queries.reach().epoch
        self._invariants.on_change(scope)

    def _scope(self, cluster: str) -> str:
        """Return the cluster that a report names where nothing else can have changed since all were looked at.

        Who is down or accepts changes with a report that names the cluster, or with the network.  While a line is cut,
        whether anything gets around it changes without a word.
        """
        reach = self._queries.reach()
        return cluster if reach.is_whole and reach.epoch == self._looked_at_epoch else ""

    def _on_mode_changed(self, report: reports.ModeChanged) -> None:
        at_ns, cluster, mode, state, set_id = report
        before, was, set_before = self.modes.get(cluster, ("disabled", "", ""))
        self.modes[cluster] = (mode, state, set_id)
        if (before, was) != (mode, state):
            self._trace.record(("mode", at_ns, cluster, mode, state))
        outages = self._ledger.outages
        if before == "primary" and (mode, set_id) != (before, set_before):
            outages.leave(cluster, set_before, at_ns)
        if mode == "primary":
            outages.lead(cluster, set_id)
        if before == mode:
            return
        self.left.pop(cluster, None)
        if mode == "disabled":
            self.disabled = (*self.disabled, cluster)
            self.left[cluster] = (set_before, len(self._ledger.histories.commits))
        elif cluster in self.disabled:
            self.disabled = tuple([name for name in self.disabled if name != cluster])
            if mode == "primary":
                self._ledger.histories.enable_again(cluster)
        self._invariants.on_change(self._scope(cluster))

    def _on_noted(self, report: reports.Noted) -> None:
        self._trace.record(("note", *report))

    def _on_upstream_followed(self, report: reports.UpstreamFollowed) -> None:
        """Note whom a secondary follows; with none to follow it still holds the history of the last."""
        cluster, upstream = report.cluster, report.upstream
        if report.demoted:
            self.succession.demote(cluster)
            self._ledger.histories.own(cluster)
        elif upstream and report.activation != self.activations.get(cluster):
            self._ledger.histories.follow(cluster, upstream)
            self._ledger.outages.follow(upstream, cluster)
            self.activations[cluster] = report.activation
        if upstream:
            self.ids[cluster] = report.secondary_id
        if upstream or report.demoted:
            before = self.upstreams.get(cluster)
            if upstream != before:
                self.applied_positions.pop(cluster, None)
                if before is not None:
                    del self.followers[before][cluster]
                self.followers.setdefault(upstream, {})[cluster] = None
            self.upstreams[cluster] = upstream

    def _on_upstream_left(self, report: reports.UpstreamLeft) -> None:
        """Note how far a secondary was; when it becomes primary by leaving, that is a promotion."""
        survivor = report.cluster
        self.ids.pop(survivor, None)
        if report.position is not None:
            self.applied_positions[survivor] = report.position
        if report.mode != "secondary":
            self.activations.pop(survivor, None)
            continued = self._ledger.histories.continue_alone(survivor, lambda key: self._held(survivor, key))
            if report.mode == "primary":
                self._promoted(report, continued)

    def _held(self, cluster: str, key: str) -> bytes | None:
        """Return the digest of what a cluster holds under a key, or held there before it was damaged on purpose.

        Where it holds nothing since its upstream's value is a damaged one, that counts as what it holds.
        """
        histories, held = self._ledger.histories, self._queries.digest(cluster, key)
        source = self.upstreams.get(cluster, "")
        if held is None and source:
            theirs = self._queries.digest(source, key)
            if (key, theirs) in histories.damaged:  # which is not passed on
                held = theirs
        return histories.undamaged(key, held)

    def _promoted(self, report: reports.UpstreamLeft, continued: Continued | None) -> None:
        survivor, at_ns, histories = report.cluster, report.at_ns, self._ledger.histories
        upstream = self.upstreams.get(survivor, "") if continued is not None else ""
        continued = continued or Continued(-1, len(histories.commits), frozenset())
        fault_ns = self._ledger.outages.fault_ns(upstream or survivor, survivor, report.set_id)
        planned = self.succession.is_planned(upstream, report.set_id)
        self.succession.promote(survivor, report.set_id)
        began_ns, history = at_ns if fault_ns is None else fault_ns, histories.history_of(survivor)
        promotion = Promotion(at_ns, survivor, upstream, *continued, began_ns, planned, history)
        self._ledger.promotions.append(promotion)
        if upstream:
            counts = self._queries.token_survival(upstream, survivor)
            self._ledger.tokens.append(TokenSurvival(at_ns, survivor, upstream, planned, *counts))
        applied = self.applied_positions.get(survivor, 0) if report.complete else 0
        missing = max(0, self._queries.last_entry(upstream) - applied) if upstream else 0
        lag = histories.behind(continued, applied) if upstream else 0
        self._invariants.on_promotion(promotion, len(self._ledger.lost(promotion)), Arrears(missing, lag))

    # ---- what faults did

    def _on_node_treated(self, report: reports.NodeTreated) -> None:
        words = [word for word in (report.detail, "" if report.changed else "no change") if word]
        self._trace.record(("fault", report.at_ns, report.verb, report.node, ", ".join(words)))
        self._service_changed(report.at_ns, "")

    def _on_corrupted(self, report: reports.Corrupted) -> None:
        self._looked_at_epoch = -1  # a stored mode may be what was damaged
        self._invariants.on_damage(report.cluster, report.missed)
        if report.digests is not None:
            self._ledger.histories.damage(report.altered, *report.digests)
        self._trace.record(("fault", report.at_ns, "corrupt", report.cluster, report.layer))

    def _on_index_replaced(self, report: reports.IndexReplaced) -> None:
        self._invariants.on_index_replaced(report.cluster)


def _kept(sent: str) -> str:
    """Return what was asked as the ledger keeps it, which is saved with the lab: escaped where UTF-8 has none of it."""
    return sent if is_text(sent) else sent.encode(errors="backslashreplace").decode()


HANDLERS: dict[type, Callable[[Bookkeeping, Any], None]] = {
    reports.Committed: Bookkeeping._on_committed,
    reports.CommitEnded: Bookkeeping._on_commit_ended,
    reports.OwnEntryMade: Bookkeeping._on_own_entry_made,
    reports.OvertakenWrote: Bookkeeping._on_overtaken_wrote,
    reports.Wiped: Bookkeeping._on_wiped,
    reports.OperationEnded: Bookkeeping._on_operation_ended,
    reports.AskEnded: Bookkeeping._on_ask_ended,
    reports.AnswerPassedOn: Bookkeeping._on_answer_passed_on,
    reports.Observed: Bookkeeping._on_observed,
    reports.LeaderTaken: Bookkeeping._on_leader_taken,
    reports.ServiceChanged: Bookkeeping._on_service_changed,
    reports.ModeChanged: Bookkeeping._on_mode_changed,
    reports.Noted: Bookkeeping._on_noted,
    reports.UpstreamFollowed: Bookkeeping._on_upstream_followed,
    reports.UpstreamLeft: Bookkeeping._on_upstream_left,
    reports.ReachChanged: Bookkeeping._on_reach_changed,
    reports.NodeTreated: Bookkeeping._on_node_treated,
    reports.Corrupted: Bookkeeping._on_corrupted,
    reports.IndexReplaced: Bookkeeping._on_index_replaced,
}
