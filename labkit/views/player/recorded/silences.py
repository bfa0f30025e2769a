"""Silences: when a secondary heard nothing of another cluster: what it knows of its replication is as old as that.

1. A secondary counts from the first message of another cluster that reached one of its nodes on.
2. Its primary sends a heartbeat a second; what is shorter than one and a half does not count.  A player speaks of a
   silence from its first second on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from labkit.lab.measures.state_spans import Span
from labkit.service.durations import SECOND_NS

LEAST_NS = 3 * SECOND_NS // 2
SECONDARY = "secondary"


class SilentStretch(NamedTuple):
    """A stretch in which a secondary heard nothing: when it had heard the last message, and until when."""

    cluster: str
    from_ns: int
    to_ns: int


def silences_of(cluster: str, spans: Iterable[Span], heard_ns: Sequence[int]) -> Iterator[SilentStretch]:
    """Yield the silences of a cluster, from what it was and when its nodes heard others, both in order."""
    for since_ns, until_ns in _as_secondary(span for span in spans if span.row == cluster):
        times = [at_ns for at_ns in heard_ns if since_ns <= at_ns < until_ns]
        for from_ns, to_ns in pairwise([*times, until_ns]):
            if to_ns - from_ns > LEAST_NS:
                yield SilentStretch(cluster, from_ns, to_ns)


def _as_secondary(spans: Iterable[Span]) -> list[tuple[int, int]]:
    """Return the stretches in which a cluster was a secondary, whatever its replication did."""
    found: list[tuple[int, int]] = []
    for span in spans:
        if span.what != SECONDARY:
            continue
        if found and found[-1][1] == span.from_ns:
            found[-1] = (found[-1][0], span.to_ns)
        else:
            found.append((span.from_ns, span.to_ns))
    return found
