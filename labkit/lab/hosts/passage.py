"""Passage: replication through load balancers that pass connections through, as far as a node's line shows it.

1. The connection reaches from end to end: a node takes what a balancer passed on as the other end's, and sends its
   answers, and what it pushes, back the same way until that end comes by itself or by another balancer.
2. Only a balancer of the lab passes anything on, and only what belongs to a cluster's port (R25).
3. What went aside of the bulk on the first half of the way goes aside on the second.
"""

from __future__ import annotations

from typing import Any

from labkit.lab.nodes.process import Addressee
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import (
    HEADER_BYTES,
    BootstrapAnswer,
    BootstrapRequest,
    ConnectionChallenge,
    PassedOn,
    ReplicationAnswer,
    ReplicationQuestion,
    ReplicationRefusal,
    StreamPush,
)
from labkit.vault.replication.serving_secondaries import push_bytes, size_bytes
from labkit.vault.replication.trust import root_key_transfer

INWARD = (ReplicationQuestion, BootstrapRequest)
OUTWARD = (ReplicationAnswer, ReplicationRefusal, ConnectionChallenge, StreamPush, BootstrapAnswer)

ASIDE = ("guard_hash", root_key_transfer.QUESTION)
NAMES = {
    ConnectionChallenge: "challenge",
    StreamPush: "stream",
    BootstrapRequest: "bootstrap_request",
    BootstrapAnswer: "bootstrap_answer",
}


class Passage:
    """The line of one node; ``through`` is {host: the balancer by which it is reached}."""

    __slots__ = ("_balancers", "_services", "through")

    def __init__(self, balancers: frozenset[str], services: HostServices, state: dict[str, str] | None = None) -> None:
        self._balancers, self._services = balancers, services
        self.through: dict[str, str] = dict(state or {})

    @property
    def services(self) -> HostServices:
        """The services of the node: what it sends goes by this line."""
        return self._services._replace(send=self._send)

    def in_front_of(self, host: Addressee) -> Addressee:
        """Return what the clock's items for the node go to."""
        return _Opened(self, host)

    def opened(self, source: str, message: Any) -> tuple[str, Any]:
        """Return whose a message is, and the message: what a balancer passed on without its cover."""
        if type(message) is PassedOn and source in self._balancers and _is_inward(message):
            self.through[message.host] = source
            return message.host, message.message
        if self.through and type(message) in INWARD:
            self.through.pop(source, None)
        return source, message

    def state(self) -> dict[str, str]:
        """Return it as plain values."""
        return dict(self.through)

    def _send(self, source: str, target: str, what: str, message: Any, size_bytes: int, aside: bool = False) -> None:
        balancer = self.through.get(target)
        if balancer is not None and type(message) in OUTWARD:
            target, message = balancer, PassedOn(target, message)
        self._services.send(source, target, what, message, size_bytes, aside)


class _Opened:
    """What stands in front of a node: it takes the cover off."""

    __slots__ = ("_host", "_passage")

    def __init__(self, passage: Passage, host: Addressee) -> None:
        self._passage, self._host = passage, host

    def receive(self, source: str, message: Any) -> None:
        """Take a message that arrived."""
        self._host.receive(*self._passage.opened(source, message))

    def on_timer(self, timer: Any) -> None:
        """A timer came back."""
        self._host.on_timer(timer)


def _is_inward(passed: PassedOn) -> bool:
    return type(passed.host) is str and type(passed.message) in INWARD


def goes_aside(message: Any) -> bool:
    """Whether a message of a cluster's port waits for no bulk."""
    if isinstance(message, ReplicationQuestion | ReplicationAnswer):
        return message.rpc in ASIDE or (message.rpc == "echo" and bool(message.message["aside"]))
    return isinstance(message, ConnectionChallenge | BootstrapRequest | BootstrapAnswer) or (
        isinstance(message, ReplicationRefusal) and message.rpc != ""
    )


def name_of(message: Any) -> str:
    """Return what the trace calls a message of a cluster's port."""
    if isinstance(message, ReplicationQuestion | ReplicationAnswer | ReplicationRefusal):
        return message.rpc or "disconnect"
    return NAMES[type(message)]


def passed_bytes(message: Any) -> int:
    """Return how many bytes a message of a cluster's port counts on the wire."""
    if isinstance(message, StreamPush):
        return HEADER_BYTES + push_bytes(message.message.get("entries", ()))
    parts = (message.response.body or {},) if isinstance(message, BootstrapAnswer) else message
    return HEADER_BYTES + sum(size_bytes(part) for part in parts if isinstance(part, dict | str | bytes))
