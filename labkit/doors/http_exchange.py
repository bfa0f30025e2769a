"""HTTP exchange: one request in bytes is answered by a vault or a cluster; every door leads through here.

1. Only what is below ``/v1/`` reaches the service (decision C1).
2. A body is read of POST, PUT and PATCH only: a JSON object in UTF-8, or of POST and PUT a form that does not begin as
   JSON does, of at most ``MAX_FORM_FIELDS`` fields.  White space or null only is not a body.  Of members and headers
   that come twice one counts: the last member, the first header.
3. A body that cannot be read is handed on as ``Unreadable``, so that it is refused, recorded and counted where all
   requests are (decisions C9, C13).
4. A body over ``MAX_UNJUDGED_BYTES`` is read only when path and token of its request were judged, and after the values
   in it were counted (decision C22).
5. An answer's body is JSON and ends with a line break; what HTML could take for markup is escaped.  One that is a text
   goes out as it is, with the type that its headers say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from json import encoder
from typing import Any, NamedTuple, Protocol, runtime_checkable

from labkit.service.json_counts import has_too_many_values
from labkit.service.limits import (
    LONG_NUMBER_DIGITS,
    MAX_FORM_FIELDS,
    MAX_LONG_NUMBERS,
    MAX_REQUEST_BYTES,
    MAX_UNJUDGED_BYTES,
    MAX_VALUES,
)
from labkit.service.message import JSON_TYPE, Body, Request, Response, Unreadable

BODY_METHODS = frozenset(("POST", "PUT", "PATCH"))
FORM_TYPE = "application/x-www-form-urlencoded"
API = "/v1/"
STATUS_PATHS = frozenset(f"{API}sys/{name}" for name in ("health", "leader", "seal-status"))
READ_IN_TURN = frozenset(("origin", "x-vault-wrap-ttl"))
"""Headers with which even these wait for their turn."""
NO_API = Response(404, {"Content-Type": JSON_TYPE}, {"errors": []})

Headers = Iterable[tuple[str, str]]


class Service(Protocol):
    """What a door leads to: a vault, or a cluster of a lab."""

    @property
    def request(self) -> Callable[..., Response]:
        """What answers a request: method, path, body and headers, and of a cluster a timeout."""


@runtime_checkable
class SharedService(Protocol):
    """A service that threads share, one of which is let in at a time: a vault."""

    def try_request(
        self, method: str, path: str, json: Any, headers: dict[str, str], *, remote_address: str
    ) -> Response | None:
        """Answer a request, or return None while another thread is let in."""

    def status(self, request: Request) -> Response:
        """Answer health, seal-status or leader, whatever is under way."""


@runtime_checkable
class AimedService(Protocol):
    """A service whose next requests can be made to fail, wait, get no answer or another one: a vault."""

    @property
    def aims(self) -> Sequence[Any]:
        """What is still to happen to requests to come."""

    def take_aim(self, method: str, path: str, headers: dict[str, str]) -> Any:
        """Return what is to happen to a request, and count it; None for nothing."""

    def act(self, aim: Any) -> Exception | None:
        """Make the call that comes before a request that took an aim; return what it raises."""

    def meet(self, aim: Any, request: Request, is_wanted: bool = True, raised: Exception | None = None) -> Response:
        """Answer a request that took an aim, whose delay is over; ``is_wanted``: whether somebody waits for it."""

    def carry_out(self, request: Request) -> Response:
        """Answer a request whatever is aimed at it."""


class Answer(NamedTuple):
    """An answer as it goes out: status, headers, and the body in bytes; status 0 ends the connection without one."""

    status: int
    headers: dict[str, str]
    content: bytes

    def __repr__(self) -> str:
        return f"Answer({self.status}, {len(self.content)} bytes)"  # never the body, which carries secrets


DROPPED = Answer(0, {}, b"")


class Asked(NamedTuple):
    """What a request in bytes asks of a service."""

    method: str
    target: str
    body: Any
    headers: dict[str, str]

    def __repr__(self) -> str:
        return f"Asked({self.method} {self.target.partition('?')[0]})"  # never headers or body, which carry secrets


class RequestReader:
    """Reads what requests in bytes ask; ``max_request_bytes`` is the largest body."""

    __slots__ = ("max_request_bytes",)

    def __init__(self, max_request_bytes: int = MAX_REQUEST_BYTES) -> None:
        self.max_request_bytes = max_request_bytes

    def __repr__(self) -> str:
        return f"RequestReader({self.max_request_bytes} bytes)"

    @property
    def too_large(self) -> Unreadable:
        """What stands for a body over the limit."""
        return Unreadable(f"http: request body too large; the limit is {self.max_request_bytes} bytes", 413)

    def read(self, method: str, target: str, headers: Headers, content: bytes | Unreadable) -> Asked:
        """Return what a request asks, as ``request`` of a service takes it."""
        named = first_of_each(headers)
        return Asked(method, target, self.read_body(method, named, content), named)

    def read_body(self, method: str, named: dict[str, str], content: bytes | Unreadable) -> Any:
        """Return a request's body, as ``request`` of a service takes it."""
        if method not in BODY_METHODS or not content:
            return None
        if isinstance(content, Unreadable):
            return content
        if len(content) > self.max_request_bytes:
            return self.too_large
        return read_body(method, named.get("content-type", ""), content)


