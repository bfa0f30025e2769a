"""Shipping: carries replication between clusters; all that it decides is asked of the vault's pure parts (R19).

1. On a secondary's active node it drives ``sync``: events in, effects carried out in order before the next event.
2. On a primary's active node it answers the questions and pushes what was committed, in order, to each open stream.
3. A connection begins with ``guard_hash`` and the client certificate; what comes without one is refused.
4. Revoking an id cuts its stream at once; a node that is not the active one names the one that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.message import Fetch, Response
from labkit.vault.replication import activation, position
from labkit.vault.replication.events import (
    Apply,
    Effect,
    Event,
    Moment,
    Observe,
    Pushed,
    Refused,
    Remember,
    Replace,
    Reply,
    Send,
    Silence,
    Start,
    Stop,
    Timer,
    Wait,
)
from labkit.vault.replication.mode import MODE_KEY
from labkit.vault.replication.serving import QUESTIONS, Here, Stream, echo, opened, push, size_bytes
from labkit.vault.replication.state import State, from_plain, plain
from labkit.vault.replication.sync import ask, heard, on

if TYPE_CHECKING:
    from labkit.lab.host import NodeHost

MILLION = 1_000_000
SECOND_NS = 1_000_000_000


class Shipping:
    """What one node ships: its own stream from an upstream, and the streams of its secondaries."""

    __slots__ = ("_node", "connected", "started", "streams", "told")

    def __init__(self, node: NodeHost, state: dict[str, Any] | None) -> None:
        state = state or {}
        self._node = node
        self.started: bytes | None = state.get("started")
        self.told: tuple[str, str] = state.get("told", ("", ""))
        self.connected: dict[str, str] = dict(state.get("connected", {}))
        self.streams: dict[str, Stream] = {sid: Stream(*row) for sid, row in state.get("streams", ())}
        node.vault.core.peers = {row[0]: activation.Peer(*row) for row in state.get("peers", ())}
        if state.get("sync") is not None:
            node.vault.core.sync = from_plain(state["sync"])

    def receive(self, source: str, what: str, payload: tuple[Any, ...]) -> None:
        """Take a message of the cluster port."""
        kind, first, *rest = payload
        at = self._moment()
        if kind == "rpc":
            self._answer(source, first, *rest)
        elif kind == "bootstrap":
            self._bootstrap(source, first, rest[0])
        elif kind == "bootstrapped":
            self._node.resume_fetch(first, rest[0])
        elif self._node.vault.core.sync is None:
            return
        elif kind == "reply":
            self._drive(Reply(first, self._heard(first, rest[0]), at))
        elif kind == "refused":
            self._drive(Refused(first, rest[0], rest[1], at, rest[2]))
        elif kind == "push":
            self._drive(Pushed(first, at))

    def on_timer(self, kind: str, rest: list[Any]) -> None:
        """A timer of the sync came back."""
        if self._node.vault.core.sync is None or not self._node.active:
            return
        if kind == "sync":
            self._drive(Timer(rest[0], rest[1], self._moment()))
        elif kind == "silence":
            self._drive(Silence(rest[0], rest[1], self._moment()))

    def follow(self) -> None:
        """After any step: start or stop by the mode, cut revoked ids off, push what was committed, tell of changes."""
        node = self._node
        core = node.vault.core
        if not node.active:
            self.started, core.sync = None, None
            self.streams, self.connected = {}, {}
            return
        stored = core.storage.get(MODE_KEY)
        if stored != self.started:
            self._follow_mode(stored)
        if self.streams or self.connected:
            self._follow_streams()
        mode = core.mode().mode
        told = (mode, core.sync.state if core.sync is not None else "running" if mode == "primary" else "")
        if told != self.told:
            self.told = told
            node.lab.note_mode(node, *told)

    def send_fetch(self, target: str, number: int, fetch: Fetch) -> None:
        """Carry a fetch of the cluster port out."""
        body = fetch.request.body or {}
        self._node.send(target, "bootstrap_request", ("bootstrap", number, body), size_bytes(body))

    def state(self) -> dict[str, Any]:
        """Return what is shipped as plain values."""
        sync = self._node.vault.core.sync
        return {
            "started": self.started,
            "told": self.told,
            "connected": dict(self.connected),
            "streams": tuple((sid, tuple(stream)) for sid, stream in self.streams.items()),
            "peers": tuple(tuple(peer) for peer in self._node.vault.core.peers.values()),
            "sync": None if sync is None else plain(sync),
        }

    def _moment(self) -> Moment:
        return Moment(self._node.lab.now, self._node.vault.now())

    def _follow_mode(self, stored: bytes | None) -> None:
        node, core = self._node, self._node.vault.core
        mode = core.mode()
        self.started = stored
        if core.sync is not None:
            shut = mode.mode != "secondary"
            node.lab.note_stopping(node, mode.mode)
            self._drive(Stop(f"the cluster is {mode.mode} now", self._moment(), shut))
        if mode.mode != "secondary":
            core.sync = None
            return
        place = position.read(core)
        start = Start(
            addresses=position.addresses(core),
            at=self._moment(),
            primary_cluster_addr=mode.primary_cluster_addr,
            secondary_id=mode.secondary_id,
            complete=place.complete,
            position=place.position,
            last_remote_wal=place.last_remote_wal,
            serial=node.incarnation << 32,
        )
        core.sync = core.sync or State()
        upstream = node.lab.host_at(start.addresses[0]) if start.addresses else None
        node.lab.note_following(node, node.lab.cluster_of(upstream) if upstream else "", mode.newly_demoted)
        self._drive(start)

    # ---- the secondary's side

    def _drive(self, event: Event) -> None:
        core = self._node.vault.core
        core.sync, effects = on(core.sync, event)
        for effect in effects:
            self._carry_out(effect)

    def _heard(self, rpc: str, answer: dict[str, Any]) -> dict[str, Any]:
        index = self._node.vault.core.journal.index
        assert index is not None
        return heard(rpc, answer, index)

    def _carry_out(self, effect: Effect) -> None:
        node, core = self._node, self._node.vault.core
        if isinstance(effect, Send):
            self._send(effect)
        elif isinstance(effect, Wait):
            delay_ns = self._spread(effect)
            node.lab.clock.after(delay_ns, ("timer", node.name, ("sync", node.incarnation, effect.name, effect.serial)))
        elif isinstance(effect, Apply):
            for number, changes in effect.entries:
                own = position.write(core, position.Place(True, number, number))
                core.journal.apply(changes, own, core.duty.term)
        elif isinstance(effect, Replace):
            last_remote_wal = core.sync.last_remote_wal
            own = position.write(core, position.Place(effect.complete, effect.position, last_remote_wal))
            core.journal.apply(effect.changes, own, core.duty.term)
        elif isinstance(effect, Remember):
            core.commit(position.write_addresses(core, effect.addresses))
        elif isinstance(effect, Observe):
            core.observe(effect.kind, **effect.fields)

    def _send(self, send: Send) -> None:
        node, core = self._node, self._node.vault.core
        index = core.journal.index
        assert index is not None
        message = ask(send, index)
        target = node.lab.host_at(send.to)
        if send.timeout_ns:
            later = ("silence", node.incarnation, send.rpc, message["serial"])
            node.lab.clock.after(send.timeout_ns, ("timer", node.name, later))
        if target is None:
            return
        credentials = activation.credentials(core, message["serial"]) if send.rpc == "guard_hash" else {}
        payload = ("rpc", send.rpc, core.mode().secondary_id, message, credentials)
        node.send(target, send.rpc, payload, size_bytes(message) + size_bytes(credentials))

    def _spread(self, wait: Wait) -> int:
        """Draw a timer's delay from its spread; one without a spread draws nothing."""
        if not wait.spread_ppm:
            return wait.delay_ns
        width = wait.delay_ns * wait.spread_ppm // MILLION
        drawn = self._node.lab.dice.below(f"backoff {self._node.name}", 2 * width + 1)
        return wait.delay_ns - width + drawn

    # ---- the primary's side

    def _answer(self, source: str, rpc: str, sid: str, message: dict[str, Any], credentials: dict[str, Any]) -> None:
        refused, addresses = self._judge(source, rpc, sid, message, credentials)
        if refused:
            payload = ("refused", rpc, message["serial"], refused, addresses)
            self._node.send(source, rpc, payload, 64)
            return
        journal = self._node.vault.core.journal
        answer = self._echo(sid, message) if rpc == "echo" else QUESTIONS[rpc](journal, message)
        if rpc == "stream_wals":
            stream = opened(answer)
            if stream is not None:
                self.streams[sid] = stream
        self._node.send(source, rpc, ("reply", rpc, answer), size_bytes(answer))

    def _judge(
        self, source: str, rpc: str, sid: str, message: dict[str, Any], credentials: dict[str, Any]
    ) -> tuple[str, tuple[str, ...]]:
        """Say why a question is refused, and where to ask instead; an empty text is welcome."""
        core = self._node.vault.core
        if not self._node.active:
            known = (core.duty.leader_cluster,) if core.duty.leader_cluster and not self._node.vault.sealed else ()
            return ("sealed" if self._node.vault.sealed else "not the active node"), known
        if core.mode().mode != "primary":
            return f"not a primary but {core.mode().mode}", ()
        if rpc == "guard_hash":
            why = activation.check_connection(core, sid, message["serial"], credentials)
            if why:
                core.observe("connection_refused", secondary=sid, reason=why)
            else:
                self.connected[sid] = source
            return why, ()
        if self.connected.get(sid) != source:
            return "no connection of that id is open", ()
        return "", ()

    def _echo(self, sid: str, message: dict[str, Any]) -> dict[str, Any]:
        node, core = self._node, self._node.vault.core
        activation.note_heartbeat(core, sid, message, self.connected[sid])
        here = Here(
            wall_ns=node.vault.now(),
            api_addr=core.settings.api_address,
            cluster_addr=core.settings.cluster_address,
            cluster_addrs=tuple(f"https://{name}:8201" for name in node.plan.node_names),
            stream=self.streams.get(sid),
        )
        return echo(core.journal, message, here)

    def _follow_streams(self) -> None:
        """Cut off who was revoked, and push what was committed since."""
        node, core = self._node, self._node.vault.core
        for sid in sorted(self.connected):
            why = "" if core.mode().mode == "primary" else f"not a primary but {core.mode().mode}"
            if not why and not activation.is_known(core, sid):
                why = "the activation of this id was revoked"
            if why:
                host = self.connected.pop(sid)
                self.streams.pop(sid, None)
                node.send(host, "disconnect", ("refused", "", 0, why, ()), 64)
        for sid in sorted(self.streams):
            while (pushed := push(core.journal, self.streams[sid])) is not None:
                self.streams[sid], message = pushed
                node.send(self.connected[sid], "stream", ("push", message), size_bytes(message))

    def _bootstrap(self, source: str, number: int, body: dict[str, Any]) -> None:
        node = self._node
        if not node.active:
            answer = Response(503, {}, {"errors": ["not the active node"]})
        else:
            answer = activation.bootstrap(node.vault.core, body)
        node.send(source, "bootstrap_answer", ("bootstrapped", number, answer), size_bytes(answer.body or {}))
