"""Reindex writes: a reindex loses no write: the index that it makes stands for all that the store holds (R18).

1. While a reindex commits, no request of a client writes: it waits for the end (decision D9).
2. Once its index is in use and stored, it has a leaf for each stored value of the two trees, of that value, and none
   besides.
3. Not judged: an index that was damaged on purpose after the reindex had looked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.lab.invariants.rules import REINDEX_WRITES
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.wire.reports import BEGUN, REINDEX_BEGUN, Committed, IndexReplaced, Observed
from labkit.vault.replication.tree.merkle import leaf_digest


class ReindexWrites(StandingRule):
    """The clusters of which a reindex was begun."""

    __slots__ = ("_begun",)

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._begun: dict[str, None] = dict.fromkeys(state.get("begun", ()))

    @property
    def judgements(self) -> Judgements:
        """Reindexes that begin, writes, and indexes that came into use."""
        return {Observed: self.on_observed, Committed: self.on_committed, IndexReplaced: self.on_replaced}

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values."""
        return {"occurred": self.judged, "begun": tuple(self._begun)}

    def on_observed(self, report: Observed) -> None:
        """A reindex may begin."""
        if report.kind == REINDEX_BEGUN:
            self._begun[self._scene.queries.cluster_of(report.node)] = None

    def on_committed(self, report: Committed) -> None:
        """Judge a write while a reindex is under way; one that had waited for a Fetch is spared."""
        if not self._begun:
            return
        if report.cluster not in self._begun or report.correlation is None or report.part not in ("", BEGUN):
            return
        queries = self._scene.queries
        active = queries.active_node(report.cluster)
        node = queries.parts.nodes.get(active)
        rebuild = None if node is None else node.core.replica.rebuild
        if node is not None and rebuild is not None and report.commits and rebuild.is_committing(node.clock.now()):
            key = report.commits[0][1][0][0]
            self._scene.found(REINDEX_WRITES, f"{active} wrote {key} while its reindex was committing")

    def on_replaced(self, report: IndexReplaced) -> None:
        """Compare the index with the store."""
        queries, cluster = self._scene.queries, report.cluster
        self._begun.pop(cluster, None)
        active = queries.active_node(cluster)
        tree = queries.parts.nodes[active].journal.tree if active else None
        if tree is None or cluster in self._scene.corrupted:
            return
        self.judged += 1
        contents, store = queries.contents(cluster), queries.parts.stores[cluster]
        for key, stored in contents.items():
            if tree.leaf(key) != leaf_digest(key, stored):
                self._found(active, key)
                return
        for key in store.leaves():
            if key not in contents and tree.leaf(key) is not None:
                self._found(active, key)
                return

    def _found(self, active: str, key: str) -> None:
        self._scene.found(REINDEX_WRITES, f"{active} was reindexed, and its index is not what is stored at {key}")
