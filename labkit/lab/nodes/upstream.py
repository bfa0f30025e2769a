"""Upstream: a secondary's part in replication: what it asks of the cluster that it follows, and hears from there (R19).

1. What is heard becomes an event for ``sync``.  Before the first answer of a connection it is greeted (``greeting``).
2. The root key of a keyring is asked for beside ``sync`` (``root_key_question``).
3. An announcement that is refused changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab.nodes.greeting import Greeting
from labkit.lab.nodes.node_replica import NodeReplica
from labkit.lab.nodes.root_key_question import RootKeyQuestion
from labkit.lab.plan.blueprint import NodePlan
from labkit.lab.wire.addresses import cluster_address
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import (
    Announcement,
    ConnectionChallenge,
    ReplicationAnswer,
    ReplicationQuestion,
    ReplicationRefusal,
    StreamPush,
)
from labkit.lab.wire.reports import MESSAGE_REFUSED, UpstreamHeard
from labkit.vault.replication.events import Announced, AskUpstream, Event, Pushed, Refused, ReplyArrived
from labkit.vault.replication.serving_secondaries import size_bytes
from labkit.vault.replication.sync import ask, heard
from labkit.vault.replication.trust import announcement, root_key_transfer
from labkit.vault.vault_node import VaultNode

NO_CREDENTIALS_BYTES = size_bytes({})
"""What the credentials of most questions weigh: only one that opens a connection has any."""


class Upstream(NodeReplica):
    """What one node says to the nodes of its upstream; ``heard`` names the host whose answer or push it took last."""

    __slots__ = ("_known", "greeting", "heard", "root_key")

    def __init__(
        self, plan: NodePlan, services: HostServices, vault: VaultNode, incarnation: int, state: dict[str, Any]
    ) -> None:
        super().__init__(plan, services, vault, incarnation)
        self.heard: str = state.get("heard", "")
        self.greeting = Greeting(state.get("greeting"))
        self.root_key = RootKeyQuestion(state.get("root_key"))
        self._known: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The hosts at its addresses; None for a node that follows nobody."""
        sync = self._core.replica.sync
        if sync is None:
            return None
        addresses = sync.addresses
        if self._known[0] is not addresses:  # judged for each message, and seldom others
            nodes = [self._services.resolve(address) for address in addresses]
            self._known = (addresses, tuple([node.node for node in nodes if node is not None]))
        return self._known[1]

    def state(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"heard": self.heard, "greeting": self.greeting.state(), "root_key": self.root_key.state()}

    def ask_root_key(self) -> None:
        """Ask the upstream for its root key, while the keyring that came from there is under another than this one."""
        sync = self._core.replica.sync
        if sync is None or sync.connection_state != "ready":
            return
        serial = self.root_key.next(self._core)
        target = self._services.resolve(sync.addresses[0]) if serial else None
        if target is not None:
            secondary_id = self._mode.secondary_id
            question = ReplicationQuestion(root_key_transfer.QUESTION, secondary_id, {"serial": serial}, {})
            self._put(target.node, question, aside=True)

    def ask(self, send: AskUpstream) -> None:
        """Send what sync asks for; at the beginning of a connection, the question that opens it."""
        replica = self._core.replica
        sync, tree = replica.sync, replica.journal.tree
        assert tree is not None
        message = ask(send, tree)
        target = self._services.resolve(send.to)
        if target is None:
            return
        secondary_id = self._mode.secondary_id if sync is None else sync.secondary_id
        question = ReplicationQuestion(send.rpc, secondary_id, message, {})
        if send.rpc == "guard_hash":
            message["addresses"] = [cluster_address(name) for name in self._plan.cluster.node_names]
            self.greeting.begin(target.node, question)
        elif sync is not None and sync.connection_state == "connecting":
            question = self.greeting.instead_of(question, target.node)
        elif send.rpc == "echo" and send.aside and sync is not None and sync.awaiting != "guard_hash":
            # It proves nothing of what was asked before: it may be lost, and be overtaken.
            self._datagram(target.node, send.rpc, question, size_bytes(message))
            return
        self._put(target.node, question, send.aside)

    def on_answer(self, source: str, message: ReplicationAnswer) -> Event | None:
        """Take the answer to a question; that to the one for the root key is kept here."""
        if message.rpc == root_key_transfer.QUESTION:
            why = self.root_key.take(self._core, message.message)
            if why:
                self._core.observe(MESSAGE_REFUSED, source=source, reason=why)
            return None
        tree = self._core.replica.journal.tree
        assert tree is not None
        if source != self.heard:
            self._hear(source)
        return ReplyArrived(message.rpc, heard(message.rpc, message.message, tree), self._moment())

    def on_refusal(self, source: str, message: ReplicationRefusal) -> Event:
        """Take the refusal of a question, or the end of the connection."""
        reason, addresses = message.reason, message.addresses
        return Refused(message.rpc, message.serial, reason, self._moment(), addresses)

    def on_push(self, source: str, message: StreamPush) -> Event:
        """Take entries of the journal there."""
        if source != self.heard:
            self._hear(source)
        return Pushed(message.message)

    def on_announcement(self, source: str, message: Announcement) -> Event | None:
        """Take the announcement of a new active node there, unless it is refused."""
        content, sync = message.message, self._core.replica.sync
        assert sync is not None
        why = announcement.why_refused(self._core, sync, content)
        if not why:
            return Announced(content["address"], content["term"], self._moment())
        self._core.observe(MESSAGE_REFUSED, source=source, reason=f"an announcement: {why}")
        return None

    def on_challenge(self, source: str, challenge: ConnectionChallenge) -> Event | None:
        """Prove to a node there who this is, and ask it again; what it may not be shown counts as its refusal."""
        try:
            question = self.greeting.proven(source, challenge, self._core)
        except ValueError as error:
            self._core.observe("upstream_refused", reason=str(error))
            return Refused("guard_hash", challenge.serial, str(error), self._moment())
        if question:
            self._put(source, question, aside=True)
        return None

    def _put(self, node: str, question: ReplicationQuestion, aside: bool) -> None:
        credentials = question.credentials
        size = size_bytes(question.message) + (size_bytes(credentials) if credentials else NO_CREDENTIALS_BYTES)
        self._send(node, question.rpc, question, size, aside)

    def _hear(self, source: str) -> None:
        self.heard = source
        self._services.emit(UpstreamHeard(self._plan.cluster.name, source))


EVENTS: dict[type, Callable[[Upstream, str, Any], Event | None]] = {
    ReplicationAnswer: Upstream.on_answer,
    ReplicationRefusal: Upstream.on_refusal,
    StreamPush: Upstream.on_push,
    Announcement: Upstream.on_announcement,
    ConnectionChallenge: Upstream.on_challenge,
}
"""What makes an event for ``sync`` of each message of an upstream; None where there is nothing for ``sync`` in it."""
