"""Client host: carries out what a client's state machine wants, and tells ledger and trace how operations ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.lab.blueprint import ClientPlan
from labkit.lab.client import Client, Effect, Outcome, Send
from labkit.service.limits import wire_size

if TYPE_CHECKING:
    from labkit.lab.lab import Lab


class ClientHost:
    """One client on the network."""

    __slots__ = ("client", "lab", "name")

    def __init__(self, lab: Lab, name: str, plan: ClientPlan, state: dict[str, Any] | None = None) -> None:
        nodes = tuple(node for cluster in plan.use for node in lab.blueprint.cluster(cluster).node_names)
        self.lab, self.name = lab, name
        self.client = Client(name, plan, nodes, state)

    def __repr__(self) -> str:
        return f"ClientHost({self.name})"

    def start(self) -> None:
        """Set the workload going."""
        self._carry_out(self.client.start(self.lab.now))

    def receive(self, source: str, what: str, payload: tuple[Any, ...]) -> None:
        """Take an answer."""
        _, correlation, response = payload
        self._carry_out(self.client.on_answer(correlation, response))

    def on_timer(self, payload: tuple[Any, ...]) -> None:
        """A timer came back; a changed root token is known to clients as soon as to operators."""
        self.client.token = self.lab.desk.credentials[self.client.plan.use[0]].root_token
        self._carry_out(self.client.on_timer(payload, self.lab.now))

    def state(self) -> dict[str, Any]:
        """Return the client as plain values."""
        return self.client.state()

    def _carry_out(self, effects: list[Effect]) -> None:
        lab = self.lab
        for effect in effects:
            if isinstance(effect, Send):
                body = effect.request.body
                size_bytes = 160 + (wire_size(body) if body else 0)
                payload = ("ask", effect.correlation, effect.request)
                lab.network.send(self.name, effect.node, "request", payload, size_bytes)
            elif isinstance(effect, Outcome):
                self._tell(effect)
            else:
                lab.clock.after(effect.delay_ns, ("timer", self.name, effect.payload))

    def _tell(self, outcome: Outcome) -> None:
        lab, operation = self.lab, outcome.operation
        path = operation.request.path.removeprefix("/v1/")
        cluster = operation.node.rpartition("-")[0]
        if outcome.kind == "answered":
            lab.ledger.acknowledge(lab.now, self.name, path, outcome.correlation)
        elif outcome.kind == "refused":
            lab.ledger.note_refused()
        else:
            lab.ledger.note_unknown()
        row = (operation.started_ns, lab.now, self.name, operation.name, path, cluster)
        lab.trace.record(("outcome", *row, outcome.kind, operation.status, operation.attempts))
        lab.invariants.on_outcome()
