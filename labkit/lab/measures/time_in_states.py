"""Time in states: how long each cluster, each secondary's sync and connection, and each node was in each state.

1. The times of a cluster or node, whatever of it is looked at, add up to the time since the lab was built.
2. Sync and connection are those of a cluster while its active node is a secondary; at any other time they are *none*.
3. They are there for clusters that were a secondary at some time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from labkit.lab.measures.state_spans import Span, spans_of
from labkit.trace import Trace

CLUSTER, SYNC, CONNECTION, NODE = "cluster", "sync", "connection", "node"
KINDS = (CLUSTER, SYNC, CONNECTION, NODE)
NONE = "none"

Clusters = Mapping[str, tuple[str, ...]]
Connections = Mapping[str, Iterable[tuple[int, str]]]
"""When each cluster's connection to its upstream came into which state."""


class Stay(NamedTuple):
    """All the time that something spent in one state: in how many stretches, and the longest of them."""

    kind: str
    name: str
    state: str
    total_ns: int
    stretches: int
    longest_ns: int


def time_in_states(trace: Trace, clusters: Clusters, connections: Connections, now_ns: int) -> tuple[Stay, ...]:
    """Return the time in each state up to an instant; each state stands where it was first reached."""
    bars, lines = spans_of(trace, clusters, now_ns)
    found = _sum(CLUSTER, bars)
    served = {name: [bar for bar in bars if bar.row == name] for name in clusters}
    secondaries = [name for name, own in served.items() if any(bar.what == "secondary" for bar in own)]
    for name in secondaries:
        syncs = [bar._replace(what=bar.detail if bar.what == "secondary" else NONE) for bar in served[name]]
        found += _sum(SYNC, syncs)
    for name in secondaries:
        found += _sum(CONNECTION, _connection_spans(served[name], connections.get(name, ()), now_ns))
    return tuple(found + _sum(NODE, lines))


def _connection_spans(bars: Iterable[Span], changes: Iterable[tuple[int, str]], now_ns: int) -> list[Span]:
    """Lay the states of a connection over the stretches in which the cluster was a secondary."""
    known = [(0, NONE), *changes, (now_ns, NONE)]
    spans = []
    for bar in bars:
        if bar.what != "secondary":
            spans.append(bar._replace(what=NONE))
            continue
        for (from_ns, state), (to_ns, _) in pairwise(known):
            start_ns, end_ns = max(from_ns, bar.from_ns), min(to_ns, bar.to_ns)
            if start_ns < end_ns:
                spans.append(bar._replace(from_ns=start_ns, to_ns=end_ns, what=state))
    return spans


def _sum(kind: str, spans: Iterable[Span]) -> list[Stay]:
    """Add up spans by name and state; neighbours in one state are one stretch."""
    found: dict[tuple[str, str], list[int]] = {}
    before: Span | None = None
    length_ns = 0
    for span in spans:
        joined = before is not None and (before.row, before.what, before.to_ns) == (span.row, span.what, span.from_ns)
        length_ns = (length_ns if joined else 0) + span.to_ns - span.from_ns
        total = found.setdefault((span.row, span.what), [0, 0, 0])
        total[0] += span.to_ns - span.from_ns
        total[1] += not joined
        total[2] = max(total[2], length_ns)
        before = span
    return [Stay(kind, name, state, *total) for (name, state), total in found.items()]
