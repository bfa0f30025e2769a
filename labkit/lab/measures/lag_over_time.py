"""Lag over time: how far each secondary was behind, at regular instants and at its furthest between them.

1. Lag is that of ``lab.lag``; both numbers are infinite while a secondary has not reached any complete state.
2. Between two changes the entries stay and the seconds grow, so the furthest is found at the changes only: the numbers
   right before each, right after it, and at the end of the stretch.  What holds at its beginning is part of it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import inf
from typing import NamedTuple

from labkit.lab.lag import LEVEL, Lag, Progress, furthest_behind


class LagPoint(NamedTuple):
    """How far a secondary was behind at an instant, and at its furthest since the instant before; infinite at times."""

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
            upstream = progress.upstream(name, end_ns)
            if not upstream:
                continue
            first, last = bisect_right(changes, start_ns), bisect_left(changes, end_ns)
            between = [at_ns for change in changes[first:last] for at_ns in (change - 1, change)]
            lag = progress.lag(upstream, name, end_ns)
            furthest = furthest_behind([lag, *(_lag(progress, name, at_ns) for at_ns in [*between, end_ns - 1])])
            points.append(LagPoint(name, end_ns, upstream, *lag, *furthest))
    return tuple(points)


def _lag(progress: Progress, name: str, at_ns: int) -> Lag:
    """Return the lag behind whom a cluster follows at an instant; level while it follows nobody."""
    upstream = progress.upstream(name, at_ns)
    return progress.lag(upstream, name, at_ns) if upstream else LEVEL


def largest(points: tuple[LagPoint, ...]) -> LagPoint | None:
    """Return the point with the most seconds behind, infinite ones left out; None where there is none."""
    finite = [point for point in points if point.max_seconds < inf]
    return max(finite, key=lambda point: (point.max_seconds, point.max_entries), default=None)
