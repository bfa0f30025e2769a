"""Situations: what a run can come to, by name, in one table that files, runs and ``labkit help situations`` share.

1. A situation is reached when a report says so, with the trace on or off.
2. Every change of a cluster's replication mode, and of a secondary's state, is one: they are made from the tables that
   the service runs on.  One that stays as it is is none, but for a secondary that is given another primary.
3. What was reached is plain values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.lab.invariants import ONE_PRIMARY
from labkit.lab.wire import reports
from labkit.vault.replication.mode import TRANSITIONS as MODES
from labkit.vault.replication.state import TRANSITIONS as SYNC_STATES

if TYPE_CHECKING:
    from labkit.scenario.measures import Seen

TAKEOVER, SPLIT_BRAIN = "takeover", "two primaries"
LOSS, IN_DOUBT, REFUSAL = "loss", "in doubt", "refusal"
REPOINTED = "secondary to secondary"
SYNC_STATE = "sync_state"


class Situation(NamedTuple):
    """One situation: its name, and when it is reached."""

    name: str
    about: str


def changes(table: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """Return each change of a table that ends elsewhere than it began, ``idle to stream-wals``, with its events."""
    found: dict[str, list[str]] = {}
    for before, events in table.items():
        for event, after in events.items():
            if before != after:
                found.setdefault(f"{before} to {after}", []).append(event.replace("_", " "))
    return found


BY_OBSERVATION = {
    "connection lost": ("replication_disconnected", "a secondary loses the connection to its primary"),
    "connection refused": ("connection_refused", "a node refuses who connects to it for replication"),
    "guard missing": ("missing_guard", "a primary does not know the state from which a secondary would go on"),
    "stream gap": ("stream_gap", "an entry of a stream is missing, so the secondary asks again"),
    "comparison in vain": ("merkle_loop", "comparisons do not make roots equal: an index is damaged"),
    "roots differ": ("roots_differ", "a secondary that has all entries notices another root than its primary's"),
    "contents differ": ("contents_differ", "a secondary that has all entries holds other contents than its primary"),
    "nothing to fetch": ("merkle_diff_empty", "a comparison finds no difference"),
    "reindexed": ("reindexed", "an index was made again from what the store holds"),
    "secondary revoked": ("secondary_revoked", "a primary revokes a secondary"),
    "announcement": ("primary_announced", "a secondary takes an announcement of its primary's new active node"),
    "stepped down": ("stepped down", "an active node gives up its leadership"),
    "message refused": ("message refused", "a host refuses a message that is malformed, or of a host it did not ask"),
    "operation token": ("operation token issued", "a token for a protected call is issued"),
    "login refused": ("login refused", "a machine's login is refused"),
    "cloud call failed": ("cloud call failed", "a cluster asks the cloud in vain"),
}
"""{situation: what nodes observe then, and when it is reached}."""

SITUATIONS: dict[str, Situation] = {
    row.name: row
    for row in (
        *[Situation(name, f"a cluster's mode changes: {', '.join(events)}") for name, events in changes(MODES).items()],
        Situation(REPOINTED, "a secondary is given another primary to follow: update primary"),
        *[
            Situation(name, f"a secondary's state changes: {', '.join(events)}")
            for name, events in changes(SYNC_STATES).items()
        ],
        Situation(TAKEOVER, "a standby takes the lead of a cluster from another node"),
        Situation(SPLIT_BRAIN, "two clusters of one replication set accept writes (the rule one primary is broken)"),
        Situation(LOSS, "a promotion loses an acknowledged write"),
        Situation(IN_DOUBT, "an operation has no answer, so that it may have happened"),
        Situation(REFUSAL, "an operation is refused"),
        *[Situation(name, about) for name, (_, about) in BY_OBSERVATION.items()],
    )
}
"""{name: situation}, in the order of the page."""

_OBSERVED = {kind: name for name, (kind, _) in BY_OBSERVATION.items()}
_OUTCOMES = {reports.UNKNOWN: IN_DOUBT, reports.REFUSED: REFUSAL}


class ReachedSituations:
    """Which situations one run has reached, of those that its file names; it takes the reports that say so."""

    __slots__ = ("_activations", "_leaders", "_modes", "_seen", "_wanted", "names", "over")

    def __init__(self, wanted: Iterable[str], seen: Seen, state: Mapping[str, Any] | None = None) -> None:
        self._wanted, self._seen = frozenset(wanted), seen
        leaders = _leaders(seen) if self._wanted and state is None else {}
        state = state or {}
        self.names: dict[str, None] = dict.fromkeys(state.get("names", ()))
        self._modes: dict[str, str] = dict(state.get("modes", {}))
        self._leaders: dict[str, str] = dict(state.get("leaders", leaders))
        self._activations: dict[str, str] = dict(state.get("activations", {}))
        self.over: bool = state.get("over", False)
        if self._wanted and not self.over:
            seen.invariants.follow(self)

    def __repr__(self) -> str:
        return f"ReachedSituations({', '.join(self.names)})"

    def state(self) -> dict[str, Any]:
        """Return what was reached as plain values, and what is remembered for it."""
        return {
            "over": self.over,
            "names": tuple(self.names),
            "modes": dict(self._modes),
            "leaders": dict(self._leaders),
            "activations": dict(self._activations),
        }

    def close(self) -> None:
        """The run is over: nothing is reached any more."""
        if self._wanted and not self.over:
            self._seen.invariants.leave(self)
        self.over = True

    def sightings(self) -> Iterator[tuple[str, bool]]:
        """Yield each situation that is wanted, in the order of the table: whether it was reached."""
        for name in SITUATIONS:
            if name in self._wanted:
                yield name, name in self.names

    @property
    def judgements(self) -> Mapping[type, tuple[Callable[[Any], None], ...]]:
        """The reports from which a situation is known."""
        return {
            reports.Observed: (self._on_observed,),
            reports.ModeChanged: (self._on_mode_changed,),
            reports.UpstreamFollowed: (self._on_followed,),
            reports.UpstreamLeft: (self._on_loss,),
            reports.LeaderTaken: (self._on_leader,),
            reports.OperationEnded: (self._on_ended,),
            reports.AskEnded: (self._on_ended,),
        }

    def on_found(self) -> None:
        """A rule was broken."""
        if ONE_PRIMARY in self._seen.invariants.broken:
            self._reach(SPLIT_BRAIN)

    def check_at_rest(self) -> None:
        """Nothing is reached by standing still."""

    def _reach(self, name: str) -> None:
        if name in self._wanted:
            self.names[name] = None

    def _on_observed(self, report: reports.Observed) -> None:
        if report.kind == SYNC_STATE:
            fields = dict(report.fields)
            self._reach(f"{fields['before']} to {fields['after']}")
        elif report.kind in _OBSERVED:
            self._reach(_OBSERVED[report.kind])

    def _on_mode_changed(self, report: reports.ModeChanged) -> None:
        before = self._modes.get(report.cluster, "disabled")
        self._modes[report.cluster] = report.mode
        if before != report.mode:
            self._reach(f"{before} to {report.mode}")
        if report.mode == "disabled":
            self._activations.pop(report.cluster, None)

    def _on_followed(self, report: reports.UpstreamFollowed) -> None:
        """A secondary follows a cluster; one that was a secondary already, by another activation, is re-pointed."""
        if report.demoted or not report.upstream:
            return
        before = self._activations.get(report.cluster, "")
        self._activations[report.cluster] = report.activation
        if self._modes.get(report.cluster) == "secondary" and before != report.activation:
            self._reach(REPOINTED)

    def _on_loss(self, report: reports.UpstreamLeft) -> None:
        if LOSS in self._wanted and LOSS not in self.names and report.mode == "primary" and self._seen.ledger.lost():
            self._reach(LOSS)

    def _on_leader(self, report: reports.LeaderTaken) -> None:
        before = self._leaders.get(report.cluster, "")
        self._leaders[report.cluster] = report.node
        if before and before != report.node:
            self._reach(TAKEOVER)

    def _on_ended(self, report: reports.OperationEnded | reports.AskEnded) -> None:
        if report.outcome in _OUTCOMES:
            self._reach(_OUTCOMES[report.outcome])


def _leaders(seen: Seen) -> dict[str, str]:
    """Return who leads each cluster now."""
    return {name: seen.queries.active_node(name) for name in seen.queries.cluster_names}
