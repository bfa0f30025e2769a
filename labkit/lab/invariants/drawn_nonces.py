"""Drawn nonces: no node draws again what was drawn before: neither it nor another has its stream at that count (R7).

1. Whatever a node draws is a function of its stream's label and a counter.  So no two nodes have one stream, and the
   counter of a stream never goes back.
2. It is judged when a node starts, stops, or begins or ceases to serve, for then a stream begins, and at rest.
3. Labs that were restored from one snapshot are one lab, and draw the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from labkit.lab.invariants.rules import NO_NONCE_TWICE
from labkit.lab.invariants.scene import Judgements, Scene, StandingRule
from labkit.lab.wire.reports import LeaderTaken, ReachChanged, ServiceChanged


class DrawnNonces(StandingRule):
    """Of each stream which node draws from it, and how far that was."""

    __slots__ = ("_drawn",)

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        super().__init__(scene, state)
        self._drawn: dict[str, tuple[str, int]] = dict(state.get("drawn", ()))

    @property
    def judgements(self) -> Judgements:
        """What begins a stream."""
        return {
            ReachChanged: lambda report: self._judge(self._scene.queries.parts.nodes),
            ServiceChanged: lambda report: self._judge(self._scene.queries.nodes_of(report.cluster)),
            LeaderTaken: lambda report: self._judge((report.node,)),
        }

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values."""
        return {"occurred": self.judged, "drawn": tuple(self._drawn.items())}

    def check_at_rest(self) -> None:
        """Note how far every node is."""
        self._judge(self._scene.queries.parts.nodes)

    def _judge(self, names: Iterable[str]) -> None:
        drawn, nodes = self._drawn, self._scene.queries.parts.nodes
        for name in names:
            entropy = nodes[name].entropy
            stream, counter = entropy.stream, entropy.counter
            before, count = drawn.get(stream, (name, 0))
            if before != name:
                self._scene.found(NO_NONCE_TWICE, f"{name} draws from the stream that {before} drew from")
            elif counter < count:
                self._scene.found(NO_NONCE_TWICE, f"{name} draws again from its stream: {counter} after {count}")
            elif count:
                self.judged += 1
            drawn[stream] = (name, max(counter, count))
