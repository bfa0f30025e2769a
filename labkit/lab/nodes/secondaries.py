"""Secondaries: a primary's part in replication: it answers their questions, and pushes what was committed (R19).

1. A connection begins with ``guard_hash``, a challenge, and the question again with certificate and proof
   (``admission``); what comes without a connection is refused.  A host is connected under one id at a time.
2. A node that is not the active one names the one that is.
3. What was committed is pushed in order to each open stream.  Revoking an id cuts its stream at once.
4. A new active node announces itself to who is not connected, once a second for a while.
5. Guard, heartbeats aside, refusals, announcements and bootstraps pass by what waits on the line; all else keeps its
   order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab.nodes.admission import NOT_ACTIVE_TEXT, Admission
from labkit.lab.nodes.node_replica import NodeReplica
from labkit.lab.plan.blueprint import NodePlan
from labkit.lab.wire.addresses import cluster_address
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import (
    Announcement,
    AnnounceTimer,
    BootstrapRequest,
    ReplicationAnswer,
    ReplicationQuestion,
    ReplicationRefusal,
    StreamPush,
)
from labkit.lab.wire.reports import SecondaryServed
from labkit.service.durations import SECOND_NS
from labkit.vault.replication.serving_secondaries import (
    QUESTIONS,
    Here,
    SecondaryStream,
    Shipment,
    echo,
    opened,
    push,
    shipment,
    size_bytes,
)
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.replication.trust import activation, admission, announcement, root_key_transfer
from labkit.vault.vault_node import VaultNode

REFUSAL_BYTES = 64
ANNOUNCEMENTS, ANNOUNCE_NS = 15, SECOND_NS


class Secondaries(NodeReplica):
    """Who is connected to this node as a secondary of its cluster, and the streams that were opened."""

    __slots__ = ("_addresses", "_admission", "_judged", "_pushed", "connected", "streams")

    def __init__(
        self, plan: NodePlan, services: HostServices, vault: VaultNode, incarnation: int, state: dict[str, Any]
    ) -> None:
        super().__init__(plan, services, vault, incarnation)
        self._admission = Admission(vault.core, self._send)
        self._addresses = tuple([cluster_address(name) for name in plan.cluster.node_names])
        # As of which write that decides something it was judged who is revoked
        self._judged = vault.core.storage.deciding_writes if state.get("judged") else -1
        self._pushed = -1  # up to which entry everything was pushed; -1 once a stream was opened
        self.connected: dict[str, str] = dict(state.get("connected", {}))
        self.streams: dict[str, SecondaryStream] = {
            secondary_id: SecondaryStream(*row) for secondary_id, row in state.get("streams", ())
        }
        self._core.replica.secondaries = {row[0]: activation.SecondaryHeartbeat(*row) for row in state.get("peers", ())}

    def state(self) -> dict[str, Any]:
        """Return them as plain values."""
        return {
            "judged": self._judged == self._core.storage.deciding_writes,
            "connected": dict(self.connected),
            "streams": tuple([(secondary_id, tuple(stream)) for secondary_id, stream in self.streams.items()]),
            "peers": tuple([tuple(peer) for peer in self._core.replica.secondaries.values()]),
        }

    def forget(self) -> None:
        """Forget all connections: this node does not lead any more."""
        self.streams, self.connected = {}, {}

    def on_timer(self, timer: AnnounceTimer) -> None:
        """Announce this node again, when it leads as it did then."""
        if self._active and timer.term == self._leadership.term and self._mode.mode == "primary":
            self.announce(timer.left)

    @property
    def _address(self) -> str:
        """Where secondaries reach this node: at the address that its cluster was given for them, else at its own."""
        return self._mode.primary_cluster_addr or self._core.settings.cluster_address

    def on_question(self, source: str, question: ReplicationQuestion) -> None:
        """Answer a question, or refuse it."""
        rpc, secondary_id, message = question.rpc, question.secondary_id, question.message
        refused, addresses = self._judge(source, question)
        if not refused and rpc == "guard_hash" and self.connected.get(secondary_id) != source:
            refused = self._admission.greet(source, question)
            if not refused:
                return
        if refused:
            serial = message["asked" if rpc == "echo" else "serial"]
            self._send(source, rpc, ReplicationRefusal(rpc, serial, refused, addresses), REFUSAL_BYTES, aside=True)
            return
        self._services.emit(SecondaryServed(self._plan.cluster.name, source, secondary_id, rpc))
        journal = self._core.replica.journal
        if rpc == "echo":
            answer = self._echo(secondary_id, message)
        elif rpc == root_key_transfer.QUESTION:
            answer = root_key_transfer.given(self._core, message["serial"])
        else:
            answer = QUESTIONS[rpc](journal, message)
        if rpc == "stream_wals":
            stream = opened(answer)
            if stream is not None:
                self.streams[secondary_id], self._pushed = stream, -1
        elif rpc == "guard_hash":
            announcement.keep_addresses(self._core, secondary_id, list(message["addresses"]))
            answer |= {"cluster_addrs": list(self._addresses), "term": self._leadership.term}
        aside = rpc in ("guard_hash", root_key_transfer.QUESTION) or (rpc == "echo" and message["aside"])
        self._send(source, rpc, ReplicationAnswer(rpc, answer), size_bytes(answer), aside=aside)

    def _judge(self, source: str, question: ReplicationQuestion) -> tuple[str, tuple[str, ...]]:
        """Return why a question is refused, and where to ask instead; an empty reason when it is answered."""
        secondary_id = question.secondary_id
        if not self._active:
            leader = "" if self._vault.sealed else self._leadership.leader_cluster
            return ("sealed" if self._vault.sealed else NOT_ACTIVE_TEXT), (leader,) if leader else ()
        if self._mode.mode != "primary":
            return f"not a primary but {self._mode.mode}", ()
        if self.connected and self._core.storage.deciding_writes != self._judged:
            self.serve("primary")  # another node leads by now, and may have revoked it
        if question.rpc == "guard_hash":
            why = self._admission.judge(source, question) if question.credentials else ""
            if question.credentials and not why:
                self._connect(secondary_id, source)
            if not why and self.connected.get(secondary_id) == source:
                self.streams.pop(secondary_id, None)
            return why, ()
        why = self._admission.judge_host(source, secondary_id, self.connected.get(secondary_id))
        return why, (self._address,) if why else ()

    def _connect(self, secondary_id: str, host: str) -> None:
        """Note a connection; its host follows under this id from now on: what was pushed to it under others ends."""
        for former in [other for other, its in self.connected.items() if its == host and other != secondary_id]:
            del self.connected[former]
            self.streams.pop(former, None)
        self.connected[secondary_id] = host

    def _echo(self, secondary_id: str, message: dict[str, Any]) -> dict[str, Any]:
        core = self._core
        activation.note_heartbeat(core, secondary_id, message, self.connected[secondary_id])
        here = Here(
            wall_ns=self._vault.now(),
            term=self._leadership.term,
            api_addr=core.settings.api_address,
            cluster_addr=core.settings.cluster_address,
            cluster_addrs=self._addresses,
            stream=self.streams.get(secondary_id),
        )
        return echo(core.replica.journal, message, here)

    def serve(self, mode: str) -> None:
        """Cut off who was revoked, and push what was committed since; ``mode`` is this cluster's now."""
        core = self._core
        if mode != "primary":
            for secondary_id in sorted(self.connected):  # in turn: what was pushed before arrives before this
                self._disconnect(secondary_id, f"not a primary but {mode}")
        elif core.storage.deciding_writes != self._judged:
            self._judged = core.storage.deciding_writes
            # Aside: nothing that was pushed before is taken.
            for secondary_id in activation.unknown_ids(core, self.connected):
                self._disconnect(secondary_id, "the activation of this id was revoked", aside=True)
        journal = core.replica.journal
        if journal.last != self._pushed:
            self._push(journal)

    def _push(self, journal: Journal) -> None:
        """Push what is not sent yet; what several streams are to be sent next is made once."""
        made: dict[int, Shipment | None] = {}
        for secondary_id, stream in sorted(self.streams.items()):
            while stream.sent != journal.last and not stream.broken:
                if stream.sent not in made:
                    made[stream.sent] = shipment(journal, stream.sent)
                stream, message, size = push(stream, made[stream.sent])
                self.streams[secondary_id] = stream
                self._send(self.connected[secondary_id], "stream", StreamPush(message), size)
        self._pushed = journal.last

    def reconnect(self, why: str) -> None:
        """End all connections; each secondary begins another with its guard, here and at once."""
        here = (self._address,)
        for secondary_id in sorted(self.connected):
            self._disconnect(secondary_id, why, here)

    def _disconnect(self, secondary_id: str, why: str, instead: tuple[str, ...] = (), *, aside: bool = False) -> None:
        host = self.connected.pop(secondary_id)
        self.streams.pop(secondary_id, None)
        self._send(host, "disconnect", ReplicationRefusal("", 0, why, instead), REFUSAL_BYTES, aside=aside)

    def announce(self, times: int) -> None:
        """Announce this node to every known id that is not connected, and again in a second while there are any."""
        found = announcement.announcements(self._core, self.connected) if times else []
        for addresses, content in found:
            for address in addresses:
                target = self._services.resolve(address)
                if target is not None:
                    self._datagram(target.node, "announcement", Announcement(content), size_bytes(content))
        if found:
            timer = AnnounceTimer(self._incarnation, self._leadership.term, times - 1)
            self._services.after(ANNOUNCE_NS, timer)

    def on_bootstrap_request(self, source: str, message: BootstrapRequest) -> None:
        """Answer what a secondary that joins asks for."""
        if self._admission.answer_bootstrap(source, message) and message.operation == admission.BOOTSTRAP:
            secondary_id = str(message.body.get("secondary_id", ""))
            self._services.emit(SecondaryServed(self._plan.cluster.name, source, secondary_id, "bootstrap"))


MESSAGE_HANDLERS: dict[type, Callable[[Secondaries, str, Any], None]] = {
    ReplicationQuestion: Secondaries.on_question,
    BootstrapRequest: Secondaries.on_bootstrap_request,
}
