"""Node: one vault of a cluster on the network; answers requests, carries out its vault's Fetches, stands for election.

A standby answers what is about itself and forwards the rest (``forwarding``).

1. What waits here is plain data: requests that are suspended, and fetches under way by number (``fetching``).
2. The node that holds the lease is the active one (``election``); only the active node does what falls due.
3. A crash takes everything in memory away: the vault is sealed afterwards, and timers set before it are ignored.
4. A commit is reported before its answer is sent.
5. A message that is not what its kind should be, or comes from a host that may not send it (``senders``), is counted
   and reported, and read no further; a connection whose credentials are refused is counted as well (R25).
6. While a reindex commits, writes wait for its end (D9).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from labkit.lab.nodes import candidacy, fetching
from labkit.lab.nodes.commit_reports import READS, CommitReports
from labkit.lab.nodes.election import RENEW_NS
from labkit.lab.nodes.forwarding import Forwarding
from labkit.lab.nodes.replication_link import ReplicationLink
from labkit.lab.nodes.senders import foreign
from labkit.lab.nodes.wall_clock import WallClock
from labkit.lab.plan.blueprint import NodePlan
from labkit.lab.wire import reports
from labkit.lab.wire.addresses import api_address, cluster_address
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import (
    ApiAnswer,
    ApiRequest,
    BootstrapAnswer,
    Correlation,
    DueTimer,
    FetchStart,
    FetchTimeout,
    ForwardedAnswer,
    ForwardedRequest,
    ForwardTimeout,
    LeaseTimer,
    NodeTimer,
    malformed,
    size_of,
)
from labkit.service.message import Request, Response, Suspended, silence
from labkit.vault.core import Core, Environment, Leadership, Settings
from labkit.vault.files import Files
from labkit.vault.replication.mode import Mode
from labkit.vault.replication.state import State
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.storage import Storage
from labkit.vault.vault_node import VaultNode

SYSTEM = "system"
"""The kind of the mount that answers ``sys/`` in each namespace."""

OF_REPLICATION = "/replication/"
"""What is in the path of every call of replication, unless it is percent-encoded."""


class Asker(NamedTuple):
    """Who awaits an answer: a host, under a correlation; ``forwarded`` is a standby's number for it, None without one.

    The correlation of a forwarded request is that of whoever asked the standby.
    """

    host: str
    correlation: Correlation
    forwarded: int | None = None


class NodeHost:
    """A node: its vault, the requests that wait in it, what it forwarded, and its replication link."""

    def __init__(
        self,
        plan: NodePlan,
        services: HostServices,
        store: Storage,
        files: Files,
        state: dict[str, Any] | None = None,
    ) -> None:
        state = state or {}
        self.plan, self.services, self.store, self.files = plan, services, store, files
        self.name, self.cluster = plan.name, plan.cluster.name
        self.incarnation: int = state.get("incarnation", 0)
        self.serial: int = state.get("serial", 0)
        self.suspended: dict[int, tuple[Suspended, Asker]] = dict(state.get("suspended", {}))
        self.fetches: dict[int, tuple[int, str]] = dict(state.get("fetches", {}))  # {number: (request, host asked)}
        self.joined: dict[int, tuple[int, ...]] = dict(state.get("joined", {}))  # further requests, by fetch
        self.timer_ns: int = state.get("timer_ns", 0)
        self._timed: tuple[int | None, int] | None = None  # for what the timer was looked at last, and at which clock
        self.followed: tuple[Leadership | None, tuple[str, int]] = (
            None,
            ("", 0),
        )  # who leads, as it was looked at last
        self.served: bool = state.get("served", False)
        self.abstains_until_ns: int = state.get("abstains_until_ns", 0)
        self.waiting: list[tuple[str, ApiRequest | ForwardedRequest]] = list(state.get("waiting", ()))
        self.refused_messages: int = state.get("refused_messages", 0)
        self.entropy = services.entropy(self.incarnation, state.get("counter", 0))
        clock = state.get("clock", (plan.offset_ns, plan.drift_ppm))
        self.clock = WallClock(services.now, plan.start_wall_ns, *clock)
        self.vault = self._build(state.get("vault"))
        self._connect(state)

    def __repr__(self) -> str:
        return f"NodeHost({self.name})"

    @property
    def core(self) -> Core:
        """The inside of the node's vault."""
        return self.vault.core

    @property
    def journal(self) -> Journal:
        """The journal of the cluster's store, as this node keeps it."""
        return self.core.replica.journal

    @property
    def sync(self) -> State | None:
        """Where a secondary's replication stands; None on any other node."""
        sync: State | None = self.core.replica.sync
        return sync

    @property
    def mode(self) -> Mode:
        """The cluster's replication mode, as this node knows it."""
        return self.core.replica.mode

    @property
    def leadership(self) -> Leadership:
        """Whether this node leads its cluster, under which term, and who does if it does not."""
        return self.core.leadership

    @property
    def active(self) -> bool:
        """Whether this node serves: unsealed, which no node is after a crash, and holding the lease."""
        core = self.vault.core
        return core.keys.barrier is not None and core.leadership.active

    def boot(self, stagger_ns: int) -> None:
        """Set the node's own timer going; those of one cluster look at the lease one after another."""
        self.services.after(stagger_ns, LeaseTimer(self.incarnation))

    def receive(self, source: str, message: Any) -> None:
        """Take a message that arrived; a malformed one is refused."""
        wrong = malformed(message) or foreign(self, source, message)
        if wrong:
            self.core.observe(reports.MESSAGE_REFUSED, source=source, reason=wrong)
            return
        handler = MESSAGE_HANDLERS.get(type(message))
        if handler is not None:
            handler(self, source, message)
        else:
            self.link.receive(source, message)
        self.after_step()

    def on_timer(self, timer: NodeTimer) -> None:
        """A timer came back; one of an earlier incarnation is ignored."""
        if timer.incarnation != self.incarnation:
            return
        if type(timer) is LeaseTimer and not self.served and candidacy.follows_still(self):
            self.services.after(RENEW_NS, timer)
            return
        handler = TIMER_HANDLERS.get(type(timer))
        if handler is not None:
            handler(self, timer)
        else:
            self.link.on_timer(timer)
        self.after_step()

    def crash(self) -> None:
        """Lose everything in memory."""
        self.incarnation += 1
        self.suspended, self.fetches, self.timer_ns, self.served, self.abstains_until_ns = {}, {}, 0, False, 0
        self.waiting, self.joined = [], {}
        self.entropy = self.services.entropy(self.incarnation, 0)
        self.vault = self._build(None)
        self._connect({})

    def after_step(self) -> None:
        """After any step: replicate what was written, report a changed service, keep the timer for what falls due."""
        if self.commits.made:
            self.commits.report()
        if self.waiting and not self._is_locked:
            waited, self.waiting = self.waiting, []
            for source, message in waited:
                self.receive(source, message)
        self.link.after_step()
        if self.forwarding.calls:
            self.forwarding.after_step()
        core = self.vault.core
        active = core.keys.barrier is not None and core.leadership.active
        if core.time_decided:
            core.time_decided, self.clock.decided = False, self.clock.is_wrong
        if active != self.served:
            self.served = active
            self.services.emit(reports.ServiceChanged(self.services.now(), self.cluster))
        if active and core.next_due_ns != 0:  # 0: nothing ever falls due
            self._keep_timer(core)

    def _keep_timer(self, core: Core) -> None:
        """Set the timer for what falls due first, unless one is set for that since the clock was changed last."""
        is_known = core.next_due_ns is not None and core.replica.rebuild is None
        if is_known and self.timer_ns and (core.next_due_ns, self.clock.changes) == self._timed:
            return
        due_ns = self.vault.next_due()
        self._timed = (core.next_due_ns, self.clock.changes)
        if due_ns is not None:
            now_ns = self.services.now()
            at_ns = max(now_ns, self.clock.lab_ns(due_ns))
            if not self.timer_ns or at_ns < self.timer_ns:
                self.timer_ns = at_ns
                self.services.after(at_ns - now_ns, DueTimer(self.incarnation))

    def state(self) -> dict[str, Any]:
        """Return the node as plain values (R3)."""
        return {
            "incarnation": self.incarnation,
            "serial": self.serial,
            "suspended": dict(self.suspended),
            "fetches": dict(self.fetches),
            "joined": dict(self.joined),
            "timer_ns": self.timer_ns,
            "served": self.served,
            "abstains_until_ns": self.abstains_until_ns,
            "waiting": tuple(self.waiting),
            "refused_messages": self.refused_messages,
            "counter": self.entropy.counter,
            "clock": self.clock.state(),
            "vault": self.vault.state(),
            "link": self.link.state(),
            "forwarding": self.forwarding.state(),
        }

    def _connect(self, state: dict[str, Any]) -> None:
        parts = (self.plan, self.services, self.vault, self.incarnation)
        self.link = ReplicationLink(*parts, state.get("link"))
        self.forwarding = Forwarding(*parts, state.get("forwarding"))
        self.commits.link = self.link

    def _build(self, state: dict[str, Any] | None) -> VaultNode:
        environment = Environment(
            self.clock.now,
            self.entropy,
            self._observer(),
            lambda fetch: silence(fetch.address),
            steady=self.services.now,
        )
        peers = [name for name in self.plan.cluster.node_names if name != self.name]
        settings = Settings(
            version=self.plan.version,
            cluster_name=self.cluster,
            node=self.name,
            api_address=api_address(self.name),
            cluster_address=cluster_address(self.name),
            peer_api_addresses=tuple(map(api_address, peers)),
            peer_cluster_addresses=tuple(map(cluster_address, peers)),
            high_availability=True,
            backlog_entries=self.plan.cluster.backlog_entries,
        )
        vault = VaultNode(self.store, environment, settings, state, self.files)
        self.commits = CommitReports(self.plan, self.services, vault.core, self.store)
        vault.core.on_commit, vault.core.on_step_down = self.commits.note, partial(candidacy.step_down, self)
        if state is None:
            vault.set_leadership(Leadership(active=False))
        return vault

    def _observer(self) -> Callable[..., None]:
        services, name = self.services, self.name

        def observe(kind: str, **fields: Any) -> None:
            self.refused_messages += kind in reports.REFUSALS
            services.emit(reports.Observed(services.now(), name, kind, tuple(sorted(fields.items()))))

        return observe

    # ---- messages

    def _on_request(self, source: str, message: ApiRequest) -> None:
        core = self.vault.core
        if core.replica.rebuild is not None and self._waits(source, message):
            return
        if core.leadership.active or not self.forwarding.forward(source, message):
            request = Request(*message.request[:-1], source)
            self._handle(request, Asker(source, message.correlation, None))

    def _on_forwarded_request(self, source: str, message: ForwardedRequest) -> None:
        if self._waits(source, message):
            return
        if self.active:
            self._handle(message.request, Asker(source, message.correlation, message.number))
        else:
            self.forwarding.refuse(source, message)

    def _waits(self, source: str, message: ApiRequest | ForwardedRequest) -> bool:
        """Keep a request that has to wait, and return whether it has to."""
        if not self._is_locked or message.request.method in READS:
            return False
        self.waiting.append((source, message))
        return True

    @property
    def _is_locked(self) -> bool:
        """Whether the commit of a reindex lets no write come between."""
        rebuild = self.journal.rebuild
        return rebuild is not None and rebuild.is_committing(self.clock.now()) and self.active

    def _on_forwarded_answer(self, source: str, message: ForwardedAnswer) -> None:
        self.forwarding.on_answer(source, message)

    def _handle(self, request: Request, asker: Asker) -> None:
        self._hand_over(request, self.vault.handle(request), asker)

    def _on_answer(self, source: str, message: ApiAnswer) -> None:
        self._resume(message.correlation.number, message.response)

    def _on_bootstrap_answer(self, source: str, message: BootstrapAnswer) -> None:
        self._resume(message.number, message.response)

    def _resume(self, number: int, answer: Response) -> None:
        """Go on with the requests that waited for this fetch; when none does any more, the answer is ignored."""
        for request_number in fetching.waiting_for(self, number):
            suspended, asker = self.suspended.pop(request_number)
            self._hand_over(suspended.request, self.vault.resume(suspended, answer), asker, resumed=True)

    def _hand_over(
        self, request: Request, outcome: Response | Suspended, asker: Asker, *, resumed: bool = False
    ) -> None:
        """Report what a step committed; send its answer back, or keep the suspended request and carry its fetch out."""
        outcome = fetching.hashed(self.vault.resume, outcome)
        if self.commits.made:
            route = None if resumed else self.vault.resolved
            of_system = route is not None and route.mount is not None and route.mount.kind == SYSTEM
            self.commits.report(asker.correlation, request, outcome, resumed=resumed, of_system=of_system)
        if isinstance(outcome, Response):
            emit = self.services.emit
            emit(reports.RequestAnswered(self.cluster, self.name, request, outcome, asker.correlation))
            if outcome.status == 403 or OF_REPLICATION in request.path or "%" in request.path:
                emit(reports.CallAnswered(self.cluster, self.name, request, outcome))
            if asker.forwarded is not None:
                self.forwarding.answer(asker.host, asker.forwarded, outcome)
                return
            answer = ApiAnswer(asker.correlation, outcome)
            aside = self.services.is_node(asker.host)  # a node's fetch waits for no bulk
            self.services.send(self.name, asker.host, "response", answer, size_of(outcome.body), aside=aside)
            return
        self.suspended[outcome.number] = (outcome, asker)
        fetching.begin(self, outcome.number, outcome.fetch)

    # ---- timers

    def _on_lease_timer(self, timer: LeaseTimer) -> None:
        candidacy.stand_for_election(self)
        self.services.after(RENEW_NS, timer)

    def _on_fetch_start(self, timer: FetchStart) -> None:
        fetching.start(self, timer.number)

    def _on_fetch_timeout(self, timer: FetchTimeout) -> None:
        if timer.number in self.fetches:
            self._resume(timer.number, silence("no answer in time"))

    def _on_forward_timeout(self, timer: ForwardTimeout) -> None:
        self.forwarding.on_timeout(timer)

    def _on_due_timer(self, timer: DueTimer) -> None:
        self.timer_ns = 0
        if self.active:
            self.vault.tick()


MESSAGE_HANDLERS: dict[type, Callable[[NodeHost, str, Any], None]] = {
    ApiRequest: NodeHost._on_request,
    ApiAnswer: NodeHost._on_answer,
    ForwardedRequest: NodeHost._on_forwarded_request,
    ForwardedAnswer: NodeHost._on_forwarded_answer,
    BootstrapAnswer: NodeHost._on_bootstrap_answer,
}
TIMER_HANDLERS: dict[type, Callable[[NodeHost, Any], None]] = {
    LeaseTimer: NodeHost._on_lease_timer,
    FetchStart: NodeHost._on_fetch_start,
    FetchTimeout: NodeHost._on_fetch_timeout,
    ForwardTimeout: NodeHost._on_forward_timeout,
    DueTimer: NodeHost._on_due_timer,
}
