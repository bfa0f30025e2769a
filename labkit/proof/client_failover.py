"""The model of a client that fails over: one operation, the nodes that it may ask, and answers that may be late.

A node that is asked answers in any way that a node can, or not at all; whether the operation had an effect there is
known here, and not to the client.  Requests and answers of earlier attempts arrive at any time, also after the
operation ended, or never.

What must hold in every state:

1. An operation ends once.
2. One that ends as refused had no effect.
3. One that ends as answered had its effect, where the answer was given.
4. It is attempted as often as the plan says, and once more for each node that a standby may name.
5. No step raises.

What must be possible in every state: the operation ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from labkit.lab.hosts.client import Client, Outcome, SendRequest
from labkit.lab.plan.blueprint import ClientPlan, ClusterPlan, NodePlan, WorkloadPlan
from labkit.lab.wire.addresses import api_address
from labkit.lab.wire.messages import AttemptTimeout, Correlation, RetryTimer, WorkTimer
from labkit.lab.wire.reports import ANSWERED, REFUSED
from labkit.service.durations import SECOND_NS
from labkit.service.errors import DR_SECONDARY, FORWARDING_LOST
from labkit.service.message import Response

NAME = "shop-1"

ASKED, ARRIVED, TIMED_OUT, TRIED_AGAIN = "asked", "arrived", "timed out", "tried again"


class Reaction(NamedTuple):
    """What a node that is asked does: its answer, whether the operation has its effect, and in words."""

    about: str
    status: int
    code: str = ""
    effect: bool = False
    names_leader: bool = False


REACTIONS = (
    Reaction("carries it out", 200, effect=True),
    Reaction("refuses it", 400),
    Reaction("is sealed or has no leader", 503),
    Reaction("is a secondary", 400, DR_SECONDARY),
    Reaction("names another node as the leader", 307, names_leader=True),
    Reaction("forwards it, and loses that before it is carried out", 503, FORWARDING_LOST),
    Reaction("forwards it, and loses that after it is carried out", 503, FORWARDING_LOST, effect=True),
)


class ClientBounds(NamedTuple):
    """How many nodes each of two clusters has, and how many further attempts the client's plan allows."""

    nodes: int = 2
    retries: int = 2
    forgets_silence: bool = False

    def __str__(self) -> str:
        return f"2 clusters of {self.nodes} nodes, {self.retries} further attempts"


class Answering(NamedTuple):
    """An answer that is on its way: to which attempt, and which reaction it is."""

    attempt: int
    reaction: int
    leader: str = ""


class Shopping(NamedTuple):
    """One state: the client's own, requests and answers on their way, whether there was an effect, how it ended."""

    client: tuple[Any, ...]
    asked: tuple[tuple[int, str], ...] = ()
    answers: tuple[Answering, ...] = ()
    effect: bool = False
    outcome: str = ""
    broken: str = ""


class Doing(NamedTuple):
    """One event: what happens, and which reaction or answer it is about."""

    kind: str
    about: str = ""


