"""Client: an application that talks to the clusters, with timeout, retry and failover, as a state machine.

1. An operation is attempted against one node at a time.  No answer in time, a node that cannot serve (standby without a
   leader, sealed, disaster-recovery secondary) or a lost connection send it on to the next node; the nodes of the
   preferred cluster come first.  All operations of a client share where it stands.
2. Its outcome is *answered* (2xx), *refused* (certainly no effect) or *unknown* (some attempt got no answer, or the
   standby that forwarded it lost that).
3. One timer is set for all attempts under way: it comes back at the end of the time of the oldest one.
4. A client that checks health sends every attempt to the node that the checks name, and nowhere else: what it takes to
   find out is part of an outage.
5. Further attempts pause longer each time, where the plan says so, and need a budget where it has one.
6. What it holds and saw by its answers is its memory (``client_memory``).
7. The state is plain values; what is to be done comes back as effects (R2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from labkit.lab.hosts.client_memory import ClientMemory
from labkit.lab.hosts.health_checks import HEALTH_PATH, HealthChecks
from labkit.lab.hosts.workload_requests import (
    TOKEN_HEADER,
    Turn,
    build_request,
    counts_apart,
    has_no_machine_token,
    keys_of,
)
from labkit.lab.plan.blueprint import ClientPlan, NodePlan
from labkit.lab.plan.workload_operations import ISSUING, REVOKE_TOKEN, USE_TOKEN
from labkit.lab.wire.addresses import host_of
from labkit.lab.wire.messages import AttemptTimeout, CheckTimer, Correlation, RetryTimer, WorkTimer
from labkit.lab.wire.reports import ANSWERED, REFUSED, UNKNOWN
from labkit.lab.wire.seen_versions import SeenVersion, made_version, read_version
from labkit.service.errors import DR_SECONDARY, FORWARDING_LOST
from labkit.service.message import Body, Request, Response

ClientTimer = WorkTimer | AttemptTimeout | RetryTimer | CheckTimer

MILLION = 1_000_000
MAX_DOUBLINGS = 20
MAX_CREDIT = 10 * MILLION  # ten further attempts
INDEX = "X-Vault-Index"
FORBIDDEN = 403


class Operation(NamedTuple):
    """One operation under way."""

    number: int
    name: str
    started_ns: int
    request: Request
    attempts: int = 0
    silent: bool = False
    node: str = ""
    status: int = 0


class SendRequest(NamedTuple):
    """Effect: send a request to a node under a correlation."""

    node: str
    correlation: Correlation
    request: Request


class SetTimer(NamedTuple):
    """Effect: come back with this payload after a delay, longer or shorter by up to ``spread_ppm`` millionths."""

    delay_ns: int
    payload: ClientTimer
    spread_ppm: int = 0


class Outcome(NamedTuple):
    """Effect: an operation ended as answered, refused or unknown; ``seen`` is what the reading of a secret showed."""

    operation: Operation
    kind: str
    correlation: Correlation
    seen: SeenVersion | None = None


Effect = SendRequest | SetTimer | Outcome


class Client:
    """One client: where it stands among the nodes, and its operations under way."""

    __slots__ = (
        "checks",
        "clusters",
        "counts_apart",
        "credit_ppm",
        "deadlines",
        "down",
        "index",
        "login_body",
        "memory",
        "name",
        "nodes",
        "pending",
        "plan",
        "position",
        "serial",
        "timed",
        "token",
    )

    def __init__(
        self, name: str, plan: ClientPlan, nodes: tuple[NodePlan, ...], state: dict[str, Any] | None = None
    ) -> None:
        state = state or {}
        self.name, self.plan, self.nodes = name, plan, nodes
        self.position: int = state.get("position", 0)
        self.serial: int = state.get("serial", 0)
        self.token: str = state.get("token", "")
        self.index: str = state.get("index", "")
        self.credit_ppm: int = state.get("credit_ppm", MAX_CREDIT)
        names = tuple([node.name for node in nodes])
        self.checks = HealthChecks(names, plan.fall, state.get("checks")) if plan.check_ns else None
        self.pending: dict[int, Operation] = {row[0]: Operation(*row) for row in state.get("pending", ())}
        self.deadlines: dict[int, int] = dict(state.get("deadlines", ()))  # of attempts under way, the first one first
        self.down: bool = state.get("down", False)  # as its whole site is: its work waits for its next turn
        self.timed: bool = state.get("timed", False)  # whether the timer for them is set
        self.memory, self.counts_apart = ClientMemory(state.get("memory")), counts_apart(plan)
        self.login_body: Callable[[str], Body] = _no_machine
        self.clusters = {node.name: node.cluster.name for node in nodes}

    def start(self, now_ns: int) -> list[Effect]:
        """Set the workload going; the clients of a group begin one after another, spread over one interval."""
        place, count = self.plan.names.index(self.name), self.plan.count
        begun: list[Effect] = [
            SetTimer(max(0, work.from_ns - now_ns) + work.every_ns * place // count, WorkTimer(index))
            for index, work in enumerate(self.plan.workload)
        ]
        return [SetTimer(self.plan.check_ns * place // count, CheckTimer()), *begun] if self.checks else begun

    def on_timer(self, timer: ClientTimer, now_ns: int) -> list[Effect]:
        """A timer came back: time for the next operation, for the next attempt, or the end of the time for one."""
        if self.down and isinstance(timer, WorkTimer | CheckTimer):
            return self._miss(timer, now_ns)
        if isinstance(timer, WorkTimer):
            return self._work(timer, now_ns)
        if isinstance(timer, AttemptTimeout):
            return self._time_out(now_ns)
        if isinstance(timer, CheckTimer):
            return self._check()
        operation = self.pending.get(timer.number)
        if operation is None or operation.attempts != timer.attempt:
            return []
        return self._attempt(operation, now_ns)

    def on_answer(self, correlation: Correlation, response: Response, now_ns: int) -> list[Effect]:
        """An answer arrived; one that comes too late is ignored."""
        if correlation.number < 0:
            return self._checked(correlation, response.status)
        operation = self.pending.get(correlation.number)
        if operation is None or operation.attempts != correlation.attempt or not operation.node:
            return []
        operation = Operation(*operation[:-1], response.status)
        if response.ok:
            if self.plan.consistent:
                self.index = response.headers.get(INDEX, self.index)
            return self._end(operation, ANSWERED, correlation, response)
        if response.status == 307:
            return self._redirect(operation, response.headers.get("Location", ""), now_ns)
        if response.code == DR_SECONDARY or response.status == 472:
            return self._fail(operation, self._after_cluster(operation.node))
        if response.code == FORWARDING_LOST:
            operation = operation._replace(silent=True)
        if response.status in (412, 429, 473, 503):
            return self._fail(operation)
        return self._end(operation, UNKNOWN if operation.silent else REFUSED, correlation, response)

    def go_down(self) -> list[Effect]:
        """Its site goes down: what may have happened ends in doubt, and what it remembers is lost."""
        effects: list[Effect] = []
        for operation in tuple(self.pending.values()):
            kind = UNKNOWN if operation.silent or operation.node else REFUSED
            node = operation.node or self.nodes[self.position % len(self.nodes)].name
            effects += self._end(operation._replace(node=node, status=0), kind, self._correlation(operation))
        self.memory.clear()
        self.down, self.position, self.index, self.credit_ppm = True, 0, "", MAX_CREDIT
        return effects

    def _miss(self, timer: WorkTimer | CheckTimer, now_ns: int) -> list[Effect]:
        """A turn that a client misses which is down; the next one comes in time."""
        if isinstance(timer, CheckTimer):
            return [SetTimer(self.plan.check_ns, timer)]
        work = self.plan.workload[timer.workload]
        return [] if work.until_ns and now_ns >= work.until_ns else [SetTimer(work.every_ns, timer)]

    def cluster_of(self, node: str) -> str:
        """Return the cluster that one of the client's nodes belongs to."""
        return self.clusters[node]

    def state(self) -> dict[str, Any]:
        """Return the client as plain values."""
        return {
            "position": self.position,
            "serial": self.serial,
            "token": self.token,
            "pending": tuple(self.pending.values()),
            "deadlines": tuple(self.deadlines.items()),
            "timed": self.timed,
            "down": self.down,
            "index": self.index,
            "credit_ppm": self.credit_ppm,
            "checks": None if self.checks is None else self.checks.state(),
            "memory": self.memory.state(),
        }

    def _check(self) -> list[Effect]:
        """Begin a round of health checks; their correlations count down from -1, node by node."""
        assert self.checks is not None
        number, request = self.checks.begin(), Request("GET", HEALTH_PATH, {})
        asked = [SendRequest(node.name, self._of_check(number, node.name), request) for node in self.nodes]
        return [SetTimer(self.plan.check_ns, CheckTimer()), *asked]

    def _of_check(self, number: int, node: str) -> Correlation:
        """Return the correlation of a node's check: the round is the attempt."""
        assert self.checks is not None
        return Correlation(self.name, -1 - self.checks.nodes.index(node), number)

    def _checked(self, correlation: Correlation, status: int) -> list[Effect]:
        place = -1 - correlation.number
        if self.checks is not None and place < len(self.nodes):
            self.checks.answered(correlation.attempt, self.nodes[place].name, status)
        return []

    def _work(self, timer: WorkTimer, now_ns: int) -> list[Effect]:
        work = self.plan.workload[timer.workload]
        if work.until_ns and now_ns >= work.until_ns:
            return []
        self.serial += 1
        number = self.memory.take_turn(timer.workload) if self.counts_apart else self.serial
        owner = keys_of(self.plan, self.name)
        request = build_request(Turn(self.name, owner, work, number, self.token, self.memory, self.login_body))
        again = SetTimer(work.every_ns, timer)
        if request is None:
            return [again]
        if self.index:
            request = request._replace(headers={**request.headers, INDEX: self.index})
        self.credit_ppm = min(MAX_CREDIT, self.credit_ppm + self.plan.budget_ppm)
        operation = Operation(self.serial, work.operation, now_ns, request)
        if has_no_machine_token(request):
            unsent = operation._replace(node=self.nodes[self.position % len(self.nodes)].name)
            return [again, *self._end(unsent, REFUSED, self._correlation(unsent))]
        return [again, *self._attempt(operation, now_ns)]

    def _attempt(self, operation: Operation, now_ns: int, node: str = "") -> list[Effect]:
        number, name, started_ns, request, attempts, silent, _, status = operation
        if self.checks is not None:
            node = self.checks.chosen
        node = node or self.nodes[self.position % len(self.nodes)].name
        self.pending[number] = Operation(number, name, started_ns, request, attempts + 1, silent, node, status)
        self.deadlines.pop(number, None)  # it goes to the end
        self.deadlines[number] = now_ns + self.plan.timeout_ns
        sent = SendRequest(node, Correlation(self.name, number, attempts + 1), request)
        if self.timed:
            return [sent]
        self.timed = True
        return [sent, SetTimer(self.plan.timeout_ns, AttemptTimeout())]

    def _time_out(self, now_ns: int) -> list[Effect]:
        """End the attempts whose time is over, and set the timer for those whose time is not, if any."""
        effects: list[Effect] = []
        for number in [number for number, at_ns in self.deadlines.items() if at_ns <= now_ns]:
            effects += self._fail(self.pending[number]._replace(silent=True, status=0))
        left = next(iter(self.deadlines.values()), None)
        self.timed = left is not None
        if left is not None:
            effects.append(SetTimer(left - now_ns, AttemptTimeout()))
        return effects

    def _redirect(self, operation: Operation, location: str, now_ns: int) -> list[Effect]:
        """Go where a standby says that the active node is, at once; counted as an attempt."""
        if self.checks is not None:
            return self._fail(operation)
        leader = host_of(location)
        names = [node.name for node in self.nodes]
        if leader not in names or operation.attempts > self.plan.retries + len(names):
            return self._fail(operation)
        self.position = names.index(leader)
        return self._attempt(operation, now_ns, leader)

    def _after_cluster(self, node: str) -> int:
        """Return where the next cluster's nodes begin: all nodes of a secondary refuse alike."""
        cluster = self.cluster_of(node)
        last = max(place for place, other in enumerate(self.nodes) if other.cluster.name == cluster)
        return (last + 1) % len(self.nodes)

    def _fail(self, operation: Operation, onward: int | None = None) -> list[Effect]:
        """This node did not serve: stand at the next (or at ``onward``), try again while there are attempts left."""
        place = self.position % len(self.nodes)
        here = self.nodes[place]
        in_its_cluster = here.cluster.name == self.cluster_of(operation.node)
        if here.name == operation.node or (onward is not None and in_its_cluster):
            self.position = (place + 1) % len(self.nodes) if onward is None else onward
        plan = self.plan
        spent = bool(plan.budget_ppm) and self.credit_ppm < MILLION
        if operation.attempts > plan.retries or spent:
            return self._end(operation, UNKNOWN if operation.silent else REFUSED, self._correlation(operation))
        self.credit_ppm -= MILLION if plan.budget_ppm else 0
        self.pending[operation.number] = operation._replace(node="")
        self.deadlines.pop(operation.number, None)
        delay_ns = plan.backoff_ns
        if plan.max_backoff_ns:
            doublings = min(operation.attempts - 1, MAX_DOUBLINGS)
            delay_ns = min(plan.max_backoff_ns, delay_ns << doublings)
        return [SetTimer(delay_ns, RetryTimer(operation.number, operation.attempts), plan.jitter_ppm)]

    def _end(
        self, operation: Operation, kind: str, correlation: Correlation, response: Response | None = None
    ) -> list[Effect]:
        self.pending.pop(operation.number, None)
        self.deadlines.pop(operation.number, None)
        seen = None if response is None else read_version(operation.request, response)
        if self.counts_apart:
            self._remember(operation, kind, seen, response)
        return [Outcome(operation, kind, correlation, seen)]

    def _remember(self, operation: Operation, kind: str, seen: SeenVersion | None, response: Response | None) -> None:
        """Remember what an operation showed of a secret, and what became of a token by it."""
        memory, request = self.memory, operation.request
        if operation.name in ISSUING:
            memory.hold(response.auth if response is not None and kind == ANSWERED else None)
        elif operation.name == REVOKE_TOKEN:
            memory.revoked((request.body or {})["token"], had_effect=kind != REFUSED)
        elif operation.name == USE_TOKEN:
            text = request.headers[TOKEN_HEADER]
            memory.used(text, had_effect=kind != REFUSED)
            if operation.status == FORBIDDEN:
                memory.drop(text)
        elif response is not None and any(work.cas for work in self.plan.workload):
            memory.see(seen or (made_version(request, response) if kind == ANSWERED else None))

    def _correlation(self, operation: Operation) -> Correlation:
        return Correlation(self.name, operation.number, operation.attempts)


def _no_machine(machine: str) -> Body:
    """Without a cloud no machine has a token."""
    return {}
