"""Senders: from which host a message may come, beside what it says (R25).

1. Only a node of the same cluster forwards requests, and their answers.
2. The answer to a fetch comes from the host that was asked; a number under which nothing is asked is ignored.
3. Only a host at an address of the upstream answers, challenges, pushes, refuses, disconnects or announces itself.  A
   node that follows nobody ignores all of these; what one that it no longer follows had under way is refused like a
   stranger's.
4. Whose question it is, is proven by what it shows: the replication link judges that.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any, Protocol

from labkit.lab.plan.blueprint import NodePlan
from labkit.lab.wire.messages import (
    Announcement,
    ApiAnswer,
    BootstrapAnswer,
    ConnectionChallenge,
    ForwardedAnswer,
    ForwardedRequest,
    ReplicationAnswer,
    ReplicationRefusal,
    StreamPush,
)
from labkit.lab.wire.reports import NOT_ASKED


class Followed(Protocol):
    """Whom a node follows, as far as it is asked here."""

    @property
    def hosts(self) -> Container[str] | None:
        """The hosts at the upstream's addresses; None for a node that follows nobody."""


class Follower(Protocol):
    """A node's replication link, as far as it is asked here."""

    @property
    def upstream(self) -> Followed:
        """Its side towards whom it follows."""


class Receiver(Protocol):
    """A node, as far as it is asked here; ``fetches`` is {number: (request that waits, host that was asked)}."""

    plan: NodePlan
    fetches: dict[int, tuple[int, str]]

    @property
    def link(self) -> Follower:
        """Its replication link."""


def foreign(node: Receiver, source: str, message: Any) -> str:
    """Return why a host is not one that such a message may come from; an empty text when it is."""
    judge = JUDGES.get(type(message))
    return "" if judge is None else judge(node, source, message)


def _from_fellow(node: Receiver, source: str, message: Any) -> str:
    return "" if source in node.plan.cluster.node_names else "a forwarded message from outside the cluster"


def _to_fetch(node: Receiver, source: str, message: ApiAnswer | BootstrapAnswer) -> str:
    number = message.number if isinstance(message, BootstrapAnswer) else message.correlation.number
    _, asked = node.fetches.get(number, (0, source))
    return "" if asked == source else NOT_ASKED


def _from_upstream(node: Receiver, source: str, message: Any) -> str:
    known = node.link.upstream.hosts
    return "" if known is None or source in known else "a replication message of a host that is not the upstream"


JUDGES: dict[type, Callable[[Receiver, str, Any], str]] = {
    ForwardedRequest: _from_fellow,
    ForwardedAnswer: _from_fellow,
    ApiAnswer: _to_fetch,
    BootstrapAnswer: _to_fetch,
    ReplicationAnswer: _from_upstream,
    ReplicationRefusal: _from_upstream,
    StreamPush: _from_upstream,
    Announcement: _from_upstream,
    ConnectionChallenge: _from_upstream,
}