class HttpExchange:
    """Answers requests in bytes; a cluster's clock moves until it has answered, up to a timeout."""

    __slots__ = ("_aimed", "_judge", "_named", "_service", "_shared", "_timed", "reader")

    def __init__(self, service: Service, max_request_bytes: int = MAX_REQUEST_BYTES) -> None:
        if not callable(getattr(service, "request", None)):
            one = 'a vault, or a cluster of a lab such as lab["paris"]'
            raise ValueError(f"service: expected {one}, got {type(service).__name__}")
        self._service, self.reader = service, RequestReader(max_request_bytes)
        self._judge: Callable[[Request], Unreadable | None] | None = getattr(service, "judge_large", None)
        self._shared = service if isinstance(service, SharedService) else None
        self._aimed = service if isinstance(service, AimedService) else None
        self._timed = moves_clock(service)
        self._named = "remote_address" in signature(service.request).parameters

    def __repr__(self) -> str:
        return f"HttpExchange({self._service!r})"

    def answer(
        self,
        method: str,
        target: str,
        headers: Headers,
        content: bytes | Unreadable = b"",
        timeout_s: float | None = None,
        *,
        remote_address: str = "",
    ) -> Answer:
        """Answer one request; ``target`` is path and query as they were sent.

        Raise TimeoutError when a cluster does not answer within ``timeout_s`` seconds of simulated time, 30 unless
        given; a vault answers at once, unless a delay is aimed at it.
        """
        if not target.startswith(API):
            return written(NO_API)
        return self.answer_read(
            method, target, first_of_each(headers), content, timeout_s, remote_address=remote_address
        )

    def answer_read(
        self,
        method: str,
        target: str,
        named: dict[str, str],
        content: bytes | Unreadable,
        timeout_s: float | None = None,
        *,
        remote_address: str = "",
    ) -> Answer:
        """Answer one request to the API, as ``answer`` does; ``named``: its headers, through ``first_of_each``."""
        body = self.read(method, target, named, content, remote_address)
        return self.ask(method, target, named, body, remote_address, timeout_s)

    def ask(
        self, method: str, target: str, named: dict[str, str], body: Any, client: str, timeout_s: float | None = None
    ) -> Answer:
        """Answer one request to the API whose body was read."""
        how = {"timeout": timeout_text(timeout_s)} if self._timed and timeout_s else {}
        if self._named and client:
            how["remote_address"] = client
        return written(self._service.request(method, target, body, named, **how))

    @property
    def has_aims(self) -> bool:
        """Whether something is to happen to some of the requests to come."""
        return self._aimed is not None and bool(self._aimed.aims)

    def take_aim(self, method: str, target: str, named: dict[str, str]) -> Any:
        """Return what is to happen to a request, and count it; None for nothing."""
        return None if self._aimed is None else self._aimed.take_aim(method, target, named)

    def act(self, aim: Any) -> Exception | None:
        """Make the call that comes before a request that took an aim; return what it raises."""
        assert self._aimed is not None
        return self._aimed.act(aim)

    def meet(self, aim: Any, request: Request, is_wanted: bool, raised: Exception | None) -> Answer:
        """Answer a request that took an aim, whose delay is over; ``is_wanted``: whether somebody waits for it."""
        assert self._aimed is not None
        response = self._aimed.meet(aim, request, is_wanted, raised)
        return written(response) if response.status else DROPPED

    def carry_out(self, request: Request) -> Answer:
        """Answer one request to the API that took no aim, whatever was aimed since."""
        if self._aimed is not None:
            return written(self._aimed.carry_out(request))
        method, path, headers, body, client = request
        return self.ask(method, path, {**headers}, body, client)

    @property
    def is_shared(self) -> bool:
        """Whether the service lets in one thread at a time, and says so: as a vault does."""
        return self._shared is not None

    def answer_if_free(
        self, method: str, target: str, named: dict[str, str], content: bytes | Unreadable, client: str
    ) -> Answer | None:
        """Answer one request to the API; None while another thread is let in."""
        assert self._shared is not None
        body = self.reader.read_body(method, named, content)
        answer = self._shared.try_request(method, target, body, named, remote_address=client)
        return None if answer is None else written(answer)

    def status(self, method: str, target: str, named: dict[str, str], client: str) -> Answer | None:
        """Answer health, seal-status and leader, whatever is under way; None for any other request."""
        if self._shared is None or method not in ("GET", "HEAD") or target.partition("?")[0] not in STATUS_PATHS:
            return None
        if not named.keys().isdisjoint(READ_IN_TURN):
            return None
        return written(self._shared.status(Request(method, target, named, None, client)))

    def read(
        self, method: str, target: str, named: dict[str, str], content: bytes | Unreadable, remote_address: str = ""
    ) -> Any:
        """Return a request's body, as ``request`` of the service takes it (rule 4)."""
        judge = self._judge
        if judge is None or len(content) <= MAX_UNJUDGED_BYTES or isinstance(content, Unreadable):
            return self.reader.read_body(method, named, content)
        refused = judge(Request(method, target, named, None, remote_address))
        return self.reader.read_body(method, named, content) if refused is None else refused


