"""State spans: in which state each cluster and each node was, and from when to when, as the trace shows it.

1. Each cluster's and each node's time is covered once, from the first instant to the last.
2. A cluster is what its active node knows it to be: primary, secondary or disabled.  Without one it is sealed, where
   some of its nodes are sealed and none is down, else down; before it had any it is disabled.
3. A node is active (it leads), standby, sealed, down or paused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from labkit.lab.fault_table import FAULTS
from labkit.trace import Trace

NO_CHANGE = "no change"
RUNNING = ("active", "standby")
STATE_AFTER = {
    **{fault.name: fault.node_is for fault in FAULTS if fault.node_is},
    "sealed": "sealed",
    "unsealed": "standby",
    "stepped down": "standby",
}
"""{a fault, or what a node observes: the state that the node is in from then on}."""


class Span(NamedTuple):
    """A stretch of time in which a cluster or node was something: its mode or state, and more about it."""

    row: str
    from_ns: int
    to_ns: int
    what: str
    detail: str


class _History:
    """One cluster as the trace goes on: its mode, its active node, and the state of each node."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self.mode, self.state, self.active = "disabled", "", ""
        self.nodes = dict.fromkeys(nodes, "sealed")
        self.before_pause: dict[str, str] = {}
        self.led = False

    def bar(self) -> tuple[str, str]:
        """Return what the cluster is, and more about it."""
        if self.active or not self.led:
            return self.mode, self.state if self.mode == "secondary" else ""
        states = list(self.nodes.values())
        counts = {what: states.count(what) for what in ("down", "sealed", "paused")}
        words = [f"{count} {_nodes(count)} {what}" for what, count in counts.items() if count]
        sealed = counts["sealed"] and not counts["down"]
        return "sealed" if sealed else "down", ", ".join(words) or "no active node"

    def lead(self, node: str) -> None:
        """A node became the active one."""
        if self.nodes.get(self.active) == "active":
            self.nodes[self.active] = "standby"
        self.active, self.led, self.nodes[node] = node, True, "active"

    def become(self, node: str, state: str) -> None:
        """A node came up, went down or was sealed; it is not the active one any more."""
        if state == "paused":
            self.before_pause[node] = self.nodes[node]
        self.nodes[node] = state
        if node == self.active:
            self.active = ""

    def go_on(self, node: str) -> None:
        """A paused node goes on: it serves again unless another took over meanwhile."""
        was = self.before_pause.pop(node)
        if was == "active" and not self.active:
            self.lead(node)
        else:
            self.nodes[node] = "standby" if was == "active" else was


def spans_of(trace: Trace, clusters: Mapping[str, tuple[str, ...]], end_ns: int) -> tuple[list[Span], list[Span]]:
    """Go through the trace; return the spans of clusters and of nodes up to an instant."""
    cluster_of = {node: name for name, nodes in clusters.items() for node in nodes}
    histories = {name: _History(nodes) for name, nodes in clusters.items()}
    bars: dict[str, list[tuple[int, str, str]]] = {name: [(0, "disabled", "")] for name in histories}
    lines: dict[str, list[tuple[int, str, str]]] = {node: [(0, "sealed", "")] for node in cluster_of}
    for row in rows_of(trace, ("leader", "mode", "observed", "fault")):
        name = _take(row, histories, cluster_of)
        if name:
            bars[name].append((row[1], *histories[name].bar()))
            for node, state in histories[name].nodes.items():
                lines[node].append((row[1], state, ""))
    return (
        [span for name, changes in bars.items() for span in _cut(name, changes, end_ns)],
        [span for node, changes in lines.items() for span in _cut(node, changes, end_ns)],
    )


def rows_of(trace: Trace, kinds: tuple[str, ...]) -> Iterable[tuple[Any, ...]]:
    """Return the recorded tuples of some kinds, in order."""
    return (row for chunk in trace.state()[1] for row in chunk if row[0] in kinds)


def _take(row: tuple[Any, ...], histories: Mapping[str, _History], cluster_of: Mapping[str, str]) -> str:
    """Let an event change a cluster; return which one, or an empty text."""
    kind, _, *values = (str(value) for value in row)
    if kind in ("leader", "mode"):
        name, first, second = values
        if name not in histories:
            return ""
        if kind == "leader":
            histories[name].lead(first)
        else:
            histories[name].mode, histories[name].state = first, second
        return name
    verb, node = (values[0], values[1]) if kind == "fault" else (values[1], values[0])
    name = cluster_of.get(node, "")
    state = STATE_AFTER.get(verb)
    if not name or state is None or (kind == "fault" and values[2].endswith(NO_CHANGE)):
        return ""
    if state == "resumed":
        histories[name].go_on(node)
    elif not (verb == "unsealed" and histories[name].nodes[node] in RUNNING):
        histories[name].become(node, state)
    return name


def _cut(row: str, changes: list[tuple[int, str, str]], end_ns: int) -> list[Span]:
    """Cut a row's time where it changed; what lasted no time is left out."""
    spans: list[Span] = []
    ends = [at_ns for at_ns, _, _ in changes[1:]] + [end_ns]
    for (from_ns, what, detail), until_ns in zip(changes, ends, strict=True):
        to_ns = min(until_ns, end_ns)
        if spans and spans[-1][3:] == (what, detail):
            spans[-1] = spans[-1]._replace(to_ns=max(spans[-1].to_ns, to_ns))
        elif from_ns < to_ns:
            spans.append(Span(row, from_ns, to_ns, what, detail))
    return spans


def _nodes(count: int) -> str:
    return "node" if count == 1 else "nodes"
