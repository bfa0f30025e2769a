"""A connection of a door by hand, with a service behind it that answers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from labkit.doors.asgi import App, HttpApp, LaterApp, target_of
from labkit.doors.connections.plain_connection import PlainConnection, SharedParts
from labkit.doors.http_exchange import Answer, HttpExchange, first_of_each
from labkit.doors.other_end import OtherEnd
from labkit.doors.server_thread import KEEP_ALIVE_S
from labkit.service.message import Response, respond

TURNS = 20  # of the loop, in which h11's application answers what has come whole


class Echo:
    """A service that answers what it was asked."""

    def request(
        self, method: str, path: str, body: Any = None, headers: Any = None, *, remote_address: str = ""
    ) -> Response:
        """Answer method, path, body and token."""
        return respond(200, {"asked": [method, path, body, headers.get("x-vault-token")]})


class LaterEcho(LaterApp):
    """An application that answers like the echo, some turns of the loop later."""

    def __init__(self) -> None:
        super().__init__()
        self.turns, self.asked = 7, 0
        self.fails = False

    async def answer_later(
        self, method: str, target: str, named: dict[str, str], content: bytes, other: OtherEnd
    ) -> Answer:
        """Answer what a server has read."""
        self.asked += 1
        for _ in range(self.turns):
            await asyncio.sleep(0)
        if self.fails:
            raise ValueError("a bug")
        return HttpExchange(Echo()).answer_read(method, target, named, content)

    async def _answer(self, scope: Any, headers: list[tuple[str, str]], content: Any) -> Answer:
        target = target_of(scope)[1]
        return await self.answer_later(scope["method"], target, first_of_each(headers), content, OtherEnd())


class Wire(asyncio.Transport):
    """The server's end of a connection; what it writes is kept."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.written, self.closed = b"", False

    def write(self, data: Any) -> None:
        """Keep what goes out; after the end nothing does."""
        if not self.closed:
            self.written += data

    def close(self) -> None:
        """Remember the end."""
        self.closed = True

    def abort(self) -> None:
        """Remember the end."""
        self.closed = True

    def can_write_eof(self) -> bool:
        """Whether one side only can be ended."""
        return False

    def get_write_buffer_size(self) -> int:
        """Say that all was taken."""
        return 0

    def is_closing(self) -> bool:
        """Whether it was closed."""
        return self.closed

    def pause_reading(self) -> None:
        """Read on: here nothing comes but what a test sends."""

    def resume_reading(self) -> None:
        """Read on."""


class Timers:
    """A loop's clock and timers, by hand."""

    def __init__(self) -> None:
        self.now_s, self.made, self.waiting = 1_000.0, 0, dict[int, tuple[float, Callable[[], None]]]()

    def time(self) -> float:
        """The time, in seconds."""
        return self.now_s

    def call_at(self, when_s: float, act: Callable[[], None]) -> Any:
        """Make a timer; return what cancels it."""
        self.made += 1
        number, waiting = self.made, self.waiting
        waiting[number] = (when_s, act)

        class Handle:
            def cancel(self) -> None:
                waiting.pop(number, None)

        return Handle()

    def call_later(self, delay_s: float, act: Callable[[], None]) -> Any:
        """Make a timer."""
        return self.call_at(self.now_s + delay_s, act)

    def pass_until(self, end_s: float) -> None:
        """Let time pass."""
        while due := [(when_s, number) for number, (when_s, _) in self.waiting.items() if when_s <= end_s]:
            self.now_s, number = min(due)
            self.waiting.pop(number)[1]()
        self.now_s = end_s


def connection(loop: Any = None, app: HttpApp | None = None) -> tuple[PlainConnection, Wire]:
    """A new connection to the echo, or to an application."""
    given: dict[str, Any] = {"proxy_headers": False, "access_log": False, "ws": "none", "lifespan": "off"}
    config = uvicorn.Config(app or App(Echo()), timeout_keep_alive=KEEP_ALIVE_S, **given)
    config.load()
    protocol, wire = (
        PlainConnection(SharedParts(), config=config, server_state=ServerState(), app_state={}, _loop=loop),
        Wire(),
    )
    protocol.connection_made(wire)
    return protocol, wire


def echoed(written: bytes) -> list[Any]:
    """What the echo says it was asked, answer by answer."""
    found = []
    while written:
        head, _, rest = written.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n"), head
        length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        found.append(json.loads(rest[:length])["asked"])
        written = rest[length:]
    return found


async def answers_to(pieces: Sequence[bytes], count: int, app: HttpApp | None = None, turns: int = TURNS) -> list[Any]:
    """Send pieces on one connection, each so many turns after the one before; return what the echo was asked."""
    protocol, wire = connection(asyncio.get_running_loop(), app)
    for piece in pieces:
        protocol.data_received(piece)
        for _ in range(turns):
            await asyncio.sleep(0)
    while protocol.tasks:
        await asyncio.sleep(0)
    assert not wire.closed
    protocol.connection_lost(None)
    found = echoed(wire.written)
    assert len(found) == count
    return found


def asking(path: str, token: str, body: bytes | None = None, extra: bytes = b"", chunked: bool = False) -> bytes:
    """One request."""
    lines = b"Host: a\r\nX-Vault-Token: " + token.encode() + b"\r\n" + extra
    if body is None:
        return b"GET " + path.encode() + b" HTTP/1.1\r\n" + lines + b"\r\n"
    framed = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if chunked else body
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(body)
    return b"POST " + path.encode() + b" HTTP/1.1\r\n" + lines + length + b"\r\n\r\n" + framed


ASKED: list[tuple[bytes, list[Any]]] = [
    (asking("/v1/a", "t"), ["GET", "/v1/a", None, "t"]),
    (asking("/v1/a", "u"), ["GET", "/v1/a", None, "u"]),
    (asking("/v1/b?c=1", "t"), ["GET", "/v1/b?c=1", None, "t"]),
    (asking("/v1/a", "t", extra=b"X-A: b\r\nX-Vault-Token: other\r\n"), ["GET", "/v1/a", None, "t"]),
    (asking("/v1/a", "t", extra=b"TE: trailers\r\n"), ["GET", "/v1/a", None, "t"]),
    (asking("/v1/a", "t", b'{"n": 1}'), ["POST", "/v1/a", {"n": 1}, "t"]),
    (asking("/v1/a", "u", b'{"n": 2}'), ["POST", "/v1/a", {"n": 2}, "u"]),
    (asking("/v1/a", "t", b'{"n": 3}', chunked=True), ["POST", "/v1/a", {"n": 3}, "t"]),
    (asking("/v1/a", "t", b""), ["POST", "/v1/a", None, "t"]),
]
