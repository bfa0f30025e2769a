"""Messages: what hosts of a lab send each other, and the timers they set, each a named record of plain data (R1).

1. A message is handed to the handler that its receiver keeps under the record's type.
2. A node's timer carries the incarnation in which it was set: one of an earlier incarnation is ignored.
3. A size on the wire is the body's and that of one header.
4. Any host may send any other anything.  A receiver asks ``malformed`` first; it refuses, counts and reports what is
   not a record of this file or has parts of another kind (R25).  What a request asks for is judged by its handler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from labkit.service.limits import is_text, is_whole_number
from labkit.service.message import Body, Request, Response
from labkit.service.wire_size import wire_size
from labkit.vault.replication import shapes

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
    """The answer to a secondary's question; one kind holds a root key."""

    rpc: str
    message: dict[str, Any]

    def __repr__(self) -> str:
        return f"ReplicationAnswer({self.rpc})"


class ReplicationRefusal(NamedTuple):
    """Why a question is refused, or (rpc "") the whole connection ends, and the addresses to ask instead.

    ``serial`` is the question's; of a heartbeat, that of the question before it.
    """

    rpc: str
    serial: int
    reason: str
    addresses: tuple[str, ...] = ()


class ConnectionChallenge(NamedTuple):
    """What a secondary is to sign before its question under this serial, the first of a connection, is answered."""

    serial: int
    text: str
    seal: bytes


class StreamPush(NamedTuple):
    """Journal entries that a primary pushes to a secondary."""

    message: dict[str, Any]


class ForwardedRequest(NamedTuple):
    """A request of the API that a standby forwards, under a number of its own; its remote address is the caller."""

    number: int
    correlation: Correlation
    request: Request


class ForwardedAnswer(NamedTuple):
    """The answer to a forwarded request."""

    number: int
    response: Response


class Announcement(NamedTuple):
    """The announcement of a primary's new active node to a node of a secondary."""

    message: dict[str, Any]


class BootstrapRequest(NamedTuple):
    """A secondary's request for what it needs to join: a certificate, a challenge, then the keys.

    ``number`` is its fetch.
    """

    number: int
    operation: str
    body: Body

    def __repr__(self) -> str:
        return f"BootstrapRequest({self.number})"


class BootstrapAnswer(NamedTuple):
    """The answer to a bootstrap request."""

    number: int
    response: Response


class PassedOn(NamedTuple):
    """What a load balancer passes on, or is to pass on: the host at the other end, and what it sent or is sent."""

    host: str
    message: Any


class LeaseTimer(NamedTuple):
    """Time to renew the lease, or to look who holds it."""

    incarnation: int


class FetchStart(NamedTuple):
    """The time at which a fetch is to be sent."""

    incarnation: int
    number: int


class FetchTimeout(NamedTuple):
    """The end of the time that a fetch may take."""

    incarnation: int
    number: int


class ForwardTimeout(NamedTuple):
    """The end of the time that the answer to a forwarded request may take."""

    incarnation: int
    number: int


class DueTimer(NamedTuple):
    """Something in the vault falls due."""

    incarnation: int


class ServiceTimer(NamedTuple):
    """The end of the work on a request."""

    incarnation: int


class SyncTimer(NamedTuple):
    """A timer that the secondary's sync asked for, by name."""

    incarnation: int
    name: str
    serial: int


class AnnounceTimer(NamedTuple):
    """Time for a primary's new active node to announce itself again; ``left`` times more after that."""

    incarnation: int
    term: int
    left: int


class FlapTimer(NamedTuple):
    """Time for a flapping line to go down, or to come up again; ``serial`` is that of the flapping."""

    a: str
    b: str
    serial: int


class WorkTimer(NamedTuple):
    """Time for the next operation of a client's workload."""

    workload: int


class AttemptTimeout(NamedTuple):
    """The end of the time that a client gives the oldest attempt under way."""


class CheckTimer(NamedTuple):
    """Time for the next round of health checks."""


class CloudAnswerTimer(NamedTuple):
    """Time for the cloud to send an answer that it was asked for, to whoever asked."""

    asker: str
    answer: ApiAnswer


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


NodeTimer = LeaseTimer | FetchStart | FetchTimeout | ForwardTimeout | DueTimer | SyncTimer | AnnounceTimer


def size_of(body: Body | None) -> int:
    """Return how many bytes a message of the API with this body counts on the wire."""
    return HEADER_BYTES + (wire_size(body) if body else 0)


def malformed(message: Any) -> str:
    """Return what is wrong with a message that arrived, an empty text when it can be handled."""
    check = CHECKS.get(type(message))
    return "a message of an unknown kind" if check is None else check(message)


def malformed_answer(message: Any) -> str:
    """Return what is wrong with a message to a host that awaits answers of the API only, as ``malformed`` does."""
    return _check_answer(message) if type(message) is ApiAnswer else "a message that is not an answer"


