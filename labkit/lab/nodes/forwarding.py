"""Forwarding: a standby sends requests on to the active node of its cluster, and the answers back (decision C16).

1. A standby judges, records and spends nothing of what it forwards: it only looks whether the request is about itself.
2. Nothing is forwarded twice: a node that does not serve refuses what was forwarded to it, and so certainly had no part
   in it.  What a host of another cluster forwards is a malformed message.
3. A forwarded request ends with its answer.  When another leadership is seen first, or after a minute, it ends with a
   503 that says that the request may have been carried out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lab.plan.blueprint import NodePlan
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import (
    ApiAnswer,
    ApiRequest,
    Correlation,
    ForwardedAnswer,
    ForwardedRequest,
    ForwardTimeout,
    size_of,
)
from labkit.service.durations import SECOND_NS
from labkit.service.errors import FORWARDING_LOST, NOT_ACTIVE, Unavailable, to_response
from labkit.service.message import Response
from labkit.vault.vault_node import VaultNode

PATIENCE_NS = 60 * SECOND_NS

LOST = "the answer of the active node to this request was lost on its way; the request may have been carried out"
NOT_SERVING = "the node that this request was forwarded to does not serve now; nothing was changed, try again"


class ForwardedCall(NamedTuple):
    """A request under way to the active node: who asked for it, which node has it, and under which leadership."""

    source: str
    correlation: Correlation
    node: str
    term: int


class Forwarding:
    """What one node has forwarded and was not answered yet, by number."""

    __slots__ = ("_incarnation", "_plan", "_services", "_vault", "calls", "serial")

    def __init__(
        self, plan: NodePlan, services: HostServices, vault: VaultNode, incarnation: int, state: dict[str, Any] | None
    ) -> None:
        state = state or {}
        self._plan, self._services, self._vault, self._incarnation = plan, services, vault, incarnation
        self.serial: int = state.get("serial", incarnation << 32)  # no answer to an earlier incarnation fits
        self.calls: dict[int, ForwardedCall] = {number: ForwardedCall(*row) for number, row in state.get("calls", ())}

    def forward(self, source: str, message: ApiRequest) -> bool:
        """Send a request on when it is for the active node and that one is connected; return whether that was done."""
        leadership = self._vault.core.leadership
        if leadership.active or not self._vault.is_for_active_node(message.request):
            return False
        target = self._services.resolve(leadership.leader_cluster)
        if target is None or not target.running:
            return False
        self.serial += 1
        self.calls[self.serial] = ForwardedCall(source, message.correlation, target.node, leadership.term)
        request = message.request._replace(remote_address=source)
        forwarded = ForwardedRequest(self.serial, message.correlation, request)
        self._services.after(PATIENCE_NS, ForwardTimeout(self._incarnation, self.serial))
        self._services.send(self._plan.name, target.node, "forwarded_request", forwarded, size_of(request.body))
        return True

    def on_answer(self, source: str, message: ForwardedAnswer) -> None:
        """Send an answer of the node that has the request on to who asked; any other is ignored."""
        call = self.calls.get(message.number)
        if call is not None and call.node == source:
            self._end(message.number, message.response)

    def on_timeout(self, timer: ForwardTimeout) -> None:
        """The time for an answer is over."""
        if timer.number in self.calls:
            self._lose(timer.number)

    def after_step(self) -> None:
        """Give up what was forwarded under another leadership than the one that is known now."""
        if not self.calls:
            return
        leadership = self._vault.core.leadership
        if leadership.leader:
            for number in [number for number, call in self.calls.items() if call.term != leadership.term]:
                self._lose(number)

    def refuse(self, source: str, message: ForwardedRequest) -> None:
        """Answer what was forwarded to a node that does not serve."""
        self.answer(source, message.number, to_response(Unavailable(NOT_SERVING, code=NOT_ACTIVE)))

    def answer(self, standby: str, number: int, response: Response) -> None:
        """Send the answer to a forwarded request back to the standby that it came from."""
        answer = ForwardedAnswer(number, response)
        self._services.send(self._plan.name, standby, "forwarded_answer", answer, size_of(response.body))

    def state(self) -> dict[str, Any]:
        """Return what is under way as plain values."""
        return {"serial": self.serial, "calls": tuple([(number, tuple(call)) for number, call in self.calls.items()])}

    def _lose(self, number: int) -> None:
        call = self.calls[number]
        self._vault.core.observe("forwarding lost", node=call.node, source=call.source)
        self._end(number, to_response(Unavailable(LOST, code=FORWARDING_LOST)))

    def _end(self, number: int, response: Response) -> None:
        call = self.calls.pop(number)
        answer = ApiAnswer(call.correlation, response)
        aside = self._services.is_node(call.source)  # a node's fetch waits for no bulk
        self._services.send(self._plan.name, call.source, "response", answer, size_of(response.body), aside=aside)
