"""Lag: how far a secondary is behind the cluster that it follows, now or at any earlier instant.

1. Recorded are, with their instants, the newest journal entry of each primary, whom each secondary follows, and the
   entry of that cluster which its contents have reached.  Nothing is asked of a node, so lag is known of any two
   clusters at any time: cut off, sealed or crashed too.
2. Entries: how many of the upstream's journal entries are not applied.  Seconds: since when the oldest of them waits.
   Level is 0 and 0.0.
3. Of a cluster that does not follow the other, or has not reached any complete state of it yet, both are infinite.
4. While the keys of a comparison arrive, lag counts from the last complete state, as nothing between two is one.
5. With ``newest``, instants before the newest rows are forgotten (``chunks``): of those before no lag is known, and
   seconds count from the oldest row at most.  What a secondary has not applied yet is kept while it follows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sized
from math import inf
from typing import Any, NamedTuple

from labkit.lab.wire.reports import ConnectionChanged, Progressed
from labkit.service.durations import SECOND_NS

MAX_NUMBER = 1 << 63
"""No entry has this number, nor one above."""


class Lag(NamedTuple):
    """How far a secondary is behind: journal entries not applied, and for how long the oldest of them has waited."""

    entries: float
    seconds: float

    @property
    def level(self) -> bool:
        """Whether nothing is missing."""
        return self.entries == 0

    @property
    def text(self) -> str:
        """The entries in words."""
        if self.entries == inf:
            return "no complete state yet"
        return f"{self.entries} {'entry' if self.entries == 1 else 'entries'} behind" if self.entries else "level"


LEVEL, NOT_FOLLOWING = Lag(0, 0.0), Lag(inf, inf)


def furthest_behind(lags: Iterable[Lag]) -> Lag:
    """Return the largest number of entries and the longest time of some lags; level when there are none."""
    lags = tuple(lags)
    return Lag(max((lag.entries for lag in lags), default=0), max((lag.seconds for lag in lags), default=0.0))


class Series:
    """Entry numbers with the instants at which they were reached; ``starts`` says where a count began again."""

    __slots__ = ("numbers", "starts", "times")

    def __init__(self, state: tuple[Any, ...] = ((), (), ())) -> None:
        times, numbers, starts = state
        self.times: list[int] = list(times)
        self.numbers: list[int] = list(numbers)
        self.starts: list[int] = list(starts)

    def __len__(self) -> int:
        return len(self.times)

    def add(self, at_ns: int, number: int) -> None:
        """Note a number, unless it is the last one."""
        numbers = self.numbers
        last = numbers[-1] if numbers else MAX_NUMBER
        if number == last:
            return
        if number < last:
            self.starts.append(len(numbers))
        self.times.append(at_ns)
        numbers.append(number)

    def at(self, at_ns: int) -> int:
        """Return the place of the newest number at an instant; -1 before the first."""
        return bisect_right(self.times, at_ns) - 1

    def reached(self, number: int, place: int) -> int:
        """Return when a number was reached or passed, in the count that a place belongs to."""
        start = self.starts[bisect_right(self.starts, place) - 1]
        return self.times[bisect_left(self.numbers, number, start, place + 1)]

    def forget(self, count: int) -> None:
        """Forget the oldest numbers, so many of them, but not all."""
        del self.times[:count], self.numbers[:count]
        self.starts = [0, *[start - count for start in self.starts if start > count]]

    def state(self) -> tuple[Any, ...]:
        """Return the series as plain values."""
        return tuple(self.times), tuple(self.numbers), tuple(self.starts)


class Progress:
    """What each cluster's journal has reached, what of it those that follow have applied, and how each is connected."""

    __slots__ = ("_applied", "_follows", "_made", "connections", "newest")

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.newest = 0  # how many of the newest rows are kept; 0: all
        self._made = {name: Series(rows) for name, rows in state.get("made", ())}
        self._applied = {name: Series(rows) for name, rows in state.get("applied", ())}
        # (since when, whom, how many applied numbers there were before)
        self._follows: dict[str, list[tuple[int, str, int]]] = {
            name: list(rows) for name, rows in state.get("follows", ())
        }
        # since when the connection of each secondary is in which state
        self.connections: dict[str, list[tuple[int, str]]] = {
            name: list(rows) for name, rows in state.get("connections", ())
        }

    def take(self, report: Progressed) -> None:
        """Take what an active node reports of its cluster."""
        at_ns, cluster, upstream, number = report
        if cluster not in self._applied:
            self._applied[cluster], self._follows[cluster] = Series(), []
        applied, follows = self._applied[cluster], self._follows[cluster]
        if upstream != (follows[-1][1] if follows else ""):
            follows.append((at_ns, upstream, len(applied)))
            self._trim(follows)
        if number is None:
            return
        if upstream:
            applied.add(at_ns, number)
            if self.newest and self._is_long(applied.times):
                count = len(applied) - self.newest
                applied.forget(count)
                follows[:] = [(since_ns, whom, max(0, first - count)) for since_ns, whom, first in follows]
        else:
            if cluster not in self._made:
                self._made[cluster] = Series()
            made = self._made[cluster]
            made.add(at_ns, number)
            if self.newest and self._is_long(made.times):
                made.forget(min(len(made) - self.newest, *self._needed(cluster, made)))

    def connect(self, report: ConnectionChanged) -> None:
        """Take the state of a secondary's connection; one that it has already is not noted again."""
        rows = self.connections.setdefault(report.cluster, [])
        if not rows or rows[-1][1] != report.state:
            rows.append((report.at_ns, report.state))
            self._trim(rows)

    def followers(self) -> tuple[str, ...]:
        """Return the clusters that followed any at some time."""
        return tuple([name for name, rows in self._follows.items() if any(upstream for _, upstream, _ in rows)])

    def changes(self, secondary: str) -> list[int]:
        """Return the instants at which anything changed that a cluster's lag comes from, in order."""
        follows, applied = self._follows.get(secondary, []), self._applied.get(secondary)
        instants = {at_ns for at_ns, _, _ in follows} | set(applied.times if applied is not None else ())
        for upstream in {upstream for _, upstream, _ in follows}:
            instants.update(self._made[upstream].times if upstream in self._made else ())
        return sorted(instants)

    def upstream(self, secondary: str, at_ns: int) -> str:
        """Return whom a cluster followed at an instant; empty for none."""
        return self._follow(secondary, at_ns)[1]

    def applied_entry(self, secondary: str) -> int | None:
        """Return the newest entry of its upstream that a cluster has applied; None before the first."""
        _, _, first = self._follow(secondary, MAX_NUMBER)
        applied = self._applied.get(secondary)
        return applied.numbers[-1] if applied is not None and len(applied) > first else None

    def lag(self, primary: str, secondary: str, at_ns: int) -> Lag:
        """Return how far a cluster was behind another at an instant."""
        _, upstream, first = self._follow(secondary, at_ns)
        made, applied = self._made.get(primary), self._applied.get(secondary)
        if upstream != primary or made is None or applied is None:
            return NOT_FOLLOWING
        place, done = made.at(at_ns), applied.at(at_ns)
        if place < 0 or done < first:
            return NOT_FOLLOWING
        missing = made.numbers[place] - applied.numbers[done]
        if missing <= 0:
            return LEVEL
        return Lag(missing, (at_ns - made.reached(applied.numbers[done] + 1, place)) / SECOND_NS)

    def state(self) -> dict[str, Any]:
        """Return what is recorded as plain values."""
        return {
            "made": tuple([(name, series.state()) for name, series in self._made.items()]),
            "applied": tuple([(name, series.state()) for name, series in self._applied.items()]),
            "follows": tuple([(name, tuple(rows)) for name, rows in self._follows.items()]),
            "connections": tuple([(name, tuple(rows)) for name, rows in self.connections.items()]),
        }

    def _follow(self, secondary: str, at_ns: int) -> tuple[int, str, int]:
        rows = self._follows.get(secondary, [])
        place = bisect_right(rows, at_ns, key=lambda row: row[0]) - 1
        return rows[place] if place >= 0 else (0, "", 0)

    def _is_long(self, rows: Sized) -> bool:
        """Whether it is time to forget old rows, which is when so many have come since the last time."""
        return bool(self.newest) and len(rows) >= 2 * self.newest and not len(rows) % self.newest

    def _trim(self, rows: list[Any]) -> None:
        if self._is_long(rows):
            del rows[: -self.newest]

    def _needed(self, upstream: str, made: Series) -> Iterator[int]:
        """Yield, for each cluster that follows another now, the place of the first entry that it has not applied."""
        yield len(made)
        for name, rows in self._follows.items():
            applied = self._applied[name]
            if rows and rows[-1][1] == upstream and len(applied) > rows[-1][2]:
                yield bisect_left(made.numbers, applied.numbers[-1] + 1, made.starts[-1])
