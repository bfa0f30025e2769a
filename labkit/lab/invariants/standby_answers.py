"""Standby answers: a standby forwards what is for the active node, and answers it only as decision C16 says (R18).

1. It sends a client elsewhere (307) only without a connection to the active node, or when it is asked not to forward.
2. What is for the active node it does not carry out itself.
"""

from __future__ import annotations

from labkit.lab.invariants.rules import STANDBY_FORWARDS
from labkit.lab.invariants.scene import Judgements, StandingRule
from labkit.lab.wire.reports import RequestAnswered

NO_FORWARDING = "x-vault-no-request-forwarding"


class StandbyAnswers(StandingRule):
    """It keeps nothing."""

    __slots__ = ()

    @property
    def judgements(self) -> Judgements:
        """Answers."""
        return {RequestAnswered: self.on_answered}

    def on_answered(self, report: RequestAnswered) -> None:
        """Judge an answer of a node that does not lead."""
        parts = self._scene.queries.parts
        vault = parts.nodes[report.node].vault
        if vault.core.leadership.active:
            return
        self.judged += 1
        request, status = report.request, report.answer.status
        if status == 307:
            target = parts.directory.resolve(vault.core.leadership.leader_cluster)
            refuses = any(str(name).lower() == NO_FORWARDING for name in request.headers)
            if target is not None and target.running and not refuses:
                why = f"though {target.node} is connected"
                self._found(report.node, f"sent {request.method} {request.path} away, {why}")
        elif 200 <= status < 300 and vault.is_for_active_node(request):
            self._found(report.node, f"carried {request.method} {request.path} out itself")

    def _found(self, node: str, what: str) -> None:
        self._scene.found(STANDBY_FORWARDS, f"{node} is a standby and {what}")
