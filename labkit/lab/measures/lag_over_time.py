"""Lag over time: how far each secondary was behind, at regular instants and at its furthest between them.

1. Lag is that of ``lab.lag``; both numbers are infinite while a secondary has not reached any complete state.
2. Between two changes the entries stay and the seconds grow, so the furthest is found at the changes only: the numbers
   right before each, right after it, and at the end of the stretch.  What holds at its beginning is part of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from labkit.lab.records.lag import Lag, Progress, furthest_behind


class LagPoint(NamedTuple):
    """How far a secondary was behind at an instant, and at its furthest since the instant before; infinite at times.

    Where it ceased to follow in between, that is how far it was behind right before.
    """

    secondary: str
    at_ns: int
    upstream: str
    entries: float
    seconds: float
    max_entries: float
    max_seconds: float


def lag_over_time(progress: Progress, now_ns: int, every_ns: int) -> tuple[LagPoint, ...]:
    """Return the lag of every secondary at the end of each stretch of time in which it follows somebody."""
    points: list[LagPoint] = []
    for name in progress.followers():
        changes = progress.changes(name)
        for start_ns in range(0, now_ns, every_ns):
            end_ns = min(start_ns + every_ns, now_ns)
            first, last = bisect_right(changes, start_ns), bisect_right(changes, end_ns)
            instants = [at_ns for change in changes[first:last] for at_ns in (change - 1, change)]
            found = list(_lags(progress, name, [*instants, end_ns - 1, end_ns]))
            if found:
                upstream, lag = found[-1]
                points.append(LagPoint(name, end_ns, upstream, *lag, *furthest_behind(lag for _, lag in found)))
    return tuple(points)


def _lags(progress: Progress, name: str, instants: list[int]) -> Iterator[tuple[str, Lag]]:
    """Return whom a cluster follows at instants and its lag; those at which it follows nobody are left out."""
    for at_ns in instants:
        upstream = progress.upstream(name, at_ns)
        if upstream:
            yield upstream, progress.lag(upstream, name, at_ns)


def largest(points: tuple[LagPoint, ...]) -> LagPoint | None:
    """Return the point with the most seconds behind, infinite ones left out; None where there is none."""
    finite = [point for point in points if point.max_seconds < inf]
    return max(finite, key=lambda point: (point.max_seconds, point.max_entries), default=None)
