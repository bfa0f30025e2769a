"""The ASGI application: requests that a server read from its sockets are answered by a vault or a cluster.

1. One request is answered at a time.  What is short is answered between two turns of the server's loop; what may take
   long, by its path or the size of its body or of what is stored, in a thread beside it, and what comes meanwhile waits
   for its turn there.  So is what is asked again at one of the last ``MAX_LARGE`` paths whose answers had more than
   ``LARGE_BYTES``.  Passwords are hashed in a thread of their own, which holds up no other request but those of
   passwords.  Health, seal-status and leader are answered at once, whatever is under way (decision C22).
2. A body is counted while it is read.  One over the limit is read no further than ``DRAINED`` times the limit and is
   refused with 413; of a client that waits for ``100 Continue`` nothing is read.
3. A request that is cut short is not answered; one with too long headers is refused with 431.
4. The path ``/`` is a page that says what this is.
5. What stands beside the API has paths of its own (``control``).
6. ``names``, where there are any, are the names under which it is asked (``host_names``).
7. What was aimed at requests to come (``fail_next`` and its like) is met in the thread beside the loop; a delay holds
   up its own request only (``delays``), and a call before one has a thread of its own.
8. A bug is answered 500 and noted without what the request carried (``bugs``).
"""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import partial
from typing import Any, Protocol

from labkit.doors.bugs import Log, note_bug
from labkit.doors.delays import Delays
from labkit.doors.host_names import FOREIGN, HostNames
from labkit.doors.http_exchange import (
    API,
    BODY_METHODS,
    DROPPED,
    NO_API,
    Answer,
    HttpExchange,
    RequestReader,
    Service,
    first_of_each,
    written,
)
from labkit.doors.other_end import OtherEnd, other_end
from labkit.doors.page import page_file
from labkit.doors.request_heads import read_head
from labkit.doors.worker import Worker
from labkit.service.errors import Forked, to_response
from labkit.service.limits import MAX_REQUEST_BYTES
from labkit.service.message import Request, Unreadable, respond
from labkit.service.request_path import readable
from labkit.vault import cors

DRAINED = 4
MAX_HEADER_BYTES = 65_536
SHORT_BYTES = 4_096
LARGE_BYTES, MAX_LARGE = 1_048_576, 64

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_LONG = re.compile(
    r"/(?:keys|restore|backup|users|login|init|rekey|rotate|tidy|revoke[a-z-]*|rotate-root|csr|replication"
    r"|sys/(?:mounts|auth|remount|namespaces|managed-keys|leases|raw))(?:[/?]|$)"
)
_HASHING = re.compile(r"/(?:login/[^/?]+|users/[^/?]+(?:/password)?)(?:\?|$)")
_WRAPPING_KEY = "/wrapping_key"  # is made when it is first read


def is_long(method: str, target: str, content: bytes | Unreadable) -> bool:
    """Whether a request may take long: by the size of its body, or by what its path names."""
    if len(content) > SHORT_BYTES:
        return True
    if method == "GET" or method == "LIST":
        return target.endswith(_WRAPPING_KEY)
    return _LONG.search(target) is not None


def _refusal(status: int, text: str) -> Answer:
    return written(respond(status, {"errors": [text]}))


def last(status: int, text: str) -> Answer:
    """Return the answer after which a connection ends, for what is wrong with the connection or with the server."""
    return Answer(status, {"Content-Type": "text/plain; charset=utf-8", "Connection": "close"}, text.encode())


TOO_LONG = _refusal(431, f"request headers of more than {MAX_HEADER_BYTES} bytes")
FAILED = last(500, "Internal Server Error")
SILENT = _refusal(504, "the cluster did not answer in time")
NOT_NAMED = _refusal(403, FOREIGN)


def target_of(scope: Message) -> tuple[str, str]:
    """Return a request's path, and path and query, as they were sent."""
    path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
    return path, f"{path}?{query}" if query else path


class Beside(Protocol):
    """What answers beside the API, below paths of its own."""

    @property
    def prefixes(self) -> tuple[bytes, ...]:
        """How its paths begin."""

    async def answer(self, scope: Message, headers: list[tuple[str, str]], content: bytes | Unreadable) -> Answer:
        """Answer one request that was read."""


