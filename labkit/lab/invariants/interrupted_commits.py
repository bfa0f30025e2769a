"""Interrupted commits: of a commit in which a node's process ended, the store keeps all or nothing (R18).

Judged is what the store has, whatever was said to be kept: each key that the commit was to change has what it left, or
each has what was there before.
"""

from __future__ import annotations

from labkit.lab.invariants.rules import WHOLE_COMMIT
from labkit.lab.invariants.scene import Judgements, StandingRule
from labkit.lab.wire.reports import CommitEnded
from labkit.vault.replication.tree.merkle import leaf_digest


class InterruptedCommits(StandingRule):
    """It keeps nothing."""

    __slots__ = ()

    @property
    def judgements(self) -> Judgements:
        """Commits that were cut short."""
        return {CommitEnded: self.on_ended}

    def on_ended(self, report: CommitEnded) -> None:
        """Look at each key that the commit was to change."""
        self.judged += 1
        store = self._scene.queries.parts.stores[report.cluster]
        new, old, neither = list[str](), list[str](), list[str]()
        for key, before, left in report.rows:
            if before == left:
                continue
            stored = store.get(key)
            digest = None if stored is None else leaf_digest(key, stored)
            (new if digest == left else old if digest == before else neither).append(key)
        if neither or (new and old):
            some, none = ((neither or new)[0], (old or neither)[0])
            text = f"{report.node} ended inside a commit of {len(report.rows)} keys, and the store has some of it"
            self._scene.found(WHOLE_COMMIT, f"{text}: {some}, but not {none}" if old or new else f"{text}: {some}")
