"""Load balancer: a host in front of clusters; checks their nodes' health and passes requests to one in service.

1. Passing through, it moves connections: a client's stays at its node while that is in service, and the node sees the
   balancer's address only.  Ending TLS, it reads requests: each goes to a node for itself, and X-Forwarded-For names
   the client.
2. A request keeps its correlation, by which the answer finds its client.  While no node is in service the balancer
   answers 503 itself; that certainly had no effect.
3. It takes requests of the API, and answers to what it sent; anything else is refused and counted (R25).  A cluster's
   own port needs the client's certificate at the other end, so nothing of replication passes here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lab.blueprint import BalancerPlan
from labkit.lab.health_checks import HEALTH_PATH, HealthChecks
from labkit.lab.host_services import HostServices
from labkit.lab.messages import ApiAnswer, ApiRequest, CheckTimer, Correlation, malformed, malformed_answer, size_of
from labkit.lab.reports import MESSAGE_REFUSED, NOT_ASKED, Observed
from labkit.service.durations import SECOND_NS
from labkit.service.errors import NO_ACTIVE_NODE, Unavailable, to_response
from labkit.service.message import Request

PATIENCE_NS = 60 * SECOND_NS
NONE_IN_SERVICE = "no node behind this load balancer is in service; nothing was changed, try again"


class PassedRequest(NamedTuple):
    """A request that a node has: whose it is, which node has it, and since when."""

    client: str
    node: str
    at_ns: int


class BalancerHost:
    """One load balancer on the network."""

    __slots__ = ("checks", "passed", "pinned", "plan", "refused_messages", "services")

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
        self.refused_messages: int = state.get("refused_messages", 0)

    def __repr__(self) -> str:
        return f"BalancerHost({self.plan.name}, {', '.join(self.checks.serving) or 'none'} in service)"

    def start(self) -> None:
        """Begin to check."""
        self.services.after(0, CheckTimer())

    def receive(self, source: str, message: Any) -> None:
        """Take a client's request, or a node's answer."""
        if type(message) is ApiAnswer:
            wrong = malformed_answer(message) or self._answered(source, message)
        elif type(message) is ApiRequest:
            wrong = malformed(message) or self._pass_on(source, message)
        else:
            wrong = "no message of the API: only its own port stands behind a load balancer"
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

    def state(self) -> dict[str, Any]:
        """Return the balancer as plain values."""
        return {
            "checks": self.checks.state(),
            "passed": tuple((tuple(correlation), tuple(row)) for correlation, row in self.passed.items()),
            "pinned": dict(self.pinned),
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
        self._answer(row.client, answer)
        return ""

    def _send(self, node: str, message: ApiRequest) -> None:
        self.services.send(self.plan.name, node, "request", message, size_of(message.request.body))

    def _answer(self, client: str, answer: ApiAnswer) -> None:
        self.services.send(self.plan.name, client, "response", answer, size_of(answer.response.body))
