"""Load balancer: a host in front of clusters; checks their nodes' health and passes requests to one in service.

1. Passing through, it moves connections: a client's stays at its node while that is in service, and the node sees the
   balancer's address only.  Ending TLS, it reads requests: each goes to a node for itself, and X-Forwarded-For names
   the client.
2. A request keeps its correlation, by which the answer finds its client.  While no node is in service the balancer
   answers 503 itself; that certainly had no effect.
3. Connections to a cluster's own port are passed through too.  A secondary's stays at its node while that is in
   service; while none is, what comes is lost.  Ending TLS, the balancer shows a certificate of its own, and has none
   that the other end asks for: no such connection comes about.
4. It takes requests of the API, what belongs to a cluster's port, and answers to what it sent; anything else is refused
   and counted (R25).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lab.hosts.health_checks import HEALTH_PATH, HealthChecks
from labkit.lab.hosts.passage import INWARD, OUTWARD, goes_aside, name_of, passed_bytes
from labkit.lab.plan.blueprint import BalancerPlan
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import (
    ApiAnswer,
    ApiRequest,
    BootstrapAnswer,
    BootstrapRequest,
    CheckTimer,
    Correlation,
    PassedOn,
    ReplicationQuestion,
    ReplicationRefusal,
    malformed,
    malformed_answer,
    size_of,
)
from labkit.lab.wire.reports import MESSAGE_REFUSED, NOT_ASKED, AnswerPassedOn, Observed
from labkit.service.durations import SECOND_NS
from labkit.service.errors import NO_ACTIVE_NODE, Unavailable, to_response
from labkit.service.message import Request, respond

PATIENCE_NS = 60 * SECOND_NS
ENDS_TLS = "tls: certificate signed by unknown authority: something between ends TLS, it has to be passed through"
NONE_IN_SERVICE = "no node behind this load balancer is in service; nothing was changed, try again"


class PassedRequest(NamedTuple):
    """A request that a node has: whose it is, which node has it, and since when."""

    client: str
    node: str
    at_ns: int


class BalancerHost:
    """One load balancer on the network."""

    __slots__ = ("checks", "connected", "passed", "pinned", "plan", "refused_messages", "services")

    def __init__(
        self, plan: BalancerPlan, nodes: tuple[str, ...], services: HostServices, state: dict[str, Any] | None = None
    ) -> None:
        state = state or {}
        self.plan, self.services = plan, services
        self.checks = HealthChecks(nodes, plan.fall, state.get("checks"))
        self.passed: dict[Correlation, PassedRequest] = {
            Correlation(*correlation): PassedRequest(*row) for correlation, row in state.get("passed", ())
        }
        self.pinned: dict[str, str] = dict(state.get("pinned", {}))  # {client: node}
        self.connected: dict[str, str] = dict(state.get("connected", {}))  # {secondary's node: node}
        self.refused_messages: int = state.get("refused_messages", 0)

    def __repr__(self) -> str:
        return f"BalancerHost({self.plan.name}, {', '.join(self.checks.serving) or 'none'} in service)"

    def start(self) -> None:
        """Begin to check."""
        self.services.after(0, CheckTimer())

    def receive(self, source: str, message: Any) -> None:
        """Take a client's request, a node's answer, or what one end of a connection sends the other."""
        if type(message) is ApiAnswer:
            wrong = malformed_answer(message) or self._answered(source, message)
        elif type(message) is ApiRequest:
            wrong = malformed(message) or self._pass_on(source, message)
        elif type(message) in INWARD:
            wrong = malformed(message) or self._pass_in(source, message)
        elif type(message) is PassedOn and type(message.message) in OUTWARD:
            wrong = self._pass_out(source, message)
        else:
            wrong = "a message that no port behind this load balancer takes"
        if wrong:
            self.refused_messages += 1
            fields = (("reason", wrong), ("source", source))
            self.services.emit(Observed(self.services.now(), self.plan.name, MESSAGE_REFUSED, fields))

    def on_timer(self, timer: CheckTimer) -> None:
        """Ask every node for its health, and forget what was never answered."""
        number, request = self.checks.begin(), Request("GET", HEALTH_PATH, {})
        for place, node in enumerate(self.checks.nodes):
            self._send(node, ApiRequest(Correlation(self.plan.name, -1 - place, number), request))
        end_ns = self.services.now() - PATIENCE_NS
        self.passed = {correlation: row for correlation, row in self.passed.items() if row.at_ns > end_ns}
        self.services.after(self.plan.check_ns, timer)

    def go_down(self) -> None:
        """Its site goes down: it forgets every connection, and what it passed on."""
        self.passed, self.pinned, self.connected = {}, {}, {}

    def state(self) -> dict[str, Any]:
        """Return the balancer as plain values."""
        return {
            "checks": self.checks.state(),
            "passed": tuple([(tuple(correlation), tuple(row)) for correlation, row in self.passed.items()]),
            "pinned": dict(self.pinned),
            "connected": dict(self.connected),
            "refused_messages": self.refused_messages,
        }

    def _pass_on(self, client: str, message: ApiRequest) -> str:
        node = self._node_for(client)
        if not node:
            response = to_response(Unavailable(NONE_IN_SERVICE, code=NO_ACTIVE_NODE))
            self._answer(client, ApiAnswer(message.correlation, response))
            return ""
        if self.plan.ends_tls:
            headers = {**message.request.headers, "X-Forwarded-For": client}
            message = message._replace(request=message.request._replace(headers=headers))
        self.passed[message.correlation] = PassedRequest(client, node, self.services.now())
        self._send(node, message)
        return ""

    def _node_for(self, client: str) -> str:
        serving = self.checks.serving
        pinned = self.pinned.get(client, "")
        if pinned in serving and not self.plan.ends_tls:
            return pinned
        if not serving:
            return ""
        self.pinned[client] = self.checks.chosen
        return self.checks.chosen

    def _answered(self, node: str, answer: ApiAnswer) -> str:
        correlation = answer.correlation
        if correlation.asker == self.plan.name:
            place = -1 - correlation.number
            if not 0 <= place < len(self.checks.nodes) or self.checks.nodes[place] != node:
                return NOT_ASKED
            self.checks.answered(correlation.attempt, node, answer.response.status)
            return ""
        row = self.passed.get(correlation)
        if row is None:
            return ""
        if row.node != node:
            return NOT_ASKED
        del self.passed[correlation]
        self.services.emit(AnswerPassedOn(correlation, node))
        self._answer(row.client, answer)
        return ""

    def _pass_in(self, secondary: str, message: ReplicationQuestion | BootstrapRequest) -> str:
        """Pass on what a secondary's node sends to a cluster's port; while no node is in service it is lost."""
        if self.plan.ends_tls:
            self._fail(secondary, message)
            return ""
        if self.connected.get(secondary) not in self.checks.serving:
            self.connected.pop(secondary, None)
            if not self.checks.serving:
                return ""
            self.connected[secondary] = self.checks.chosen
        self._carry(self.connected[secondary], PassedOn(secondary, message), message)
        return ""

    def _fail(self, secondary: str, message: ReplicationQuestion | BootstrapRequest) -> None:
        """Let a connection fail that cannot come about."""
        failed: ReplicationRefusal | BootstrapAnswer
        if isinstance(message, BootstrapRequest):
            failed = BootstrapAnswer(message.number, respond(503, {"errors": [ENDS_TLS]}))
        else:
            serial = message.message["asked" if message.rpc == "echo" else "serial"]
            failed = ReplicationRefusal(message.rpc, serial, ENDS_TLS)
        self._carry(secondary, failed, failed)

    def _pass_out(self, node: str, passed: PassedOn) -> str:
        """Pass on what a node sends to a secondary that is connected to it through here."""
        if type(passed.host) is not str or self.connected.get(passed.host) != node:
            return NOT_ASKED
        wrong = malformed(passed.message)
        if wrong:
            return wrong
        self._carry(passed.host, passed.message, passed.message)
        return ""

    def _carry(self, target: str, sent: Any, message: Any) -> None:
        what, size_bytes = name_of(message), passed_bytes(message)
        self.services.send(self.plan.name, target, what, sent, size_bytes, aside=goes_aside(message))

    def _send(self, node: str, message: ApiRequest) -> None:
        self.services.send(self.plan.name, node, "request", message, size_of(message.request.body))

    def _answer(self, client: str, answer: ApiAnswer) -> None:
        self.services.send(self.plan.name, client, "response", answer, size_of(answer.response.body))
