"""Host: one node of a cluster on the network; answers requests, carries out its vault's Fetches, holds the lease.

1. What waits here is plain data: requests that are suspended, and fetches under way by correlation.
2. The node that holds the lease in the shared store is the active one.  It renews each second; a standby that finds the
   lease run out claims the next term; commits carry the term, so a leader that was overtaken cannot write (R4).
3. A crash takes everything in memory away: the vault is sealed afterwards, and its timers come back to nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from labkit.lab.chance import SeededEntropy
from labkit.lab.lease import LEASE_NS, RENEW_NS, Lease, read_lease, write_lease
from labkit.lab.shipping import Shipping
from labkit.service.limits import measure
from labkit.service.message import Fetch, Request, Response, Suspended, silence
from labkit.vault.context import Duty, Settings, Surroundings
from labkit.vault.vault import Vault

if TYPE_CHECKING:
    from labkit.lab.blueprint import ClusterPlan
    from labkit.lab.lab import Lab

HEADER_BYTES = 160
READS = ("GET", "HEAD", "LIST")
API_PORT, CLUSTER_PORT = 8200, 8201


class NodeHost:
    """A node: its vault, the requests that wait in it, and what it ships."""

    def __init__(self, lab: Lab, name: str, plan: ClusterPlan, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.lab, self.name, self.plan = lab, name, plan
        self.incarnation: int = state.get("incarnation", 0)
        self.serial: int = state.get("serial", 0)
        self.suspended: dict[int, tuple[Suspended, str, str]] = dict(state.get("suspended", {}))
        self.fetches: dict[int, int] = dict(state.get("fetches", {}))
        self.timer_ns: int = state.get("timer_ns", 0)
        self.entropy = self._seeded(state.get("counter", 0))
        self.vault = self._build(state.get("vault"))
        self.shipping = Shipping(self, state.get("shipping"))

    def __repr__(self) -> str:
        return f"NodeHost({self.name})"

    @property
    def address(self) -> str:
        """Where the node's API answers."""
        return f"http://{self.name}:{API_PORT}"

    @property
    def active(self) -> bool:
        """Whether this node serves: up, unsealed, and holding the lease."""
        return self.lab.network.up(self.name) and not self.vault.sealed and self.vault.core.duty.active

    def boot(self, stagger_ns: int) -> None:
        """Set the node's own timer going; those of one cluster look at the lease one after another."""
        self.lab.clock.after(stagger_ns, ("timer", self.name, ("lease", self.incarnation)))

    def receive(self, source: str, what: str, payload: Any) -> None:
        """Take a message that arrived."""
        kind, number, *rest = payload
        if kind == "ask":
            self._answer(source, number, rest[0])
        elif kind == "answer":
            self._resume(number, rest[0])
        else:
            self.shipping.receive(source, what, payload)
        self.follow()

    def on_timer(self, payload: tuple[Any, ...]) -> None:
        """A timer came back; one of an earlier incarnation is nobody's."""
        kind, incarnation, *rest = payload
        if incarnation != self.incarnation or not self.lab.network.up(self.name):
            return
        if kind == "lease":
            self._keep_lease()
            self.lab.clock.after(RENEW_NS, ("timer", self.name, ("lease", self.incarnation)))
        elif kind == "fetch":
            if rest[0] in self.fetches:
                self._resume(rest[0], silence("no answer in time"))
        elif kind == "due":
            self.timer_ns = 0
            if self.active:
                self.vault.tick()
        else:
            self.shipping.on_timer(kind, rest)
        self.follow()

    def crash(self) -> None:
        """Lose everything in memory."""
        self.incarnation += 1
        self.suspended, self.fetches, self.timer_ns = {}, {}, 0
        self.entropy = self._seeded(0)
        self.vault = self._build(None)
        self.shipping = Shipping(self, None)

    def follow(self) -> None:
        """After any step: ship what was written, keep the timer for what falls due, tell of a change of mode."""
        self.shipping.follow()
        due = self.vault.next_due() if self.active else None
        if due is not None:
            at = max(self.lab.now, due - self.lab.epoch_ns)
            if not self.timer_ns or at < self.timer_ns:
                self.timer_ns = at
                self.lab.clock.at(at, ("timer", self.name, ("due", self.incarnation)))

    def state(self) -> dict[str, Any]:
        """Return the node as plain values (R3)."""
        return {
            "incarnation": self.incarnation,
            "serial": self.serial,
            "suspended": dict(self.suspended),
            "fetches": dict(self.fetches),
            "timer_ns": self.timer_ns,
            "counter": self.entropy.counter,
            "vault": self.vault.state(),
            "shipping": self.shipping.state(),
        }

    def _seeded(self, counter: int) -> SeededEntropy:
        label = (self.lab.branch_label, self.plan.name, self.name, self.incarnation)
        return SeededEntropy(self.lab.seed, *label, counter=counter)

    def _build(self, state: dict[str, Any] | None) -> Vault:
        surroundings = Surroundings(
            lambda: self.lab.epoch_ns + self.lab.now,
            self.entropy,
            self._observer(),
            lambda fetch: silence(fetch.address),
        )
        settings = Settings(
            version=self.plan.version,
            cluster_name=self.plan.name,
            node=self.name,
            api_address=self.address,
            cluster_address=f"https://{self.name}:{CLUSTER_PORT}",
            high_availability=True,
            ring_entries=self.plan.ring_entries,
        )
        files = self.lab.files[self.plan.name]
        vault = Vault(self.lab.stores[self.plan.name], surroundings, settings, state, files)
        if state is None:
            vault.set_duty(Duty(active=False))
        return vault

    def _observer(self) -> Callable[..., None]:
        record, lab, name = self.lab.trace.record, self.lab, self.name

        def observe(kind: str, **fields: Any) -> None:
            record(("observed", lab.now, name, kind, tuple(sorted(fields.items()))))

        return observe

    def _answer(self, source: str, correlation: str, request: Request) -> None:
        request = request._replace(remote_address=source)
        commits = self.vault.core.commits
        outcome = self.vault.handle(request)
        self._note_commit(correlation, request, commits)
        self._hand_over(outcome, source, correlation)

    def _hand_over(self, outcome: Response | Suspended, source: str, correlation: str) -> None:
        """Send an answer back, or put the suspended request by and carry its fetch out."""
        if isinstance(outcome, Response):
            self.send(source, "response", ("answer", correlation, outcome), size_of(outcome.body))
            return
        self.serial += 1
        self.suspended[outcome.number] = (outcome, source, correlation)
        self.fetches[self.serial] = outcome.number
        self._fetch(self.serial, outcome.fetch)

    def _fetch(self, number: int, fetch: Fetch) -> None:
        target = self.lab.host_at(fetch.address)
        self.lab.clock.after(fetch.timeout_ns, ("timer", self.name, ("fetch", self.incarnation, number)))
        if target is None or target == self.name:
            return
        if fetch.channel == "cluster":
            self.shipping.send_fetch(target, number, fetch)
        else:
            self.send(target, "request", ("ask", number, fetch.request), size_of(fetch.request.body))

    def _resume(self, number: int, answer: Response) -> None:
        waiting = self.suspended.pop(self.fetches.pop(number, 0), None)
        if waiting is None:
            return
        suspended, source, correlation = waiting
        commits = self.vault.core.commits
        outcome = self.vault.resume(suspended, answer)
        self._note_commit(correlation, suspended.request, commits)
        self._hand_over(outcome, source, correlation)

    def resume_fetch(self, number: int, answer: Response) -> None:
        """Go on with the request that waited for a fetch of the cluster port."""
        self._resume(number, answer)

    def send(self, target: str, what: str, payload: tuple[Any, ...], size_bytes: int) -> None:
        """Send a message to another host."""
        self.lab.network.send(self.name, target, what, payload, size_bytes + HEADER_BYTES)

    def _note_commit(self, correlation: str, request: Request, commits_before: int) -> None:
        """Tell the ledger of a write; a read that cost its token a use is none."""
        core = self.vault.core
        if core.commits != commits_before and request.method not in READS:
            self.lab.note_commit(correlation, self.plan.name, core.journal.last)

    def _keep_lease(self) -> None:
        """Renew the lease, take it when it has run out, or look who holds it."""
        vault, store = self.vault, self.lab.stores[self.plan.name]
        vault.check_seal()
        duty = vault.core.duty
        if vault.sealed:
            if duty.active or duty.leader:
                vault.set_duty(Duty(active=False))
            return
        now, lease = self.lab.now, read_lease(store)
        if duty.active and lease is not None and lease.holder == self.name and lease.term == duty.term:
            write_lease(store, lease._replace(until_ns=now + LEASE_NS))
        elif lease is None or lease.until_ns <= now:
            term = 1 if lease is None else lease.term + 1
            write_lease(store, Lease(self.name, term, now + LEASE_NS))
            vault.set_duty(Duty(True, term, self.lab.epoch_ns + now, self.address, self.address))
            self.lab.note_leader(self, term)
        else:
            leader = f"http://{lease.holder}:{API_PORT}"
            if duty.active or duty.leader != leader:
                vault.set_duty(Duty(False, lease.term, 0, leader, f"https://{lease.holder}:{CLUSTER_PORT}"))


def size_of(body: dict[str, Any] | None) -> int:
    """Return how many bytes a body counts on the wire."""
    return measure(body) if body else 0