def moves_clock(service: Service) -> bool:
    """Whether a service answers after a while of simulated time, so that a client's timeout is meant of that."""
    return "timeout" in signature(service.request).parameters


def timeout_text(seconds: float) -> str:
    """Return a client's timeout as a cluster takes it."""
    return f"{max(int(seconds * 1_000), 1)}ms"


def first_of_each(headers: Headers) -> dict[str, str]:
    """Return headers by their names in lower case; of one that comes twice the first."""
    named: dict[str, str] = {}
    for name, value in headers:
        named.setdefault(name.lower(), value)
    return named


def read_body(method: str, content_type: str, content: bytes) -> Any:
    """Return what a body says: an object, None for nothing, Unreadable for what is neither JSON nor a form."""
    try:
        text = content.decode().strip(" \t\r\n")
    except UnicodeDecodeError as error:
        return Unreadable(f"byte {error.start} is not UTF-8")
    if not text:
        return None
    if content_type.partition(";")[0].strip().lower() == FORM_TYPE and method != "PATCH" and text[0] not in "{[":
        return _read_form(text)
    is_large = len(content) > MAX_UNJUDGED_BYTES
    if is_large and has_too_many_values(content):
        return Unreadable(f"more than {MAX_VALUES} values; send them in several requests")
    try:
        found = (_large_decoder() if is_large else _DECODER).decode(text)
    except RecursionError:
        return Unreadable("nested too deeply")
    except ValueError as error:
        return Unreadable(str(error))
    if found is None:
        return None  # clients of this API send null for a write without data
    return found if type(found) is dict else Unreadable("the body is not an object")


def _read_form(text: str) -> Any:
    if text.count("&") >= MAX_FORM_FIELDS:
        return Unreadable(f"a form of more than {MAX_FORM_FIELDS} fields; at most {MAX_FORM_FIELDS} are taken")
    found: dict[str, list[str]] = {}
    try:
        for field in text.split("&"):
            name, _, value = field.partition("=")
            if field:
                found.setdefault(_unquoted(name), []).append(_unquoted(value))
    except UnicodeDecodeError as error:
        return Unreadable(str(error))
    return {name: ",".join(values) for name, values in found.items()}


def _unquoted(text: str) -> str:
    """Return what a field of a form says; a long one is read in pieces, as each makes many objects."""
    from urllib.parse import unquote_to_bytes

    if "%" not in text and "+" not in text:
        return text
    pieces, place = [], 0
    while place < len(text):
        end = place + _PIECE_CHARACTERS
        mark = text.rfind("%", end - 2, end)
        end = mark if mark > place else end  # what is encoded stays together
        pieces.append(unquote_to_bytes(text[place:end].replace("+", " ")))
        place = end
    return b"".join(pieces).decode()


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _refuse_kind(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _large_decoder() -> json.JSONDecoder:
    """Return what decodes one large body: few long numbers in it, as each takes long to read and to write.

    That each is read here lets other threads have their turns.
    """
    left = MAX_LONG_NUMBERS

    def read_whole(digits: str) -> int:
        nonlocal left
        if len(digits) > LONG_NUMBER_DIGITS:
            left -= 1
            if left < 0:
                most = f"at most {MAX_LONG_NUMBERS} of more than {LONG_NUMBER_DIGITS} digits are taken"
                raise ValueError(f"too many long whole numbers; {most}")
        return int(digits)

    return json.JSONDecoder(parse_constant=_refuse_constant, parse_int=read_whole)


_PIECE_CHARACTERS = 65_536
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
# json makes an encoder for each text; one for all takes half the time per answer (R23)
_encode: Any = encoder.c_make_encoder(  # type: ignore[attr-defined]  # the C half of json, which every CPython has
    None, _refuse_kind, encoder.encode_basestring, None, ":", ",", False, False, True
)


def written(response: Response) -> Answer:
    """Return an answer in bytes; its headers are the response's own."""
    body = response.body
    return Answer(response.status, response.headers, b"" if body is None else _written_body(body))


def _written_body(body: Body | str) -> bytes:
    if type(body) is str:
        return body.encode()
    text = "".join(_encode(body, 0))
    if len(text) <= _PIECE_CHARACTERS:
        return _escaped(text).encode() + b"\n"
    pieces = range(0, len(text), _PIECE_CHARACTERS)  # other threads have their turns between two
    return b"".join([*[_escaped(text[place : place + _PIECE_CHARACTERS]).encode() for place in pieces], b"\n"])


def _escaped(text: str) -> str:
    """Return a text without what HTML could take for markup."""
    if "<" in text or ">" in text or "&" in text:
        text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    if not text.isascii():
        text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return text