def _check_request(message: ApiRequest) -> str:
    request = message.request
    if type(request) is not Request or not (type(request.method) is type(request.path) is str):
        return "an API request without method or path"
    if type(request.headers) is not dict:
        return "an API request without headers"
    return _check_correlation(message.correlation)


def _check_forwarded_request(message: ForwardedRequest) -> str:
    wrong = _check_request(ApiRequest(message.correlation, message.request))
    if wrong or not is_whole_number(message.number):
        return wrong or "a forwarded request without a number"
    return "" if type(message.request.remote_address) is str else "a forwarded request without its caller"


def _check_forwarded_answer(message: ForwardedAnswer) -> str:
    wrong = _check_response(message.response)
    return wrong or ("" if type(message.number) is int else "the answer to a forwarded request without a number")


def _check_answer(message: ApiAnswer) -> str:
    return _check_response(message.response) or _check_correlation(message.correlation)


def _check_correlation(correlation: Any) -> str:
    if type(correlation) is not Correlation or type(correlation.asker) is not str:
        return "an API message without a correlation"
    if not is_whole_number(correlation.number) or not is_whole_number(correlation.attempt):
        return "an API message without a correlation's numbers"
    return ""


def _check_response(response: Any) -> str:
    if type(response) is not Response or not is_whole_number(response.status) or type(response.code) is not str:
        return "an answer without a status"
    if type(response.headers) is not dict or not _all_text(response.headers.values()):
        return "an answer with malformed headers"
    body = response.body
    if body is None:
        return ""
    if type(body) is not dict:
        return "an answer with a malformed body"
    for name in ("errors", "warnings"):
        if not (body.get(name) is None or (type(body[name]) is list and _all_text(body[name]))):
            return f"an answer with malformed {name}"
    return ""


def _check_question(message: ReplicationQuestion) -> str:
    if not shapes.is_id(message.secondary_id):
        return "a replication question without a secondary's id"
    return shapes.malformed_question(message.rpc, message.message) or shapes.malformed_credentials(message.credentials)


def _check_refusal(message: ReplicationRefusal) -> str:
    texts = is_text(message.rpc) and shapes.is_short(message.reason) and type(message.addresses) is tuple
    if not texts or not is_whole_number(message.serial) or len(message.addresses) > shapes.MAX_ADDRESSES:
        return "a malformed refusal of a replication question"
    if not all(map(shapes.is_short, message.addresses)):
        return "a malformed refusal of a replication question"
    return ""


def _check_challenge(message: ConnectionChallenge) -> str:
    parts = [type(part) for part in message]
    return "" if parts == [int, str, bytes] and is_text(message.text) else "a malformed challenge"


def _check_push(message: StreamPush) -> str:
    return shapes.malformed_push(message.message)


def _check_bootstrap_answer(message: BootstrapAnswer) -> str:
    wrong = _check_response(message.response)
    if wrong or not is_whole_number(message.number):
        return wrong or "a bootstrap answer without a number"
    if not message.response.ok:
        return ""
    data = message.response.data
    if type(data) is not dict:
        return "a bootstrap answer without data"
    if type(data.get("challenge")) is str:
        return "" if _is_hex(data.get("seal")) else "a challenge without a seal"
    if type(data.get("certificate")) is str:
        return "" if _is_hex(data.get("signature")) else "a certificate without a signature"
    parts = [data.get(name) for name in BOOTSTRAP_PARTS]
    return "" if all(map(_is_hex, parts)) else "a bootstrap answer without keys"


def _check_bootstrap_request(message: BootstrapRequest) -> str:
    if not is_whole_number(message.number):
        return "a bootstrap request without a number"
    return shapes.malformed_bootstrap_request(message.operation, message.body)


def _all_text(values: Any) -> bool:
    return set(map(type, values)) <= {str}


def _is_hex(value: Any) -> bool:
    try:
        return type(value) is str and bool(bytes.fromhex(value))
    except ValueError:
        return False


BOOTSTRAP_PARTS = ("root_key", "keyring", "seal_config")

CHECKS: dict[type, Callable[[Any], str]] = {
    ApiRequest: _check_request,
    ApiAnswer: _check_answer,
    ForwardedRequest: _check_forwarded_request,
    ForwardedAnswer: _check_forwarded_answer,
    ReplicationQuestion: _check_question,
    ReplicationAnswer: lambda message: shapes.malformed_answer(message.rpc, message.message),
    ReplicationRefusal: _check_refusal,
    ConnectionChallenge: _check_challenge,
    StreamPush: _check_push,
    Announcement: lambda message: shapes.malformed_announcement(message.message),
    BootstrapRequest: _check_bootstrap_request,
    BootstrapAnswer: _check_bootstrap_answer,
}
