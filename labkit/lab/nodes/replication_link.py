"""Replication link: carries replication between clusters; the vault's pure parts decide (R19).

1. On a secondary's active node it drives ``sync``: events in, effects carried out in order before the next event.
2. What a primary does for its secondaries stands in ``secondaries``.
3. An upstream that is left is reported before the sync is dropped; an announcement that is refused changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab.nodes.greeting import Greeting
from labkit.lab.nodes.node_replica import NodeReplica
from labkit.lab.nodes.root_key_question import RootKeyQuestion
from labkit.lab.nodes.secondaries import ANNOUNCEMENTS, Secondaries
from labkit.lab.plan.blueprint import NodePlan
from labkit.lab.wire.addresses import cluster_address
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import (
    Announcement,
    AnnounceTimer,
    BootstrapRequest,
    ConnectionChallenge,
    NodeTimer,
    ReplicationAnswer,
    ReplicationQuestion,
    ReplicationRefusal,
    StreamPush,
    SyncTimer,
)
from labkit.lab.wire.reports import (
    MESSAGE_REFUSED,
    ConnectionChanged,
    IndexReplaced,
    ModeChanged,
    Progressed,
    UpstreamFollowed,
    UpstreamHeard,
    UpstreamLeft,
)
from labkit.service.record import new
from labkit.vault.context import own_work
from labkit.vault.identifiers import sha256
from labkit.vault.replication import applied_position
from labkit.vault.replication.events import (
    LEAVES,
    Announced,
    Apply,
    AskUpstream,
    Changes,
    Effect,
    Event,
    Moment,
    Observe,
    Pushed,
    Refused,
    Reindexed,
    Remember,
    Replace,
    ReplyArrived,
    Start,
    StartTimer,
    Stop,
    TimerFired,
)
from labkit.vault.replication.mode import MODE_KEY, Mode
from labkit.vault.replication.serving import size_bytes
from labkit.vault.replication.state import State, from_plain, plain
from labkit.vault.replication.sync import ask, heard, on
from labkit.vault.replication.trust import activation, announcement, root_key_transfer
from labkit.vault.sealing.stored_keys import kept_beside
from labkit.vault.storage.barrier import KEYRING
from labkit.vault.vault_node import VaultNode


class ReplicationLink(NodeReplica):
    """One node's part in replication: its own stream from an upstream, and the streams of its secondaries."""

    __slots__ = (
        "_connection",
        "_known",
        "_progress",
        "followed",
        "greeting",
        "heard",
        "led",
        "reported",
        "root_key",
        "secondaries",
        "serial",
        "started",
    )

    def __init__(
        self, plan: NodePlan, services: HostServices, vault: VaultNode, incarnation: int, state: dict[str, Any] | None
    ) -> None:
        state = state or {}
        super().__init__(plan, services, vault, incarnation)
        self.started: bytes | None = state.get("started")
        self.led: int = state.get("led", 0)  # the term under which it started
        self.serial: int = state.get("serial", 0)
        self.reported: tuple[str, str] = state.get("reported", ("", ""))
        self.followed: str = state.get("followed", "")
        self.heard: str = state.get("heard", "")  # whose answers or pushes it took last
        self.greeting = Greeting(state.get("greeting"))
        self.root_key = RootKeyQuestion(state.get("root_key"))
        self._progress: tuple[str, int | None] | None = None
        self._connection = ""
        self._known: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self.secondaries = Secondaries(plan, services, vault, incarnation, state)
        if state.get("sync") is not None:
            self._sync = from_plain(state["sync"])

    @property
    def upstreams(self) -> tuple[str, ...] | None:
        """The hosts at the upstream's addresses; None for a node that follows nobody."""
        sync = self._core.replica.sync
        if sync is None:
            return None
        addresses = sync.addresses
        if self._known[0] is not addresses:  # judged for each message, and seldom others
            nodes = [self._services.resolve(address) for address in addresses]
            self._known = (addresses, tuple([node.node for node in nodes if node is not None]))
        return self._known[1]

    def receive(self, source: str, message: Any) -> None:
        """Take a message of the cluster port."""
        MESSAGE_HANDLERS[type(message)](self, source, message)

    def on_timer(self, timer: NodeTimer) -> None:
        """A timer of the sync, or of announcements; on a node that does not lead as it did then, it is ignored."""
        if isinstance(timer, AnnounceTimer):
            self.secondaries.on_timer(timer)
            return
        assert isinstance(timer, SyncTimer)
        if self._sync is not None and self._active:
            self._drive(TimerFired(timer.name, timer.serial, self._moment()))
            if timer.name == "heartbeat":
                self._ask_root_key()

    def after_step(self) -> None:
        """After any step: start or stop by the mode, cut revoked ids off, push what was committed, report changes."""
        core = self._core
        if core.keys.barrier is None or not core.leadership.active:
            self.started, core.replica.sync, self._connection = None, None, ""
            self.secondaries.forget()
            return
        if core.leadership.term != self.led:  # it may have lost the lead and taken it again within one step
            self.started, self._sync, self.led = None, None, core.leadership.term
            self.secondaries.forget()
        stored = core.storage.get(MODE_KEY)
        if stored != self.started:
            if self._mode.mode != "disabled" and not self._journal.on:  # another node changed it, and so leads
                core.step_down()
                self.after_step()
                return
            self._apply_mode(stored)
        if core.replica.reindexed:
            differing, core.replica.reindexed = core.replica.reindexed, ""
            if self._sync is not None:
                self._drive(Reindexed(differing, self._moment()))
            elif differing == LEAVES:
                self.secondaries.reconnect("the primary was reindexed and holds something else than it knew")
        if core.replica.index_stored:
            core.replica.index_stored = False
            self._services.emit(IndexReplaced(self._plan.cluster.name))
        if core.replica.reconnects:
            core.replica.reconnects = False
            self.secondaries.reconnect("the primary was asked to recover")
        cached = core.caches.records.get(MODE_KEY)
        mode: Mode = core.replica.mode if cached is None or cached[0] is not stored else cached[1]
        if self.secondaries.connected:
            self.secondaries.serve(mode.mode)
        self._report(mode)

    def state(self) -> dict[str, Any]:
        """Return the link as plain values."""
        sync = self._sync
        return {
            "started": self.started,
            "led": self.led,
            "serial": self.serial,
            "reported": self.reported,
            "followed": self.followed,
            "heard": self.heard,
            "greeting": self.greeting.state(),
            "root_key": self.root_key.state(),
            "sync": None if sync is None else plain(sync),
            **self.secondaries.state(),
        }

    @property
    def _sync(self) -> State | None:
        sync: State | None = self._core.replica.sync
        return sync

    @_sync.setter
    def _sync(self, sync: State | None) -> None:
        """Set the sync; a later one begins above the serials of this one, so that no late answer to it counts."""
        if sync is not None:
            self.serial = max(self.serial, sync.serial, sync.life)
        self._core.replica.sync = sync

    def _moment(self) -> Moment:
        return new(Moment, (self._services.now(), self._core.now()))

    def _apply_mode(self, stored: bytes | None) -> None:
        core = self._core
        mode = self._mode
        self.started = stored
        if self._sync is not None:
            shut = mode.mode != "secondary"
            left = (mode.mode, self._sync.position, self._sync.complete, mode.cluster_id)
            self._services.emit(UpstreamLeft(self._services.now(), self._plan.cluster.name, *left))
            self._drive(Stop(f"the cluster is {mode.mode} now", self._moment(), shut))
        if mode.mode != "secondary":
            self._sync = None
            if mode.mode == "primary":
                self.secondaries.announce(ANNOUNCEMENTS)
            return
        reached = applied_position.read(own_work(core))
        start = Start(
            addresses=applied_position.addresses(own_work(core)),
            at=self._moment(),
            primary_cluster_addr=mode.primary_cluster_addr,
            secondary_id=mode.secondary_id,
            complete=reached.complete,
            position=reached.position,
            last_remote_wal=reached.last_remote_wal,
            serial=max(self._leadership.term << 32, self.serial),
            term=applied_position.term(own_work(core)),
        )
        self._sync = self._sync or State()
        upstream = self._services.resolve(start.addresses[0]) if start.addresses else None
        if upstream is not None and upstream.passes_on:  # to whom, the node says that issued the activation
            upstream = self._services.resolve(mode.upstream_api_addr)
        self.followed = upstream.cluster if upstream is not None else ""
        activated = sha256(core.storage.get(activation.CREDENTIALS) or b"").hexdigest()[:16]
        followed = (self.followed, mode.newly_demoted, activated, mode.secondary_id)
        self._services.emit(UpstreamFollowed(self._plan.cluster.name, *followed))
        self._drive(start)

    def _report(self, mode: Mode) -> None:
        """Report the cluster's mode and state, and how far it is, where they changed since the last report."""
        replica = self._core.replica
        sync = replica.sync
        if sync is not None:
            now_is, progress = (mode.mode, sync.state), (self.followed, sync.position if self.followed else None)
        elif mode.mode == "primary":
            now_is, progress = ("primary", "running"), ("", replica.journal.last)
        else:
            now_is, progress = (mode.mode, ""), ("", None)
        if now_is != self.reported:
            self.reported = now_is
            self._services.emit(ModeChanged(self._services.now(), self._plan.cluster.name, *now_is, mode.cluster_id))
        if sync is not None and sync.connection_state != self._connection:
            self._connection = sync.connection_state
            changed = ConnectionChanged(self._services.now(), self._plan.cluster.name, sync.connection_state)
            self._services.emit(changed)
        if progress != self._progress:
            self._progress = progress
            self._services.emit(new(Progressed, (self._services.now(), self._plan.cluster.name, *progress)))

    def _drive(self, event: Event) -> None:
        sync = self._core.replica.sync
        assert sync is not None
        self._sync, effects = on(sync, event)
        for effect in effects:
            if not self._carry_out(effect):
                self.started, self._sync = None, None  # it begins again from what is stored, if the node still leads
                return

    def _carry_out(self, effect: Effect) -> bool:
        """Carry an effect out; return whether that could be done (R25)."""
        core = self._core
        if isinstance(effect, Apply):
            for number, changes in effect.entries:
                reached = new(applied_position.AppliedPosition, (True, number, number))
                if not self._apply(changes, reached):
                    return False
        elif isinstance(effect, AskUpstream):
            self._ask(effect)
        elif isinstance(effect, StartTimer):
            timer = SyncTimer(self._incarnation, effect.name, effect.serial)
            self._services.after(effect.delay_ns, timer, effect.spread_ppm)
        elif isinstance(effect, Replace):
            assert self._sync is not None
            reached = applied_position.AppliedPosition(effect.complete, effect.position, self._sync.last_remote_wal)
            return self._apply(effect.changes, reached)
        elif isinstance(effect, Remember):
            return applied_position.remember_addresses(core, effect.addresses, effect.term)
        elif isinstance(effect, Observe):
            core.observe(effect.kind, **effect.fields)
        return True

    def _apply(self, changes: Changes, reached: applied_position.AppliedPosition) -> bool:
        """Write what the upstream sent; beside a keyring that it sent stays what this cluster needs of its own."""
        core = self._core
        keyrings = [after for key, after in changes if key == KEYRING]
        if not keyrings:
            return applied_position.apply(core, changes, reached)
        done = applied_position.apply(core, changes, reached, kept_beside(core, keyrings[0]))
        if done:
            self._vault.reload_keyring()
        return done

    def _ask_root_key(self) -> None:
        """Ask the upstream for its root key, while the keyring that came from there is under another than this one."""
        sync = self._sync
        if sync is None or sync.connection_state != "ready":
            return
        serial, target = self.root_key.next(self._core), self._services.resolve(sync.addresses[0])
        if serial and target is not None:
            secondary_id = self._mode.secondary_id
            question = ReplicationQuestion(root_key_transfer.QUESTION, secondary_id, {"serial": serial}, {})
            self._put(target.node, question, aside=True)

    def _ask(self, send: AskUpstream) -> None:
        tree = self._journal.tree
        assert tree is not None
        message = ask(send, tree)
        target = self._services.resolve(send.to)
        if target is None:
            return
        question = ReplicationQuestion(send.rpc, self._mode.secondary_id, message, {})
        if send.rpc == "guard_hash":
            message["addresses"] = [cluster_address(name) for name in self._plan.cluster.node_names]
            self.greeting.begin(target.node, question)
        elif self._sync is not None and self._sync.connection_state == "connecting":
            question = self.greeting.instead_of(question, target.node)
        elif send.rpc == "echo" and send.aside and self._sync is not None and self._sync.awaiting != "guard_hash":
            # It proves nothing of what was asked before: it may be lost, and be overtaken.
            self._datagram(target.node, send.rpc, question, size_bytes(message))
            return
        self._put(target.node, question, send.aside)

    def _on_challenge(self, source: str, challenge: ConnectionChallenge) -> None:
        if self._sync is None:
            return
        try:
            question = self.greeting.proven(source, challenge, self._core)
        except ValueError as error:
            self._core.observe("upstream_refused", reason=str(error))
            self._drive(Refused("guard_hash", challenge.serial, str(error), self._moment()))
            return
        if question:
            self._put(source, question, aside=True)

    def _put(self, node: str, question: ReplicationQuestion, aside: bool) -> None:
        size = size_bytes(question.message) + size_bytes(question.credentials)
        self._send(node, question.rpc, question, size, aside)

    def _on_announcement(self, source: str, message: Announcement) -> None:
        if self._sync is None:  # its active node hears it too
            return
        content = message.message
        why = announcement.why_refused(self._core, self._sync, content)
        if why:
            self._core.observe(MESSAGE_REFUSED, source=source, reason=f"an announcement: {why}")
        else:
            self._drive(Announced(content["address"], content["term"], self._moment()))

    def _on_answer(self, source: str, message: ReplicationAnswer) -> None:
        tree = self._journal.tree
        if self._sync is not None and message.rpc == root_key_transfer.QUESTION:
            why = self.root_key.take(self._core, message.message)
            if why:
                self._core.observe(MESSAGE_REFUSED, source=source, reason=why)
        elif self._sync is not None:
            assert tree is not None
            if source != self.heard:
                self._hear(source)
            self._drive(ReplyArrived(message.rpc, heard(message.rpc, message.message, tree), self._moment()))

    def _hear(self, source: str) -> None:
        self.heard = source
        self._services.emit(UpstreamHeard(self._plan.cluster.name, source))

    def _on_refusal(self, source: str, message: ReplicationRefusal) -> None:
        if self._sync is not None:
            reason, addresses = message.reason, message.addresses
            self._drive(Refused(message.rpc, message.serial, reason, self._moment(), addresses))

    def _on_push(self, source: str, message: StreamPush) -> None:
        if self._core.replica.sync is not None:
            if source != self.heard:
                self._hear(source)
            self._drive(new(Pushed, (message.message, self._moment())))


MESSAGE_HANDLERS: dict[type, Callable[[ReplicationLink, str, Any], None]] = {
    ReplicationQuestion: lambda link, source, message: link.secondaries.on_question(source, message),
    ReplicationAnswer: ReplicationLink._on_answer,
    ReplicationRefusal: ReplicationLink._on_refusal,
    StreamPush: ReplicationLink._on_push,
    Announcement: ReplicationLink._on_announcement,
    ConnectionChallenge: ReplicationLink._on_challenge,
    BootstrapRequest: lambda link, source, message: link.secondaries.on_bootstrap_request(source, message),
}