class ClientFailover:
    """The model, within bounds; with ``forgets_silence`` the client forgets that an attempt had no answer."""

    def __init__(self, bounds: ClientBounds) -> None:
        self.bounds = bounds
        clusters = [ClusterPlan(name=name, site=name, nodes=bounds.nodes) for name in ("paris", "tokyo")]
        self.nodes = tuple([NodePlan(name=name, cluster=plan) for plan in clusters for name in plan.node_names])
        work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS)
        self.plan = ClientPlan(
            name="shop", site="lisbon", use=("paris", "tokyo"), retries=bounds.retries, workload=(work,)
        )

    def start(self) -> Shopping:
        """Return the state in which the operation has begun: its first attempt is on its way."""
        client = Client(NAME, self.plan, self.nodes)
        return self._after(Shopping(()), client, client.on_timer(WorkTimer(0), 0))

    def successors(self, shopping: Shopping) -> list[tuple[Doing, Shopping]]:
        """Return everything that can happen next."""
        return [] if shopping.broken else list(self._successors(shopping))

    def broken(self, shopping: Shopping) -> str:
        """Return which property a state breaks."""
        return shopping.broken

    def is_fault(self, event: Doing) -> bool:
        """Whether an event counts against the bounds: none does."""
        return False

    def is_goal(self, shopping: Shopping) -> bool:
        """Whether the operation ended."""
        return bool(shopping.outcome)

    def _successors(self, shopping: Shopping) -> Iterator[tuple[Doing, Shopping]]:
        for attempt, node in shopping.asked:
            yield from self._reactions(shopping, attempt, node)
        for answering in dict.fromkeys(shopping.answers):
            yield self._arrived(shopping, answering)
        client = self._client(shopping)
        for operation in tuple(client.pending.values()):
            if operation.node:
                effects = client.on_timer(AttemptTimeout(), self.plan.timeout_ns)
                yield Doing(TIMED_OUT, operation.node), self._after(shopping, client, effects)
            else:
                effects = client.on_timer(RetryTimer(operation.number, operation.attempts), 0)
                yield Doing(TRIED_AGAIN), self._after(shopping, client, effects)

    def _reactions(self, shopping: Shopping, attempt: int, node: str) -> Iterator[tuple[Doing, Shopping]]:
        """Yield what the node that was asked may do."""
        reached = shopping._replace(asked=tuple([each for each in shopping.asked if each[0] != attempt]))
        for number, reaction in enumerate(REACTIONS):
            leaders = [plan.name for plan in self.nodes if plan.name != node] if reaction.names_leader else [""]
            for leader in leaders:
                answers = tuple(sorted([*shopping.answers, Answering(attempt, number, leader)]))
                effect = shopping.effect or reaction.effect
                after = reached._replace(answers=answers, effect=effect)
                if effect and shopping.outcome == REFUSED:
                    after = after._replace(broken="the operation ended as refused, and it has an effect")
                yield Doing(ASKED, f"{node} {reaction.about}"), after

    def _arrived(self, shopping: Shopping, answering: Answering) -> tuple[Doing, Shopping]:
        attempt, number, leader = answering
        _, status, code, _, _ = reaction = REACTIONS[number]
        answers = list(shopping.answers)
        answers.remove(answering)
        client = self._client(shopping)
        headers = {"Location": api_address(leader)} if leader else {}
        effects = client.on_answer(Correlation(NAME, 1, attempt), Response(status, headers, None, code), 0)
        after = self._after(shopping._replace(answers=tuple(answers)), client, effects)
        if ANSWERED == after.outcome != shopping.outcome and not reaction.effect:
            after = after._replace(broken="the operation ends as answered, and that answer was none of its effect")
        return Doing(ARRIVED, f"to attempt {attempt}: {reaction.about}"), after

    def _after(self, shopping: Shopping, client: Client, effects: list[Any]) -> Shopping:
        for effect in effects:
            if isinstance(effect, SendRequest):
                attempt = effect.correlation.attempt
                shopping = shopping._replace(asked=(*shopping.asked, (attempt, effect.node)))
                if attempt > self.plan.retries + 1 + len(self.nodes):
                    shopping = shopping._replace(broken=f"the operation is attempted {attempt} times")
            elif isinstance(effect, Outcome):
                shopping = _ended(shopping, effect.kind)
        return shopping._replace(client=self._plain(client))

    def _plain(self, client: Client) -> tuple[Any, ...]:
        """Return what the client remembers: where it stands, and of its operation how often, whether in vain, where."""
        (operation,) = client.pending.values() or (None,)
        if operation is None:
            return (client.position,)
        silent = operation.silent and not self.bounds.forgets_silence
        return client.position, operation.attempts, silent, operation.node

    def _client(self, shopping: Shopping) -> Client:
        position, *operation = shopping.client
        client = Client(NAME, self.plan, self.nodes)
        client.on_timer(WorkTimer(0), 0)
        client.position, client.timed = position, True
        begun = client.pending.pop(1)
        if operation:
            attempts, silent, node = operation
            client.pending[1] = begun._replace(attempts=attempts, silent=silent, node=node)
        if not operation or not operation[2]:
            client.deadlines.clear()
        return client


def _ended(shopping: Shopping, outcome: str) -> Shopping:
    if shopping.outcome:
        return shopping._replace(broken=f"the operation ends as {outcome}, and had ended as {shopping.outcome}")
    if outcome == REFUSED and shopping.effect:
        return shopping._replace(outcome=outcome, broken="the operation ends as refused, and it had an effect")
    return shopping._replace(outcome=outcome)


def described(event: Doing) -> str:
    """Return an event in a sentence."""
    return {
        ASKED: f"A node is asked: {event.about}.",
        ARRIVED: f"An answer arrives {event.about}.",
        TIMED_OUT: f"The time for an answer of {event.about} is over.",
        TRIED_AGAIN: "The client tries again.",
    }[event.kind]
