"""Crash memory: what a node took before it crashed is answered by no later incarnation of it (R18).

1. At a crash the node's state is searched for requests, and what stands in front of it as well: what waits there would
   be memory that outlived the process.
2. What is found there breaks nothing yet; an answer to it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from labkit.lab.invariants.rules import CRASH_FORGETS
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.nodes.node_host import NodeHost
from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.reports import ReachChanged, RequestAnswered

MEMORY = ("suspended", "waiting", "forwarding")
"""What of a node's state holds requests."""


class CrashMemory(StandingRule):
    """Each node's incarnation, and what each still held after a crash."""

    __slots__ = ("_held", "_incarnations")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._incarnations: dict[str, int] = dict(state.get("incarnations", ()))
        self._held: dict[tuple[str, Correlation], int] = dict(state.get("held", ()))

    @property
    def judgements(self) -> Judgements:
        """Crashes, and answers."""
        return {ReachChanged: self.on_reach_changed, RequestAnswered: self.on_answered}

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values."""
        incarnations, held = tuple(self._incarnations.items()), tuple(self._held.items())
        return {"occurred": self.judged, "incarnations": incarnations, "held": held}

    def on_reach_changed(self, report: ReachChanged) -> None:
        """Look at the nodes that crashed since the last time."""
        for name, node in self._scene.queries.parts.nodes.items():
            if node.incarnation > self._incarnations.get(name, 0):
                self._incarnations[name] = node.incarnation
                self.judged += 1
                for correlation in self._left_of(node):
                    self._held[name, correlation] = node.incarnation

    def on_answered(self, report: RequestAnswered) -> None:
        """Judge an answer of a node that held something when it crashed."""
        if self._held and (report.node, report.correlation) in self._held:
            asker, number, _ = report.correlation
            what = f"request {number} of {asker}, which it took before it crashed"
            self._scene.found(CRASH_FORGETS, f"{report.node} answered {what}")

    def _left_of(self, node: NodeHost) -> list[Correlation]:
        state, process = node.state(), self._scene.queries.parts.processes[node.name].state()
        return [*_correlations([state.get(name) for name in MEMORY]), *_correlations(process)]


def _correlations(value: Any) -> Iterator[Correlation]:
    """Yield every correlation inside a plain value."""
    if isinstance(value, Correlation):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _correlations(member)
    elif isinstance(value, (tuple, list)):
        for member in value:
            yield from _correlations(member)
