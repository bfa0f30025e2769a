"""Pace: how long each stretch of a run is on screen.

1. A flight of interest takes 400 ms or more, and whatever happens is held for a moment; nothing passes faster than it
   did while there is anything of interest.
2. A stretch without anything of interest takes half a second at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from math import ceil
from typing import NamedTuple

MILLISECOND_NS = 1_000_000
FLIGHT_MS = 400
HELD_NS, HELD_MS = 20 * MILLISECOND_NS, 1_000
QUIET_MS = 500
SLOW, QUIET, TRUE = "slow", "quiet", "true"


class Stretch(NamedTuple):
    """A stretch of a run, from the end of the one before: until when, how long it is on screen, and slow, quiet, true.

    Quiet is faster than it was, slow is slower.
    """

    to_ns: int
    shown_ms: float
    kind: str


def pace(end_ns: int, flights: Iterable[tuple[int, int]], instants: Iterable[int]) -> list[Stretch]:
    """Return the stretches of a run that ends at an instant: flights as (sent, ended), and what else to look at."""
    waits = [(start, stop, _slowness(stop - start, FLIGHT_MS)) for start, stop in flights if start < stop]
    waits += [(at_ns, at_ns + HELD_NS, _slowness(HELD_NS, HELD_MS)) for at_ns in instants]
    waits = sorted((start, min(stop, end_ns), slowness) for start, stop, slowness in waits if start < end_ns)
    found: list[Stretch] = []
    under_way: list[tuple[int, int]] = []  # by slowness, the slowest first, with the end of each
    edges = sorted({0, end_ns, *(edge for start, stop, _ in waits for edge in (start, stop))})
    place, from_ns = 0, 0
    for to_ns in edges[1:]:
        while place < len(waits) and waits[place][0] <= from_ns:
            heappush(under_way, (-waits[place][2], waits[place][1]))
            place += 1
        while under_way and under_way[0][1] <= from_ns:
            heappop(under_way)
        _add(found, from_ns, to_ns, -under_way[0][0] if under_way else 0)
        from_ns = to_ns
    return found


def _slowness(length_ns: int, shown_ms: int) -> int:
    """Return how many times longer than it was something takes, a round number of two digits: 1 or more."""
    times = max(1, ceil(shown_ms * MILLISECOND_NS / length_ns))
    step = 10 ** max(0, len(str(times)) - 2)
    return int(-(-times // step) * step)


def _add(found: list[Stretch], from_ns: int, to_ns: int, slowness: int) -> None:
    """Add a stretch to those before it, or to the last one where both have the same pace."""
    length_ms = (to_ns - from_ns) / MILLISECOND_NS
    shown_ms = length_ms * slowness if slowness else min(length_ms, QUIET_MS)
    kind = (SLOW if slowness > 1 else TRUE) if slowness else (QUIET if length_ms > QUIET_MS else TRUE)
    if found and kind == SLOW == found[-1].kind:
        before_ns = found[-2].to_ns if len(found) > 1 else 0
        before = found[-1].shown_ms * MILLISECOND_NS / (found[-1].to_ns - before_ns)
        if abs(before - slowness) < slowness / 1_000:
            found[-1] = Stretch(to_ns, found[-1].shown_ms + shown_ms, kind)
            return
    found.append(Stretch(to_ns, shown_ms, kind))


def shown_ms(stretches: Sequence[Stretch]) -> float:
    """Return how long a whole run is on screen."""
    return sum(stretch.shown_ms for stretch in stretches)
