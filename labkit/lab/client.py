"""Client: an application that talks to the clusters, with timeout, retry and failover, as a state machine.

1. An operation is tried against one node at a time.  No answer in time, a node that cannot serve (standby without a
   leader, sealed, disaster-recovery secondary) or a lost connection send it on to the next node; the nodes of the
   preferred cluster come first.  All operations of a client share where it stands.
2. Its outcome is *answered* (2xx), *refused* (certainly no effect) or *unknown* (some try stayed without an answer).
3. The state is plain values; what is to be done comes back as effects (R2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lab.blueprint import ClientPlan, WorkloadPlan
from labkit.service.encoding import to_base64
from labkit.service.message import Request, Response

PATH_DISABLED = "path disabled in replication DR secondary mode"


class Operation(NamedTuple):
    """One operation under way."""

    number: int
    name: str
    started_ns: int
    request: Request
    attempts: int = 0
    silent: int = 0
    node: str = ""
    status: int = 0


class Send(NamedTuple):
    """Effect: send a request to a node under a correlation."""

    node: str
    correlation: str
    request: Request


class Timer(NamedTuple):
    """Effect: come back after a delay with this payload."""

    delay_ns: int
    payload: tuple[Any, ...]


class Outcome(NamedTuple):
    """Effect: an operation ended as answered, refused or unknown."""

    operation: Operation
    kind: str
    correlation: str


Effect = Send | Timer | Outcome


class Client:
    """One client: where it stands among the nodes, and its operations under way."""

    __slots__ = ("name", "nodes", "open", "plan", "position", "serial", "token")

    def __init__(
        self, name: str, plan: ClientPlan, nodes: tuple[str, ...], state: dict[str, Any] | None = None
    ) -> None:
        state = state or {}
        self.name, self.plan, self.nodes = name, plan, nodes
        self.position: int = state.get("position", 0)
        self.serial: int = state.get("serial", 0)
        self.token: str = state.get("token", "")
        self.open: dict[int, Operation] = {row[0]: Operation(*row) for row in state.get("open", ())}

    def start(self, now_ns: int) -> list[Effect]:
        """Set the workload going; the clients of a group begin one after another, spread over one interval."""
        place, count = self.plan.names.index(self.name), self.plan.count
        return [
            Timer(max(0, work.from_ns - now_ns) + work.every_ns * place // count, ("work", index))
            for index, work in enumerate(self.plan.workload)
        ]

    def on_timer(self, payload: tuple[Any, ...], now_ns: int) -> list[Effect]:
        """A timer came back: time for the next operation, for the next try, or the end of patience with one."""
        kind, number, *rest = payload
        if kind == "work":
            return self._work(number, now_ns)
        operation = self.open.get(number)
        if operation is None or operation.attempts != rest[0]:
            return []
        if kind == "retry":
            return self._attempt(operation)
        if not operation.node:
            return []
        return self._fail(operation._replace(silent=operation.silent + 1, status=0))

    def on_answer(self, correlation: str, response: Response) -> list[Effect]:
        """An answer arrived; one that comes too late is nobody's."""
        _, number, attempt = correlation.rsplit("/", 2)
        operation = self.open.get(int(number))
        if operation is None or operation.attempts != int(attempt) or not operation.node:
            return []
        operation = operation._replace(status=response.status)
        if response.ok:
            return self._end(operation, "answered", correlation)
        if response.status == 307:
            return self._follow(operation, response.headers.get("Location", ""))
        if PATH_DISABLED in response.errors or response.status == 472:
            return self._fail(operation, self._after_cluster(operation.node))
        if response.status in (429, 473, 503):
            return self._fail(operation)
        return self._end(operation, "unknown" if operation.silent else "refused", correlation)

    def state(self) -> dict[str, Any]:
        """Return the client as plain values."""
        return {
            "position": self.position,
            "serial": self.serial,
            "token": self.token,
            "open": tuple(self.open.values()),
        }

    def _work(self, index: int, now_ns: int) -> list[Effect]:
        work = self.plan.workload[index]
        if work.until_ns and now_ns >= work.until_ns:
            return []
        self.serial += 1
        request = build_request(self.name, work, self.serial, self.token)
        operation = Operation(self.serial, work.operation, now_ns, request)
        return [Timer(work.every_ns, ("work", index)), *self._attempt(operation)]

    def _attempt(self, operation: Operation, node: str = "") -> list[Effect]:
        node = node or self.nodes[self.position % len(self.nodes)]
        operation = operation._replace(attempts=operation.attempts + 1, node=node)
        self.open[operation.number] = operation
        correlation = f"{self.name}/{operation.number}/{operation.attempts}"
        return [
            Send(node, correlation, operation.request),
            Timer(self.plan.timeout_ns, ("timeout", operation.number, operation.attempts)),
        ]

    def _follow(self, operation: Operation, location: str) -> list[Effect]:
        """Go where a standby says that the active node is, at once; counted as a try."""
        leader = location.removeprefix("https://").removeprefix("http://").partition(":")[0]
        if leader not in self.nodes or operation.attempts > self.plan.retries + len(self.nodes):
            return self._fail(operation)
        self.position = self.nodes.index(leader)
        return self._attempt(operation, leader)

    def _after_cluster(self, node: str) -> int:
        """Return where the next cluster's nodes begin: all nodes of a secondary refuse alike."""
        cluster = _cluster_of(node)
        here = max(place for place, other in enumerate(self.nodes) if _cluster_of(other) == cluster)
        return (here + 1) % len(self.nodes)

    def _fail(self, operation: Operation, onward: int | None = None) -> list[Effect]:
        """This node did not serve: stand at the next one (or at ``onward``), try again while there are tries left."""
        place = self.position % len(self.nodes)
        stands_there = self.nodes[place] == operation.node
        if stands_there or (onward is not None and _cluster_of(self.nodes[place]) == _cluster_of(operation.node)):
            self.position = (place + 1) % len(self.nodes) if onward is None else onward
        if operation.attempts > self.plan.retries:
            correlation = f"{self.name}/{operation.number}/{operation.attempts}"
            return self._end(operation, "unknown" if operation.silent else "refused", correlation)
        self.open[operation.number] = operation._replace(node="")
        return [Timer(self.plan.backoff_ns, ("retry", operation.number, operation.attempts))]

    def _end(self, operation: Operation, kind: str, correlation: str) -> list[Effect]:
        self.open.pop(operation.number, None)
        return [Outcome(operation, kind, correlation)]