class HttpApp(ABC):
    """What reads requests and sends answers; ``log`` gets a line for each, without query, headers and body."""

    __slots__ = ("beside", "decoding", "log", "names", "reader")

    def __init__(self, max_request_bytes: int = MAX_REQUEST_BYTES, log: Log | None = None) -> None:
        self.reader, self.log = RequestReader(max_request_bytes), log
        self.beside: Beside | None = None
        self.names: HostNames | None = None
        self.decoding = Worker("decoding")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request; anything else that a server offers is declined."""
        if scope["type"] != "http":
            raise ValueError(f"HTTP is spoken here, not {scope['type']}")
        scope, headers, status, why = read_head(scope)
        content = await self._read(scope["method"], headers, receive)
        if content is None:
            return
        try:
            answer = _refusal(status, why) if status else await self._answer_one(scope, headers, content)
        except Exception as bug:
            note_bug(self.log, bug)
            answer = FAILED
        if answer.status == 0:
            await _end_connection(scope, receive)
            return
        await send({"type": "http.response.start", "status": answer.status, "headers": _encoded(answer)})
        await send({"type": "http.response.body", "body": answer.content})
        if self.log is not None:
            server, client = scope.get("server"), scope.get("client")
            path = scope["raw_path"].decode("latin-1")
            self._note(server[1] if server else 0, client[0] if client else "-", scope["method"], path, answer.status)

    async def _answer_one(self, scope: Message, headers: list[tuple[str, str]], content: bytes | Unreadable) -> Answer:
        """Answer one request that was read, by whatever stands at its path."""
        if sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES:
            return TOO_LONG
        beside, server = self.beside, scope.get("server")
        if beside is not None and scope["raw_path"].startswith(beside.prefixes):
            return await beside.answer(scope, headers, content)
        if self.names is not None and not self.is_named(first_of_each(headers), server[1] if server else 0):
            return NOT_NAMED
        return await self._answer(scope, headers, content)

    def is_named(self, headers: Mapping[str, str], port: int) -> bool:
        """Whether a request may come in by its ``Host`` and ``Origin`` (rule 6)."""
        return self.names is None or self.names.admit(headers, partial(self._has_cors, port))

    def _has_cors(self, port: int) -> bool:
        """Whether what answers on a port judges the origins of requests by itself."""
        return False

    def close(self) -> None:
        """End the threads beside the loop."""
        self.decoding.close()

    def _note(self, port: int, client: str, method: str, path: str, status: int) -> None:
        """Write a request's line of the log."""
        if self.log is not None:
            self.log(f"{self._door_of(port)}{client} {method} {readable(path) or '/'} {status}")

    def _door_of(self, port: int) -> str:
        """Say in a line of the log where a request came in, when there is a choice."""
        return ""

    @abstractmethod
    async def _answer(self, scope: Message, headers: list[tuple[str, str]], content: bytes | Unreadable) -> Answer:
        """Answer one request that was read."""

    async def _read(self, method: str, headers: list[tuple[str, str]], receive: Receive) -> bytes | Unreadable | None:
        """Return the body, Unreadable for one over the limit, None for one that was cut short."""
        limit, size, pieces = self.reader.max_request_bytes, 0, []
        expects = any(name.lower() == "expect" for name, _ in headers)
        declared = max((int(value) for name, value in headers if name.lower() == "content-length"), default=0)
        more = not (expects and declared > limit)
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            piece = message.get("body", b"")
            size += len(piece)
            if size <= limit:
                pieces.append(piece)
            elif size > DRAINED * limit:
                break
            more = message.get("more_body", False)
        if max(size, declared) > limit and method in BODY_METHODS:
            return self.reader.too_large
        return b"".join(pieces)


