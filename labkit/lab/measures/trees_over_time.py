"""Trees over time: in which pages of its index each secondary differed from its upstream, from when to when.

1. It is worked out from a tree record: leaves as a whole, and the commits since.  No node is asked.
2. A secondary holds what it held, and each entry of its upstream up to the one that it reached.  While it compares,
   that is its last complete state: what arrives meanwhile shows at the end of the comparison.
3. Of a page the set digest of its leaves is compared, as the index does: equal for equal leaves.
4. Damage on purpose is known by its place; from its instant until the cluster was reindexed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from labkit.lab.measures.tree_record import COMMIT, DAMAGE, EARLIER, LEAVES, MODE, REACH, REINDEX, TreeRecord
from labkit.lab.records.histories import Commit
from labkit.vault.replication.tree.merkle import FAN_OUT, bucket, classify

Page = tuple[int, int]
"""A tree and the number of one of its pages."""


class PagesApart(NamedTuple):
    """Pages in which a secondary differed from its upstream, all of them from one instant to another."""

    cluster: str
    upstream: str
    from_ns: int
    to_ns: int
    pages: tuple[Page, ...]


class DamageSpan(NamedTuple):
    """Damage on purpose in a cluster until it was reindexed; numbers that do not apply are -1."""

    cluster: str
    from_ns: int
    to_ns: int
    layer: str
    tree: int
    page: int
    subpage: int


class Compared(NamedTuple):
    """From when to when a secondary followed an upstream, and the pages in which it differed when it ceased to."""

    cluster: str
    upstream: str
    from_ns: int
    to_ns: int
    left: tuple[Page, ...]


class TreesOverTime(NamedTuple):
    """What is known of the trees: since when, who followed whom, which pages were apart, and what was damaged."""

    since_ns: int
    compared: tuple[Compared, ...]
    apart: tuple[PagesApart, ...]
    damaged: tuple[DamageSpan, ...]


class _Holder:
    """What one cluster holds as the record goes on: its leaves, the sums of its pages, its entries, whom it follows."""

    def __init__(self) -> None:
        self.leaves: dict[str, bytes] = {}
        self.sums: dict[Page, int] = {}
        self.entries: list[tuple[int, tuple[tuple[str, bytes | None], ...]]] = []
        self.upstream, self.followed_ns, self.reached = "", 0, -1
        self.is_secondary = False

    def hold(self, leaves: Iterable[tuple[str, bytes]]) -> set[Page]:
        """Hold these leaves and no others; return the pages that changed."""
        before, self.leaves, self.sums = self.sums, {}, {}
        self.change(leaves)
        return {page for page in {*before, *self.sums} if before.get(page, 0) != self.sums.get(page, 0)}

    def change(self, changes: Iterable[tuple[str, bytes | None]]) -> set[Page]:
        """Hold something else under some keys; return their pages."""
        pages = set()
        for key, leaf in changes:
            page, before = (classify(key), bucket(key) // FAN_OUT), self.leaves.pop(key, b"")
            self.sums[page] = self.sums.get(page, 0) ^ _number(before) ^ _number(leaf or b"")
            if leaf is not None:
                self.leaves[key] = leaf
            pages.add(page)
        return pages

    def since(self, entry: int) -> Iterator[tuple[int, tuple[tuple[str, bytes | None], ...]]]:
        """Yield the entries above a number, the newest first."""
        for made in reversed(self.entries):
            if made[0] <= entry:
                return
            yield made


class _Walk:
    """Goes through the rows of a record, and keeps which pages are apart since when."""

    def __init__(self, commits: Sequence[Commit]) -> None:
        self.commits = commits
        self.holders: dict[str, _Holder] = {}
        self.followers: dict[str, dict[str, None]] = {}
        self.open: dict[str, dict[Page, int]] = {}  # by secondary: since when each page is apart
        self.ended: list[tuple[str, str, int, int, Page]] = []
        self.compared: list[Compared] = []
        self.damaged: list[DamageSpan] = []
        self.struck: dict[str, list[DamageSpan]] = {}

    def take(self, row: tuple[Any, ...]) -> None:
        """Take a row; pages are compared where something changed."""
        kind, at_ns, cluster, *values = row
        holder = self.holders.setdefault(cluster, _Holder())
        pages: set[Page] = set()
        if kind == LEAVES:
            pages = holder.hold(values[0])
        elif kind == EARLIER:
            holder.entries[:0] = [(number, changes) for number, changes in values[0] if number]
        elif kind == COMMIT:
            pages = _commit(holder, self.commits[values[1] - values[0] : values[1]])
        elif kind == REACH:
            pages = self._reach(at_ns, cluster, *values)
        elif kind == MODE:
            self._mode(at_ns, cluster, values[0])
        elif kind == DAMAGE:
            self.struck.setdefault(cluster, []).append(DamageSpan(cluster, at_ns, -1, *values))
        elif kind == REINDEX:
            self._mend(at_ns, cluster)
        if pages:
            self._compare(at_ns, cluster, pages)
            for follower in self.followers.get(cluster, ()):
                self._compare(at_ns, follower, pages)

    def end(self, at_ns: int) -> None:
        """Close what is open."""
        for cluster in list(self.holders):
            self._follow(at_ns, cluster, "")
            self._mend(at_ns, cluster)

    def _mend(self, at_ns: int, cluster: str) -> None:
        self.damaged += [one._replace(to_ns=at_ns) for one in self.struck.pop(cluster, ())]

    def _mode(self, at_ns: int, cluster: str, mode: str) -> None:
        holder = self.holders[cluster]
        if holder.is_secondary and mode != "secondary":
            self._follow(at_ns, cluster, "")
        holder.is_secondary = mode == "secondary"

    def _follow(self, at_ns: int, cluster: str, upstream: str) -> None:
        holder = self.holders[cluster]
        if holder.upstream == upstream:
            return
        left = tuple(sorted(self.open.get(cluster, ())))
        self._compare(at_ns, cluster, set(left), part=True)
        if holder.upstream:
            self.compared.append(Compared(cluster, holder.upstream, holder.followed_ns, at_ns, left))
            del self.followers[holder.upstream][cluster]
        holder.upstream, holder.followed_ns, holder.reached = upstream, at_ns, -1
        if upstream:
            self.followers.setdefault(upstream, {})[cluster] = None
            above = self.holders.setdefault(upstream, _Holder())
            self._compare(at_ns, cluster, {*holder.sums, *above.sums})

    def _reach(self, at_ns: int, cluster: str, upstream: str, entry: int | None) -> set[Page]:
        """Let a secondary apply what its upstream made up to an entry; return the pages that changed."""
        self._follow(at_ns, cluster, upstream)
        holder = self.holders[cluster]
        pages: set[Page] = set()
        if entry is None:
            holder.reached = -1
            return pages
        if 0 <= holder.reached < entry:
            above = self.holders[upstream]
            for number, changes in list(above.since(holder.reached))[::-1]:
                if number <= entry:
                    pages |= holder.change(changes)
        holder.reached = entry
        return pages

    def _compare(self, at_ns: int, cluster: str, pages: set[Page], *, part: bool = False) -> None:
        """Note in which of these pages a secondary begins or ceases to differ; ``part``: it ceases to be compared."""
        holder = self.holders[cluster]
        if not holder.upstream:
            return
        above, since = self.holders[holder.upstream], self.open.setdefault(cluster, {})
        for page in sorted(pages):
            differs = not part and holder.sums.get(page, 0) != above.sums.get(page, 0)
            if differs:
                since.setdefault(page, at_ns)
            elif page in since:
                self.ended.append((cluster, holder.upstream, since.pop(page), at_ns, page))


def trees_over_time(record: TreeRecord, commits: Iterable[Commit], now_ns: int) -> TreesOverTime | None:
    """Return what a record says up to an instant, with the commits of all histories; None of one without rows."""
    walk, since_ns = _Walk(list(commits)), -1
    for row in record.rows:
        since_ns = row[1] if since_ns < 0 else since_ns
        walk.take(row)
    if since_ns < 0:
        return None
    walk.end(now_ns)
    spans: dict[tuple[int, int, str, str], list[Page]] = {}
    for cluster, upstream, from_ns, to_ns, page in walk.ended:
        if from_ns < to_ns:  # else nobody can have seen it
            spans.setdefault((from_ns, to_ns, cluster, upstream), []).append(page)
    apart = [PagesApart(key[2], key[3], key[0], key[1], tuple(sorted(spans[key]))) for key in sorted(spans)]
    compared = sorted(walk.compared, key=lambda one: (one.from_ns, one.cluster))
    damaged = sorted(walk.damaged, key=lambda one: (one.from_ns, one.cluster))
    return TreesOverTime(since_ns, tuple(compared), tuple(apart), tuple(damaged))


def pages_at(trees: TreesOverTime, at_ns: int) -> Mapping[tuple[str, str], tuple[Page, ...]]:
    """Return the pages that are apart at an instant, by secondary and upstream."""
    found: dict[tuple[str, str], list[Page]] = {}
    for one in trees.apart:
        if one.from_ns <= at_ns < one.to_ns:
            found.setdefault((one.cluster, one.upstream), []).extend(one.pages)
    return {pair: tuple(sorted(pages)) for pair, pages in found.items()}


def _commit(holder: _Holder, commits: Iterable[Commit]) -> set[Page]:
    pages: set[Page] = set()
    for commit in commits:
        pages |= holder.change(commit.changes)
        if commit.entry_number:
            holder.entries.append((commit.entry_number, commit.changes))
    return pages


def _number(leaf: bytes) -> int:
    return int.from_bytes(leaf, "big")
