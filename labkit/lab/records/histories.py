"""Histories: what each commit left under each key, and which commits the contents of a cluster come from (D14).

1. A commit is kept as the keys that it changed, each with the 20-byte digest of what it left there, None for nothing.
   Keys outside both trees are left out.  Commits are numbered over the whole lab, and packed (``packed_rows``).
2. A cluster writes one history until it is wiped or enabled again after a disable; a promotion continues the history
   that was followed, and a secondary that is disabled continues it alone: both under a number of their own.  What a
   history contains is its own commits and those that its cluster held when it began.
3. Contents hold a commit when, for each key that it changed, they have what it left there or what a later commit of
   the same history left.  Contents are compared when a history is continued, and at no other time.
4. Of the commits that contents hold, those last in the history that goes on whose keys have what they left there or
   what a later one left that lasts.  What was made and removed again, and never arrived, is held, since nothing of it
   is missing, but not a part of what goes on: it would be missed there later, without what removed it.
5. A value that was damaged on purpose counts as what it was before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from labkit.lab.records.packed_rows import BYTES, NAME, NUMBER, PackedRows

Digest = bytes | None
Changes = tuple[tuple[str, Digest], ...]
Held = Callable[[str], Digest]
"""What a cluster has under a key now, as a digest."""


class Commit(NamedTuple):
    """What one step wrote: in which history, as which journal entry (0: the journal was off).

    ``value_digest`` stands for what a request said to write, empty where none did; of commits that one step made it is
    the last's.
    """

    history: int
    entry_number: int
    changes: Changes
    value_digest: bytes = b""


COMMIT_SHAPE = (NUMBER, NUMBER, (NAME, BYTES), BYTES)


class Inherited(NamedTuple):
    """Commits of an earlier history that a later one contains: those below a number, without some."""

    history: int
    before: int
    missing: frozenset[int]


class History(NamedTuple):
    """Whose commits these are, and what it contains of earlier histories."""

    cluster: str
    inherited: tuple[Inherited, ...] = ()


class Continued(NamedTuple):
    """What came of a comparison: the history followed, the number of the next commit, and which were not held."""

    history: int
    next_commit: int
    missing: frozenset[int]


class ComparedCommits(NamedTuple):
    """The numbers of a history's commits that contents hold, of those that they do not, and of those that last."""

    kept: set[int]
    missing: set[int]
    lasting: set[int]


