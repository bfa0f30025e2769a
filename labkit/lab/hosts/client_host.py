"""Client host: carries out what a client's state machine wants, and reports how its operations ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from labkit.lab.hosts.client import Client, ClientTimer, Effect, Outcome, SendRequest, SetTimer
from labkit.lab.plan.blueprint import ClientPlan, NodePlan
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import ApiAnswer, ApiRequest, Correlation, malformed_answer, size_of
from labkit.lab.wire.reports import MESSAGE_REFUSED, NOT_ASKED, Observed, OperationEnded
from labkit.service.message import Body


class ClientAccess(NamedTuple):
    """What a client gets in: the token that its preferred cluster accepts now, and what a machine logs in with now."""

    root_token: Callable[[], str]
    login_body: Callable[[str], Body]

    def __repr__(self) -> str:
        return "ClientAccess(not shown)"


class ClientHost:
    """One client on the network."""

    __slots__ = ("access", "client", "name", "refused_messages", "services")

    def __init__(
        self,
        name: str,
        plan: ClientPlan,
        nodes: tuple[NodePlan, ...],
        services: HostServices,
        access: ClientAccess,
        state: dict[str, Any] | None = None,
    ) -> None:
        self.name, self.services, self.access = name, services, access
        self.client = Client(name, plan, nodes, state)
        self.client.login_body = access.login_body
        self.refused_messages: int = (state or {}).get("refused_messages", 0)

    def __repr__(self) -> str:
        return f"ClientHost({self.name})"

    def start(self) -> None:
        """Set the workload going."""
        self._carry_out(self.client.start(self.services.now()))

    def receive(self, source: str, answer: ApiAnswer) -> None:
        """Take an answer; anything else, or one of a node that was not asked, is counted and reported (R25)."""
        wrong = malformed_answer(answer) or self._foreign(source, answer.correlation)
        if wrong:
            self.refused_messages += 1
            fields = (("reason", wrong), ("source", source))
            self.services.emit(Observed(self.services.now(), self.name, MESSAGE_REFUSED, fields))
            return
        self._carry_out(self.client.on_answer(answer.correlation, answer.response, self.services.now()))

    def on_timer(self, timer: ClientTimer) -> None:
        """A timer came back; a changed root token is known to clients as soon as to operators."""
        self.client.token = self.access.root_token()
        self._carry_out(self.client.on_timer(timer, self.services.now()))

    def go_down(self) -> None:
        """Its site goes down: what was under way ends, and what it had in memory is lost."""
        self._carry_out(self.client.go_down())

    def come_up(self) -> None:
        """Its site is up again."""
        self.client.down = False

    def state(self) -> dict[str, Any]:
        """Return the client as plain values."""
        return {**self.client.state(), "refused_messages": self.refused_messages}

    def _foreign(self, source: str, correlation: Correlation) -> str:
        if correlation.number < 0:
            place = -1 - correlation.number
            asked = self.client.nodes[place].name if place < len(self.client.nodes) else ""
            return "" if source == asked else NOT_ASKED
        operation = self.client.pending.get(correlation.number)
        if operation is None or operation.attempts != correlation.attempt or operation.node in ("", source):
            return ""
        return NOT_ASKED

    def _carry_out(self, effects: list[Effect]) -> None:
        services = self.services
        for effect in effects:
            if isinstance(effect, SetTimer):
                services.after(effect.delay_ns, effect.payload, effect.spread_ppm)
            elif isinstance(effect, SendRequest):
                message = ApiRequest(effect.correlation, effect.request)
                services.send(self.name, effect.node, "request", message, size_of(effect.request.body))
            else:
                self._report(effect)

    def _report(self, outcome: Outcome) -> None:
        _, name, started_ns, request, attempts, _, node, status = outcome.operation
        cluster, path, now_ns = self.client.clusters[node], request.path.removeprefix("/v1/"), self.services.now()
        how = (cluster, outcome.kind, status, attempts, outcome.correlation, outcome.seen)
        self.services.emit(OperationEnded(now_ns, started_ns, self.name, name, path, *how))
