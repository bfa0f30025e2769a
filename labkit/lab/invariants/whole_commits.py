"""Whole commits: what a secondary holds is what its primary held right after one of its commits (R18).

1. A stream is judged entry by entry: under each key that the primary's commit changed, the secondary's store has what
   that commit left there.  What the commit left is known from the report of the commit, not from what was sent.
2. Where a comparison ends, and wherever else a secondary comes to an entry without those between, its whole contents
   are compared with the primary's; keys that the primary changed since must not have what it left there later.
3. Not judged: keys that were damaged on purpose, clusters whose index is damaged, and those of a primary whose store
   took writes of a node that was overtaken.  An entry whose commit is not kept any more is not judged either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.lab.invariants.rules import WHOLE_COMMITS
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.wire.reports import Committed, Corrupted, OvertakenWrote, Progressed, Wiped
from labkit.vault.replication.tree.merkle import leaf_digest

Changes = tuple[tuple[str, bytes | None], ...]

MAX_KEPT, DROPPED_EVERY = 2_048, 256
"""How many commits of a cluster are kept, and after how many older ones are dropped.

Whoever is further behind is judged when its comparison ends.
"""

NOWHERE = ("", 0)


class WholeCommits(StandingRule):
    """What each cluster's latest commits left, and the entry that each secondary has reached."""

    __slots__ = ("_damaged", "_made", "_overtaken", "_reached")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._made: dict[str, dict[int, Changes]] = {name: dict(rows) for name, rows in state.get("made", ())}
        self._reached: dict[str, tuple[str, int]] = dict(state.get("reached", ()))
        self._damaged: set[str] = set(state.get("damaged", ()))
        self._overtaken: set[str] = set(state.get("overtaken", ()))

    @property
    def judgements(self) -> Judgements:
        """Commits, and how far a secondary has come."""
        return {
            Committed: self.on_committed,
            Progressed: self.on_progressed,
            Wiped: self.on_wiped,
            Corrupted: lambda report: self._damaged.add(report.altered),
            OvertakenWrote: lambda report: self._overtaken.add(report.cluster),
        }

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values; what commits left is shared, not copied."""
        return {
            **super().state(),
            "made": tuple([(name, dict(rows)) for name, rows in self._made.items()]),
            "reached": tuple(self._reached.items()),
            "damaged": tuple(sorted(self._damaged)),
            "overtaken": tuple(sorted(self._overtaken)),
        }

    def on_wiped(self, report: Wiped) -> None:
        """A cluster's contents were deleted, and its entries with them."""
        self._made.pop(report.cluster, None)
        self._reached.pop(report.cluster, None)

    def on_committed(self, report: Committed) -> None:
        """Keep what each commit left, by its journal entry."""
        for number, changes in report.commits:
            if number:
                made = self._made.get(report.cluster)
                if made is None:
                    made = self._made[report.cluster] = {}
                made[number] = changes
                if not number % DROPPED_EVERY:
                    self._forget(made, number - MAX_KEPT)

    def on_progressed(self, report: Progressed) -> None:
        """Judge a secondary that has come to an entry of its upstream."""
        _, cluster, upstream, number = report
        if not upstream:
            return
        if number is None:
            self._reached.pop(cluster, None)
            return
        followed, before = self._reached.get(cluster, NOWHERE)
        self._reached[cluster] = (upstream, number)
        corrupted = self._scene.corrupted
        if upstream in self._overtaken or (corrupted and (upstream in corrupted or cluster in corrupted)):
            return
        if followed == upstream and number == before:  # another node, or a restored one, reports it again
            return
        if followed != upstream or number < before:
            self._judge_contents(cluster, upstream, number)
            return
        made = self._made.get(upstream, {})
        changes = made[number] if number == before + 1 and number in made else self._left(made, before, number)
        if changes is not None:
            self.judged += 1
            stores = self._scene.queries.parts.stores
            ours, theirs = stores[cluster].values, stores[upstream].values
            for key, digest in changes:
                # What the primary has still is what the commit left: no value is copied on its way.
                if key not in ours or key not in theirs or ours[key] is not theirs[key]:
                    self._judge_value((cluster, upstream, number), key, ours.get(key), digest)

    def _forget(self, made: dict[int, Changes], before: int) -> None:
        for number in [number for number in made if number < before]:
            del made[number]

    def _left(self, made: dict[int, Changes], before: int, number: int) -> Changes | None:
        """Return what the commits after one entry, up to another, left together; None where one is not kept."""
        left: dict[str, bytes | None] = {}
        for each in range(before + 1, number + 1):
            if each not in made:
                return None
            left.update(made[each])
        return tuple(left.items())

    def _judge_value(self, where: tuple[str, str, int], key: str, stored: bytes | None, digest: bytes | None) -> None:
        if (stored if stored is None else leaf_digest(key, stored)) != digest and key not in self._damaged:
            cluster, upstream, number = where
            what = f"without what it left under {key}"
            self._scene.found(WHOLE_COMMITS, f"{cluster} stands at entry {number} of {upstream} {what}")

    def _judge_contents(self, cluster: str, upstream: str, number: int) -> None:
        """Compare all that a secondary has with its upstream, less what this one changed since."""
        queries, made = self._scene.queries, self._made.get(upstream, {})
        newer = range(number + 1, queries.last_entry(upstream) + 1)
        if queries.mode_of(upstream) != "primary" or not all(each in made for each in newer):
            return
        self.judged += 1
        later: dict[str, set[bytes | None]] = {}
        for each in newer:
            for key, digest in made[each]:
                later.setdefault(key, set()).add(digest)
        ours, theirs = queries.contents(cluster), queries.contents(upstream)
        if ours == theirs:
            return
        for key in sorted(ours.keys() | theirs.keys()):
            stored = ours.get(key)
            if key in self._damaged or (stored == theirs.get(key) and key not in later):
                continue
            if key not in later or (stored is not None and leaf_digest(key, stored) in later[key]):
                what = "has something of a later one" if key in later else "is not what it has"
                self._scene.found(WHOLE_COMMITS, f"{cluster} stands at entry {number} of {upstream}: {key} {what}")
                return
