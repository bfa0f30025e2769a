"""The ASGI application: requests that a server read from its sockets are answered by a vault or a cluster.

1. One request is answered at a time, between two turns of the server's loop: whoever sends slowly holds up nobody.
2. A body is counted while it is read.  One over the limit is read no further than ``DRAINED`` times the limit and is
   refused with 413; of a client that waits for ``100 Continue`` nothing is read.  One that stops coming is refused with
   400 after ``BODY_S`` seconds.
3. A request that is cut short is not answered; one with too long headers is refused with 431.
4. The path ``/`` is a page that says what this is.
5. What stands beside the API has paths of its own (``control``).
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from labkit.doors.http_exchange import BODY_METHODS, Answer, HttpExchange, RequestReader, Service, written
from labkit.doors.page import page_file
from labkit.service.limits import MAX_REQUEST_BYTES
from labkit.service.message import Unreadable, respond
from labkit.service.request_path import readable

DRAINED = 4
BODY_S = 30.0  # between two pieces of a body
MAX_HEADER_BYTES = 65_536

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Log = Callable[[str], None]


def _refusal(status: int, text: str) -> Answer:
    return written(respond(status, {"errors": [text]}))


TOO_LONG = _refusal(431, f"request headers of more than {MAX_HEADER_BYTES} bytes")
FAILED = Answer(500, {"Content-Type": "text/plain; charset=utf-8", "Connection": "close"}, b"Internal Server Error")
SILENT = _refusal(504, "the cluster did not answer in time")


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

    __slots__ = ("beside", "log", "reader")

    def __init__(self, max_request_bytes: int = MAX_REQUEST_BYTES, log: Log | None = None) -> None:
        self.reader, self.log = RequestReader(max_request_bytes), log
        self.beside: Beside | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request; anything else that a server offers is declined."""
        if scope["type"] != "http":
            raise ValueError(f"HTTP is spoken here, not {scope['type']}")
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        content = await self._read(scope["method"], headers, receive)
        if content is None:
            return
        too_long = sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES
        beside = self.beside
        if too_long:
            answer = TOO_LONG
        elif beside is not None and scope["raw_path"].startswith(beside.prefixes):
            answer = await beside.answer(scope, headers, content)
        else:
            answer = await self._answer(scope, headers, content)
        await send({"type": "http.response.start", "status": answer.status, "headers": _encoded(answer)})
        await send({"type": "http.response.body", "body": answer.content})
        if self.log is not None:
            server, client = scope.get("server"), scope.get("client")
            path = scope["raw_path"].decode("latin-1")
            self._note(server[1] if server else 0, client[0] if client else "-", scope["method"], path, answer.status)

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
            try:
                message = await asyncio.wait_for(receive(), BODY_S)
            except TimeoutError:
                return Unreadable(f"no more of the body came within {BODY_S:g} s")
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

    __slots__ = ("exchange",)

    def __init__(self, service: Service, max_request_bytes: int = MAX_REQUEST_BYTES, log: Log | None = None) -> None:
        super().__init__(max_request_bytes, log)
        self.lead_to(service)

    def lead_to(self, service: Service) -> None:
        """Let another vault or cluster answer from now on."""
        self.exchange = HttpExchange(service, self.reader.max_request_bytes)

    async def _answer(self, scope: Message, headers: list[tuple[str, str]], content: bytes | Unreadable) -> Answer:
        path, target = target_of(scope)
        page = page_file(path)
        if page is not None:
            return page
        client = (scope.get("client") or ("127.0.0.1",))[0]
        try:
            return self.exchange.answer(scope["method"], target, headers, content, remote_address=client)
        except TimeoutError:
            return SILENT

    def answer(self, method: str, target: str, named: dict[str, str], content: bytes, client: str) -> Answer:
        """Answer a request to the API that a server has read whole, and log it; ``named``: its headers by name."""
        try:
            answer = self.exchange.answer_read(method, target, named, content, remote_address=client)
        except TimeoutError:
            answer = SILENT
        if self.log is not None:
            self._note(0, client, method, target.partition("?")[0], answer.status)
        return answer


class LaterApp(HttpApp):
    """An ASGI application that lets time pass before it answers."""

    __slots__ = ()

    @abstractmethod
    async def answer(
        self, method: str, target: str, named: dict[str, str], content: bytes, client: str, port: int
    ) -> Answer:
        """Answer a request to the API that a server has read whole on one of its ports, as ``App.answer`` does."""


def _encoded(answer: Answer) -> list[tuple[bytes, bytes]]:
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
    return headers if answer.status == 204 else [*headers, (b"content-length", str(len(answer.content)).encode())]
