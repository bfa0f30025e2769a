"""Tree record: what commits, syncs, damage and reindexes did to the leaves of clusters, with their instants.

1. It is kept only where somebody asked for it, and from that instant on: it begins with what all leaves are then.
2. Rows are plain tuples in sealed chunks (R3): a branch keeps its past, and goes on.
3. Keys and digests are those of commit reports, which the histories keep.  Nothing is folded: where leaves are read,
   an index is copied (D7).
4. Nothing of it is in the trace.  Beside it stands what requests carried (``request_record``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labkit.lab.measures.request_record import RequestRecord
from labkit.lab.queries import STREAMING, Queries
from labkit.lab.records.chunks import Chunks
from labkit.lab.wire import reports
from labkit.vault.replication.tree.merkle import TREES, MerkleTree, leaf_digest

LEAVES, EARLIER, COMMIT, REACH = "leaves", "earlier", "commit", "reach"
MODE, DAMAGE, REINDEX = "mode", "damage", "reindex"

ROW_LENGTHS = {LEAVES: 4, EARLIER: 4, COMMIT: 5, REACH: 5, MODE: 5, DAMAGE: 7, REINDEX: 3}
"""How many parts a row of each kind has."""

SETTLED = (STREAMING, "running", "")
"""The states that begin with leaves which came by no entry: a comparison fetched them, or an index was loaded."""

Commits = tuple[tuple[int, tuple[tuple[str, bytes | None], ...]], ...]
"""Journal entries, each with the keys that it changed and the digests that it left there."""


class TreeRecord:
    """The rows of one lab; ``begin`` writes down what is so, and each report adds what changed.

    A row is its kind, its instant and its cluster, and then: of ``leaves`` all of them with their keys; of ``earlier``
    the commits; of ``commit`` how many, and how many all histories had then; of ``reach`` the upstream and its entry,
    None while none is known; of ``mode`` mode and state; of ``damage`` layer, tree, page and subpage (-1: none); of
    ``reindex`` nothing.
    """

    __slots__ = ("_clock", "_commits", "_floors", "_queries", "_reached", "requests", "rows")

    def __init__(self, queries: Queries, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self._queries, self._clock = queries, queries.parts.clock
        self._commits = queries.parts.ledger.histories.commits
        self.rows: Chunks[tuple[Any, ...]] = Chunks(state.get("rows", ()))
        self.requests = RequestRecord(queries.parts.trace, state.get("requests", ()))
        self._floors: dict[str, int] = dict(state.get("floors", {}))  # the entries above are recorded, by cluster
        self._reached: dict[str, int] = dict(state.get("reached", {}))  # the entry of its upstream, by secondary

    def __repr__(self) -> str:
        return f"TreeRecord({len(self.rows)} rows)"

    @property
    def judgements(self) -> Mapping[type, tuple[Callable[[Any], None], ...]]:
        """What takes each kind of report that changes leaves, or who is compared with whom."""
        return {
            reports.Committed: (self._on_committed,),
            reports.Wiped: (self._on_wiped,),
            reports.Progressed: (self._on_progressed,),
            reports.ModeChanged: (self._on_mode_changed,),
            reports.Corrupted: (self._on_corrupted,),
            reports.IndexReplaced: (self._on_index_replaced,),
        }

    def on_found(self) -> None:
        """A rule was broken, which changes no leaf."""

    def check_at_rest(self) -> None:
        """The lab stands still, which changes no leaf."""

    def begin(self, modes: Mapping[str, tuple[str, str, str]]) -> None:
        """Write down what all clusters hold, whom they follow, and what of that they have not applied yet."""
        now_ns, queries = self._queries.now, self._queries
        behind: dict[str, int] = {}
        self._floors = {cluster: queries.last_entry(cluster) for cluster in queries.cluster_names}
        for cluster in queries.cluster_names:
            self._note_leaves(cluster)
            mode, state, _ = modes.get(cluster, ("disabled", "", ""))
            self.rows.append((MODE, now_ns, cluster, mode, state))
            upstream = queries.progress.upstream(cluster, now_ns)
            if upstream:
                entry = queries.progress.applied_entry(cluster)
                self.rows.append((REACH, now_ns, cluster, upstream, entry))
                if entry is not None:
                    self._reached[cluster] = entry
                    behind[upstream] = min(entry, behind.get(upstream, entry))
        for upstream, entry in behind.items():
            earlier = self._since(upstream, entry)
            self.rows.append((EARLIER, now_ns, upstream, earlier))
            self._floors[upstream] -= len(earlier)

    def state(self) -> dict[str, Any]:
        """Return it as plain values, the rows in sealed chunks."""
        return {
            "rows": self.rows.state(),
            "requests": self.requests.rows.state(),
            "floors": dict(self._floors),
            "reached": dict(self._reached),
        }

    def _since(self, cluster: str, entry: int) -> Commits:
        """Return the commits of a cluster's history after an entry, oldest first: each made one entry."""
        histories, found = self._queries.parts.ledger.histories, []
        history = histories.current.get(cluster, -1)
        for commit in reversed(histories.commits):
            if commit.history == history:
                if commit.entry_number <= entry:
                    break
                found.append((commit.entry_number, commit.changes))
        return tuple(found[::-1])

    def _note_leaves(self, cluster: str) -> None:
        self.rows.append((LEAVES, self._queries.now, cluster, tuple(leaves_of(self._queries, cluster).items())))

    def _on_committed(self, report: reports.Committed) -> None:
        if report.commits:
            self.rows.append((COMMIT, self._clock.now, report.cluster, len(report.commits), len(self._commits)))

    def _on_wiped(self, report: reports.Wiped) -> None:
        stored = stored_leaves(self._queries, report.cluster)  # what the step wrote that wiped; the index comes later
        self.rows.append((LEAVES, self._queries.now, report.cluster, tuple(stored.items())))

    def _on_progressed(self, report: reports.Progressed) -> None:
        at_ns, cluster, upstream, entry = report
        if not upstream:
            return
        if entry is not None and self._reached.get(cluster, entry) < self._floors.get(upstream, 0):
            self._note_leaves(cluster)  # it took entries that its upstream had from another cluster
        self.rows.append((REACH, at_ns, cluster, upstream, entry))
        if entry is None:
            self._reached.pop(cluster, None)
        else:
            self._reached[cluster] = entry

    def _on_mode_changed(self, report: reports.ModeChanged) -> None:
        self.rows.append((MODE, report.at_ns, report.cluster, report.mode, report.state))
        if report.mode == "primary":
            self._floors[report.cluster] = self._queries.last_entry(report.cluster)
        if report.state in SETTLED:
            self._note_leaves(report.cluster)

    def _on_corrupted(self, report: reports.Corrupted) -> None:
        self.rows.append((DAMAGE, report.at_ns, report.cluster, report.layer, *report.place))

    def _on_index_replaced(self, report: reports.IndexReplaced) -> None:
        self.rows.append((REINDEX, self._queries.now, report.cluster))
        self._note_leaves(report.cluster)


def leaves_of(queries: Queries, cluster: str) -> dict[str, bytes]:
    """Return the leaves of a cluster by key: of a copy of its index, or without one of what its store holds."""
    node = queries.active_node(cluster)
    host = queries.parts.nodes[node] if node else None
    if host is None or host.journal.tree is None:
        return stored_leaves(queries, cluster)
    copied = MerkleTree.from_state(host.journal.tree.state(), host.store)
    return {key: leaf for tree in TREES for key, leaf in copied.leaves(tree).items()}


def stored_leaves(queries: Queries, cluster: str) -> dict[str, bytes]:
    """Return the leaves of what a cluster's store holds, by key."""
    return {key: leaf_digest(key, stored) for key, stored in queries.contents(cluster).items()}