def _cluster_of(node: str) -> str:
    return node.rpartition("-")[0]


def build_request(client: str, work: WorkloadPlan, number: int, token: str) -> Request:
    """Make the request of a workload's operation: the names that scenario files use for them are the keys here."""
    return BUILDERS[work.operation](client, work, number, {"X-Vault-Token": token})


def _put_secret(client: str, work: WorkloadPlan, number: int, headers: dict[str, str]) -> Request:
    key = number % work.keys if work.keys else number
    body = {"data": {"number": number, "value": "x" * work.size_bytes}}
    return Request("POST", f"/v1/secret/data/{client}/{key}", headers, body)


def _get_secret(client: str, work: WorkloadPlan, number: int, headers: dict[str, str]) -> Request:
    key = number % work.keys if work.keys else number
    return Request("GET", f"/v1/secret/data/{client}/{key}", headers)


def _encrypt(client: str, work: WorkloadPlan, number: int, headers: dict[str, str]) -> Request:
    plaintext = to_base64(number.to_bytes(8, "big").rjust(work.size_bytes, b"x"))
    return Request("POST", f"/v1/transit/encrypt/{client}", headers, {"plaintext": plaintext})


BUILDERS = {"put-secret": _put_secret, "get-secret": _get_secret, "encrypt": _encrypt}
