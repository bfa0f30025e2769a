"""Health checks: which nodes answer sys/health as the active node of a primary does; by that traffic is directed.

1. Each round asks every node; what was not answered by the next round has failed.
2. A node is in service once it answers 200.  It is out of service once a number of checks in a row has failed: it is a
   standby (429), a disaster-recovery secondary (472), not initialised (501), sealed (503), or silent.
3. Traffic goes to the first node in service, in the order given; to the one that had it last while there is none.
"""

from __future__ import annotations

from typing import Any

IN_SERVICE = 200
HEALTH_PATH = "/v1/sys/health"


class HealthChecks:
    """What the checks of some nodes have shown; ``fall`` failures in a row take one out of service."""

    __slots__ = ("chosen", "failures", "fall", "nodes", "open", "round", "serving")

    def __init__(self, nodes: tuple[str, ...], fall: int, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.nodes, self.fall = nodes, fall
        self.round: int = state.get("round", 0)
        self.open: dict[str, None] = dict.fromkeys(state.get("open", ()))
        self.failures: dict[str, int] = dict(state.get("failures", {}))
        self.serving: dict[str, None] = dict.fromkeys(state.get("serving", ()))
        self.chosen: str = state.get("chosen", nodes[0])

    def __repr__(self) -> str:
        return f"HealthChecks({', '.join(self.serving) or 'none'} in service)"

    def begin(self) -> int:
        """Begin a round: what the last one asked in vain has failed; return the number of the new one."""
        for node in tuple(self.open):
            self._note(node, False)
        self.round += 1
        self.open = dict.fromkeys(self.nodes)
        return self.round

    def answered(self, number: int, node: str, status: int) -> bool:
        """Take a node's answer in a round; return whether traffic goes elsewhere now.  A late answer is ignored."""
        if number != self.round or node not in self.open:
            return False
        del self.open[node]
        return self._note(node, status == IN_SERVICE)

    def state(self) -> dict[str, Any]:
        """Return what was seen as plain values."""
        return {
            "round": self.round,
            "open": tuple(self.open),
            "failures": dict(self.failures),
            "serving": tuple(self.serving),
            "chosen": self.chosen,
        }

    def _note(self, node: str, good: bool) -> bool:
        if good:
            self.failures.pop(node, None)
            self.serving[node] = None
        else:
            self.failures[node] = self.failures.get(node, 0) + 1
            if self.failures[node] >= self.fall:
                self.serving.pop(node, None)
        before = self.chosen
        self.chosen = next((each for each in self.nodes if each in self.serving), before)
        return self.chosen != before