class App(HttpApp):
    """An ASGI application behind which one vault stands, or one cluster."""

    __slots__ = ("_delays", "_large", "_service", "exchange", "hashing", "steps")

    def __init__(self, service: Service, max_request_bytes: int = MAX_REQUEST_BYTES, log: Log | None = None) -> None:
        super().__init__(max_request_bytes, log)
        self.steps, self.hashing, self._delays = Worker("steps"), Worker("hashing"), Delays()
        self._large: dict[str, None] = {}  # paths whose answers were large, the oldest first
        self.lead_to(service)

    def lead_to(self, service: Service) -> None:
        """Let another vault or cluster answer from now on."""
        self._delays.end()
        if hasattr(service, "look_ahead"):
            service.look_ahead()
        self.exchange, self._service = HttpExchange(service, self.reader.max_request_bytes), service

    def end_delays(self) -> None:
        """End what waits for its delay: the server stops."""
        self._delays.end()

    def close(self) -> None:
        """End the threads beside the loop."""
        super().close()
        self.steps.close()
        self.hashing.close()

    async def _answer(self, scope: Message, headers: list[tuple[str, str]], content: bytes | Unreadable) -> Answer:
        path, target = target_of(scope)
        page = page_file(path)
        if page is not None:
            return page
        if not target.startswith(API):
            return written(NO_API)
        is_gone, named = scope.get("state", {}).get("is_gone", lambda: False), first_of_each(headers)
        other = other_end(scope.get("client"), scope.get("server"), is_gone)
        answer = self._at_once(scope["method"], target, named, content, other.address)
        return answer or await self._in_turn(scope["method"], target, named, content, other)

    def answer(self, method: str, target: str, named: dict[str, str], content: bytes, client: str) -> Answer | None:
        """Answer a request to the API that a server has read whole, and log it; ``named``: its headers by name.

        None for one that may take long, or waits for another: it is for ``answer_later``.
        """
        if self.names is not None and not self.is_named(named, 0):
            answer: Answer | None = NOT_NAMED
        else:
            answer = self._at_once(method, target, named, content, client)
        if self.log is not None and answer is not None:
            self._note(0, client, method, target.partition("?")[0], answer.status)
        return answer

    async def answer_later(
        self, method: str, target: str, named: dict[str, str], content: bytes, other: OtherEnd
    ) -> Answer:
        """Answer a request that ``answer`` has not answered, when its turn comes, and log it."""
        answer = await self._in_turn(method, target, named, content, other)
        self._note(0, other.address, method, target.partition("?")[0], answer.status)
        return answer

    def _at_once(
        self, method: str, target: str, named: dict[str, str], content: bytes | Unreadable, client: str
    ) -> Answer | None:
        """Answer a request between two turns of the loop; None for one that has to wait (rule 1)."""
        exchange = self.exchange
        try:
            if exchange.has_aims:
                return None
            if not exchange.is_shared:
                return exchange.answer_read(method, target, named, content, remote_address=client)
            if self.steps.waiting or is_long(method, target, content) or self._had_large_answer(target):
                return exchange.status(method, target, named, client)
            answer = exchange.answer_if_free(method, target, named, content, client)
            return self._weighed(answer, target) if answer else exchange.status(method, target, named, client)
        except TimeoutError:
            return SILENT
        except Forked as refusal:
            return written(to_response(refusal))

    async def _in_turn(
        self, method: str, target: str, named: dict[str, str], content: bytes | Unreadable, other: OtherEnd
    ) -> Answer:
        """Answer a request in a thread beside the loop: its body is read first, which holds up no other step."""
        exchange, client = self.exchange, other.address
        thread = self.hashing if exchange.is_shared and _HASHING.search(target) else self.steps
        try:
            aim = exchange.take_aim(method, target, named)
            raised = None if aim is None or aim.call is None else await asyncio.to_thread(exchange.act, aim)
            is_late = aim is not None and aim.when == "before" and not await self._waited(aim, other)
            body = await self.decoding.run(partial(exchange.read, method, target, named, content, client))
            request = Request(method, target, named, body, client)
            if aim is None:
                return self._weighed(await thread.run(partial(exchange.carry_out, request)), target)
            answer = await self.steps.run(partial(exchange.meet, aim, request, not is_late, raised))
            is_late = aim.when == "after" and not await self._waited(aim, other)
            return DROPPED if is_late else answer
        except Forked as refusal:
            return written(to_response(refusal))

    async def _waited(self, aim: Any, other: OtherEnd) -> bool:
        """Let the delay that was asked for pass, if one was; return whether the answer is still wanted."""
        return not aim.delay_ns or await self._delays.over(aim, other)

    def _weighed(self, answer: Answer, target: str) -> Answer:
        """Return an answer, and keep what was asked for when it is large: the next one would hold up the loop."""
        if len(answer.content) > LARGE_BYTES:
            path = target.partition("?")[0]
            self._large.pop(path, None)
            self._large[path] = None
            if len(self._large) > MAX_LARGE:
                del self._large[next(iter(self._large))]
        return answer

    def _had_large_answer(self, target: str) -> bool:
        """Whether an answer to this was large lately, whatever its query says."""
        return bool(self._large) and target.partition("?")[0] in self._large

    def _has_cors(self, port: int) -> bool:
        core: Any = getattr(self._service, "core", None)
        return core is not None and cors.is_configured(core)


class LaterApp(HttpApp):
    """An ASGI application that lets time pass before it answers."""

    __slots__ = ()

    @abstractmethod
    async def answer_later(
        self, method: str, target: str, named: dict[str, str], content: bytes, other: OtherEnd
    ) -> Answer:
        """Answer a request to the API that a server has read whole on one of its ports."""


async def _end_connection(scope: Message, receive: Receive) -> None:
    """End the connection of a request that gets no answer, by what its server offers (``PlainConnection``)."""
    abort = scope.get("state", {}).get("abort")
    if abort is None:
        raise ConnectionAbortedError("this server has no way to end a connection without an answer")
    abort()
    while (await receive())["type"] != "http.disconnect":
        pass


def _encoded(answer: Answer) -> list[tuple[bytes, bytes]]:
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
    return headers if answer.status == 204 else [*headers, (b"content-length", str(len(answer.content)).encode())]