class Histories:
    """The commits of a lab, and the history that each cluster writes or follows."""

    __slots__ = ("commits", "current", "damaged", "followed", "histories")

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.commits: PackedRows[Commit] = PackedRows(COMMIT_SHAPE, Commit._make, state.get("commits"))
        self.histories: list[History] = list(state.get("histories", ()))
        self.current: dict[str, int] = dict(state.get("current", {}))
        self.followed: dict[str, tuple[int, ...]] = dict(state.get("followed", {}))
        # (key, digest of a value that was damaged on purpose) → digest of what it was before
        self.damaged: dict[tuple[str, Digest], Digest] = dict(state.get("damaged", {}))

    def __repr__(self) -> str:
        return f"Histories({len(self.commits)} commits of {len(self.histories)} histories)"

    def state(self) -> dict[str, Any]:
        """Return commits and histories as plain values."""
        return {
            "commits": self.commits.state(),
            "histories": tuple(self.histories),
            "current": dict(self.current),
            "followed": dict(self.followed),
            "damaged": dict(self.damaged),
        }

    def history_of(self, cluster: str) -> int:
        """Return the history that a cluster writes."""
        if cluster not in self.current:
            self._begin(History(cluster))
        return self.current[cluster]

    def add(self, cluster: str, commits: tuple[tuple[int, Changes], ...], value: bytes = b"") -> tuple[int, int]:
        """Note what each commit of a step left, by its journal entry; return the history and the number of the last."""
        history = self.history_of(cluster)
        for entry_number, changes in commits:
            self.commits.append((history, entry_number, changes, value))
        return history, len(self.commits) - 1

    def damage(self, key: str, before: bytes, after: bytes) -> None:
        """Note that a stored value was damaged on purpose."""
        was = self.undamaged(key, before)
        if was != after:  # else the same damage again has undone it
            self.damaged[key, after] = was

    def undamaged(self, key: str, held: Digest) -> Digest:
        """Return the digest of what was under a key before it was damaged; the same where it was not."""
        return self.damaged.get((key, held), held)

    def holds(self, cluster: str, number: int, history: int) -> bool:
        """Whether the history that a cluster writes contains a commit, of a history; of one that is not known, yes."""
        return cluster not in self.current or self._contains(self.current[cluster])(number, history)

    def holds_any(self, cluster: str, history: int) -> bool:
        """Whether a cluster may hold something of a history: it writes or follows this, or one that has some of it."""
        current = self.current.get(cluster)
        theirs = (*self.followed.get(cluster, ()), *(() if current is None else (current,)))
        inherited = [row.history for number in theirs for row in self.histories[number].inherited]
        return history in theirs or history in inherited

    def newest_of(self, history: int, values: frozenset[bytes]) -> dict[bytes, int]:
        """Return for each of these values the number of the last commit that left it, of those a history contains."""
        contains, newest = self._contains(history), {}
        for number, commit in enumerate(self.commits):
            if commit.value_digest in values and contains(number, commit.history):
                newest[commit.value_digest] = number
        return newest

    def wipe(self, cluster: str) -> None:
        """A cluster lost its contents: it begins a history of its own, and follows none."""
        self.followed.pop(cluster, None)
        self._begin(History(cluster))

    def enable_again(self, cluster: str) -> None:
        """A cluster is enabled after a disable: it begins another history, which contains the one it wrote."""
        before = self.history_of(cluster)
        whole = Inherited(before, len(self.commits), frozenset())
        self._begin(History(cluster, (*self.histories[before].inherited, whole)))

    def follow(self, cluster: str, upstream: str) -> None:
        """A secondary follows a cluster from now on, with the history that this one writes now."""
        followed = self.history_of(upstream)
        earlier = tuple([number for number in self.followed.get(cluster, ()) if number != followed])
        self.followed[cluster] = (*earlier, followed)

    def own(self, cluster: str) -> None:
        """A primary was demoted: it follows none and has its own contents."""
        self.followed.pop(cluster, None)

    def continue_alone(self, cluster: str, held: Held) -> Continued | None:
        """Compare a secondary's contents with what it followed; it continues that history under a number of its own.

        None when it follows no history: it goes on with its own.
        """
        sources = self.followed.pop(cluster, ())
        if not sources:
            return None
        kept: set[int] = set()
        lasting: set[int] = set()
        missing: set[int] = set()
        remembered: dict[str, Digest] = {}

        def remember(key: str) -> Digest:
            if key not in remembered:
                remembered[key] = held(key)
            return remembered[key]

        for source in dict.fromkeys((self.history_of(cluster), *sources)):
            found, missing, at_source = self._compare(source, remember)
            kept |= found
            lasting |= at_source
        followed, next_commit = sources[-1], len(self.commits)
        self._begin(History(cluster, self._inherited(lasting)))
        return Continued(followed, next_commit, frozenset(missing - kept))

    def behind(self, continued: Continued, applied: int) -> int:
        """Return how many commits of a followed history came after an entry of its cluster (0: after none)."""
        contains, cluster = self._contains(continued.history), self.histories[continued.history].cluster
        count = 0
        numbers = range(len(self.commits) - 1, -1, -1)
        for number, commit in zip(numbers, reversed(self.commits), strict=True):
            if number >= continued.next_commit or not contains(number, commit.history):
                continue
            if 0 < commit.entry_number <= applied and self.histories[commit.history].cluster == cluster:
                break
            count += 1
        return count

    def _begin(self, history: History) -> None:
        self.current[history.cluster] = len(self.histories)
        self.histories.append(history)

    def _contains(self, source: int) -> Callable[[int, int], bool]:
        """Return what tells whether a history contains a commit, by the commit's number and history."""
        rows = {row.history: row for row in self.histories[source].inherited}

        def contains(number: int, history: int) -> bool:
            row = rows.get(history)
            return history == source or (row is not None and number < row.before and number not in row.missing)

        return contains

    def _compare(self, source: int, held: Held) -> ComparedCommits:
        """Compare what a history's commits left, the newest first, with contents (rules 3 and 4)."""
        contains = self._contains(source)
        found = ComparedCommits(set(), set(), set())
        reached: set[str] = set()
        explained: set[str] = set()  # by commits that last
        numbers = range(len(self.commits) - 1, -1, -1)
        for number, commit in zip(numbers, reversed(self.commits), strict=True):
            if not contains(number, commit.history):
                continue
            whole = lasts = True
            for key, digest in commit.changes:
                if key in reached:
                    lasts = lasts and (key in explained or held(key) == digest)
                elif held(key) == digest:
                    reached.add(key)
                else:
                    whole = False
            (found.kept if whole else found.missing).add(number)
            if whole and lasts:
                found.lasting.add(number)
                explained.update([key for key, _ in commit.changes])
        return found

    def _inherited(self, kept: set[int]) -> tuple[Inherited, ...]:
        """Return the rows of a new history that contains these commits."""
        missing: dict[int, list[int]] = {}
        has_any: dict[int, bool] = {}
        for number, commit in enumerate(self.commits):
            if number in kept:
                has_any[commit.history] = True
            else:
                missing.setdefault(commit.history, []).append(number)
        before = len(self.commits)
        return tuple([Inherited(history, before, frozenset(missing.get(history, ()))) for history in sorted(has_any)])
