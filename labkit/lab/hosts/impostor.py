"""Impostor: a host in the middle that takes a node's place for all other sites, without the node's keys.

1. It gets what hosts elsewhere send to the node; hosts at the node's own site reach the node itself.
2. A client's connection fails on it, as on a server with the certificate of another: requests of the API end there
   unread, and the client hears nothing.
3. What belongs to the cluster's port it sends on to the node, and what it is answered to those who asked, under its own
   name, for it has no other.  Both sides refuse what they can: a challenge is not believed, and so no proof is shown.
"""

from __future__ import annotations

from typing import Any

from labkit.lab.nodes.process import Addressee
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import HEADER_BYTES, ApiAnswer, ApiRequest, ForwardedAnswer, ForwardedRequest

UNREADABLE = (ApiRequest, ApiAnswer, ForwardedRequest, ForwardedAnswer)
MAX_ASKERS = 32


class Impostor:
    """The impostor of one node; ``near`` are the hosts at its own site, ``present``: it is in the middle."""

    __slots__ = ("_near", "_node", "_services", "askers", "name", "present", "seen")

    def __init__(
        self, node: str, near: frozenset[str], services: HostServices, state: dict[str, Any] | None = None
    ) -> None:
        state = state or {}
        self._node, self._near, self._services = node, near, services
        self.name = name_of(node)
        self.present: bool = state.get("present", True)
        self.askers: dict[str, None] = dict.fromkeys(state.get("askers", ()))
        self.seen: int = state.get("seen", 0)

    def __repr__(self) -> str:
        return f"Impostor({self._node}, {self.seen} messages)"

    def in_front_of(self, host: Addressee) -> Addressee:
        """Return what the clock's items for the node go to while it is in the middle."""
        return _Middle(self, host)

    def stands_for(self, source: str) -> bool:
        """Whether a message of this host to the node reaches the impostor."""
        return source not in self._near and source != self.name

    def receive(self, source: str, message: Any) -> None:
        """Take what was sent to the node, or what the node answered."""
        self.seen += 1
        if not self.present or isinstance(message, UNREADABLE):
            return
        if source == self._node:
            for asker in tuple(self.askers):
                self._send(asker, message)
        else:
            self.askers[source] = None
            while len(self.askers) > MAX_ASKERS:
                del self.askers[next(iter(self.askers))]
            self._send(self._node, message)

    def state(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"present": self.present, "askers": tuple(self.askers), "seen": self.seen}

    def _send(self, target: str, message: Any) -> None:
        self._services.send(self.name, target, "forged", message, HEADER_BYTES)


class _Middle:
    """What stands at a node's place: messages from elsewhere go to the impostor, all else to the node."""

    __slots__ = ("_host", "_impostor")

    def __init__(self, impostor: Impostor, host: Addressee) -> None:
        self._impostor, self._host = impostor, host

    def receive(self, source: str, message: Any) -> None:
        chosen: Any = self._impostor if self._impostor.stands_for(source) else self._host
        chosen.receive(source, message)

    def on_timer(self, timer: Any) -> None:
        self._host.on_timer(timer)


def name_of(node: str) -> str:
    """Return the name of a node's impostor."""
    return f"{node}-impostor"
