"""Replication link: carries replication between clusters; the vault's pure parts decide (R19).

1. On a secondary's active node it drives ``sync``: events in, effects carried out in order before the next event.
2. What a secondary asks its upstream and hears from there stands in ``upstream``, what a primary does for its
   secondaries in ``secondaries``.
3. An upstream that is left is reported before the sync is dropped, and where the process ends inside the commit by
   which it is left.
"""

from __future__ import annotations

from typing import Any

from labkit.lab.nodes.node_replica import NodeReplica
from labkit.lab.nodes.secondaries import ANNOUNCEMENTS, MESSAGE_HANDLERS, Secondaries
from labkit.lab.nodes.upstream import EVENTS, Upstream
from labkit.lab.plan.blueprint import NodePlan
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import (
    AnnounceTimer,
    NodeTimer,
    SyncTimer,
)
from labkit.lab.wire.reports import (
    ConnectionChanged,
    IndexReplaced,
    ModeChanged,
    Progressed,
    UpstreamFollowed,
    UpstreamLeft,
)
from labkit.vault.context import own_work
from labkit.vault.identifiers import sha256
from labkit.vault.replication import applied_position
from labkit.vault.replication.events import (
    LEAVES,
    Apply,
    AskUpstream,
    Changes,
    Effect,
    Event,
    Observe,
    Reindexed,
    Remember,
    Replace,
    Start,
    StartTimer,
    Stop,
    TimerFired,
)
from labkit.vault.replication.mode import MODE_KEY, Mode
from labkit.vault.replication.state import State, from_plain, plain
from labkit.vault.replication.sync import on
from labkit.vault.replication.trust import activation
from labkit.vault.sealing.stored_keys import kept_beside
from labkit.vault.storage.barrier import KEYRING, Barrier
from labkit.vault.vault_node import VaultNode


class ReplicationLink(NodeReplica):
    """One node's part in replication: its own stream from an upstream, and the streams of its secondaries."""

    __slots__ = (
        "_connection",
        "_known_mode",
        "_progress",
        "followed",
        "led",
        "reported",
        "secondaries",
        "serial",
        "started",
        "upstream",
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
        self._progress: tuple[str, int | None] | None = state.get("progress")  # as reported last; None: not yet
        self._connection: str = state.get("connection", "")  # as reported last
        self._known_mode: tuple[bytes | None, Barrier | None, Mode] = (None, None, Mode())
        self.upstream = Upstream(plan, services, vault, incarnation, state)
        self.secondaries = Secondaries(plan, services, vault, incarnation, state)
        if state.get("sync") is not None:
            self._sync = from_plain(state["sync"])

    def receive(self, source: str, message: Any) -> None:
        """Take a message of the cluster port: of the upstream, ignored where none is followed, or of a secondary."""
        event_of = EVENTS.get(type(message))
        if event_of is None:
            MESSAGE_HANDLERS[type(message)](self.secondaries, source, message)
        elif self._core.replica.sync is not None:
            event = event_of(self.upstream, source, message)
            if event is not None:
                self._drive(event)

    def on_timer(self, timer: NodeTimer) -> None:
        """A timer of the sync, or of announcements; on a node that does not lead as it did then, it is ignored."""
        if isinstance(timer, AnnounceTimer):
            self.secondaries.on_timer(timer)
            return
        assert isinstance(timer, SyncTimer)
        if self._sync is not None and self._active:
            self._drive(TimerFired(timer.name, timer.serial, self._moment()))
            if timer.name == "heartbeat":
                self.upstream.ask_root_key()

    def after_step(self) -> None:
        """After any step: start or stop by the mode, cut revoked ids off, push what was committed, report changes."""
        core = self._core
        if core.keys.barrier is None or not core.leadership.active:
            self.started, core.replica.sync = None, None
            self.reported, self._connection = ("", ""), ""  # who leads by now reports
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
            self._known_mode = (None, None, Mode())
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
        before, opened_by, mode = self._known_mode
        if stored is not before or core.keys.barrier is not opened_by:
            mode = core.replica.mode
            self._known_mode = (stored, core.keys.barrier, mode)
        if self.secondaries.connected:
            self.secondaries.serve(mode.mode)
        self._report(mode)

    def end_inside(self) -> None:
        """The node's process ended inside a commit that changed the mode, and was kept: report the upstream as left."""
        if self._sync is not None:
            self._report_left(self._mode, self._sync)

    def state(self) -> dict[str, Any]:
        """Return the link as plain values."""
        sync = self._sync
        return {
            "started": self.started,
            "led": self.led,
            "serial": self.serial,
            "reported": self.reported,
            "progress": self._progress,
            "connection": self._connection,
            "followed": self.followed,
            "sync": None if sync is None else plain(sync),
            **self.upstream.state(),
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

    def _apply_mode(self, stored: bytes | None) -> None:
        core = self._core
        mode = self._mode
        self.started = stored
        if self._sync is not None:
            shut = mode.mode != "secondary"
            self._report_left(mode, self._sync)
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

    def _report_left(self, mode: Mode, sync: State) -> None:
        left = (mode.mode, sync.position, sync.complete, mode.cluster_id)
        self._services.emit(UpstreamLeft(self._services.now(), self._plan.cluster.name, *left))

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
            self._services.emit(Progressed(self._services.now(), self._plan.cluster.name, *progress))

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
                reached = applied_position.AppliedPosition(True, number, number)
                if not self._apply(changes, reached):
                    return False
        elif isinstance(effect, AskUpstream):
            self.upstream.ask(effect)
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
        """Write what the upstream sent.  Where a keyring is in it, this cluster keeps its own beside that one."""
        core = self._core
        keyrings = [after for key, after in changes if key == KEYRING]
        if not keyrings:
            return applied_position.apply(core, changes, reached)
        done = applied_position.apply(core, changes, reached, kept_beside(core, keyrings[0]))
        if done:
            self._vault.reload_keyring()
        return done
