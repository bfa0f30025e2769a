"""Messages: what hosts of a lab send each other, and the timers they set, each a named record of plain data (R1).

1. A message is handed to the handler that its receiver keeps under the record's type.
2. A node's timer carries the incarnation in which it was set: one of an earlier incarnation is ignored.
3. A size on the wire is the body's and that of one header.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.service.limits import wire_size
from labkit.service.message import Body, Request, Response

HEADER_BYTES = 160


class Correlation(NamedTuple):
    """Which request an answer belongs to: who asked, the asker's number for it, and which attempt it was."""

    asker: str
    number: int
    attempt: int = 0


class ApiRequest(NamedTuple):
    """A request of the API."""

    correlation: Correlation
    request: Request


class ApiAnswer(NamedTuple):
    """The answer to a request of the API."""

    correlation: Correlation
    response: Response


class ReplicationQuestion(NamedTuple):
    """A question of a secondary; credentials come with the first of a connection."""

    rpc: str
    secondary_id: str
    message: dict[str, Any]
    credentials: dict[str, Any]


class ReplicationAnswer(NamedTuple):
    """The answer to a secondary's question."""

    rpc: str
    message: dict[str, Any]


class ReplicationRefusal(NamedTuple):
    """Why a question, or (rpc "") the whole connection, is refused, and the addresses to ask instead."""

    rpc: str
    serial: int
    reason: str
    addresses: tuple[str, ...] = ()


class StreamPush(NamedTuple):
    """Journal entries that a primary pushes to a secondary."""

    message: dict[str, Any]


class BootstrapRequest(NamedTuple):
    """A secondary's request for what it needs to join; ``number`` is its fetch."""

    number: int
    body: Body


class BootstrapAnswer(NamedTuple):
    """The answer to a bootstrap request."""

    number: int
    response: Response


class LeaseTimer(NamedTuple):
    """Time to renew the lease, or to look who holds it."""

    incarnation: int


class FetchTimeout(NamedTuple):
    """The end of the time that a fetch may take."""

    incarnation: int
    number: int


class DueTimer(NamedTuple):
    """Something in the vault falls due."""

    incarnation: int


class SyncTimer(NamedTuple):
    """A timer that the secondary's sync asked for, by name."""

    incarnation: int
    name: str
    serial: int


class ReplyTimeout(NamedTuple):
    """The end of the time that an upstream's answer may take."""

    incarnation: int
    rpc: str
    serial: int


class WorkTimer(NamedTuple):
    """Time for the next operation of a client's workload."""

    workload: int


class AttemptTimeout(NamedTuple):
    """The end of the time that a client gives one attempt of an operation."""

    number: int
    attempt: int


class RetryTimer(NamedTuple):
    """Time for the next attempt of a client's operation."""

    number: int
    attempt: int


class AskDeadline(NamedTuple):
    """The end of the time that an operator gives a request."""

    number: int


class AskAgain(NamedTuple):
    """Time to look again for a node that an operator's request can be sent to."""

    number: int
    tries: int


class PauseOver(NamedTuple):
    """The end of a runbook's pause."""

    number: int


NodeTimer = LeaseTimer | FetchTimeout | DueTimer | SyncTimer | ReplyTimeout


def size_of(body: Body | None) -> int:
    """Return how many bytes a message of the API with this body counts on the wire."""
    return HEADER_BYTES + (wire_size(body) if body else 0)
