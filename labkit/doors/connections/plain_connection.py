"""Plain connection: one connection of a door, on which usual requests are answered at once; all others are h11's.

1. A plain request is read only between two requests of a connection: nothing that was read before waits, and nothing is
   being answered.
2. While an application lets time pass before it answers nothing more is read; one that goes away changes nothing, and
   a server that stops waits for the answer.  An application that is neither ``App`` nor ``LaterApp`` has h11 only.
3. Header lines, or a plain request, that have not come whole within ``HEAD_S`` seconds end their connection, and so
   does a long silence after an answer.  One timer for each connection looks at that, at least every ``HEAD_S`` seconds:
   no request makes one of its own.
4. A client mostly sends the same header lines again: the newest ``MAX_KEPT_HEADS`` short heads are kept.
5. What comes is received into one piece of memory, which all connections of a server share.
6. A client that ends its own side only gets the answers to what has come whole; then the connection ends.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from math import inf
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from labkit.doors.asgi import FAILED, App, LaterApp
from labkit.doors.http_exchange import Answer
from labkit.doors.plain_requests import PlainHead, PlainRequest, read_plain
from labkit.service.message import respond

NO_CONTENT = 204
LOOPBACK = "127.0.0.1"
MAX_KEPT_HEADS, MAX_KEPT_HEAD_BYTES, MAX_KEPT_HEADERS = 2, 2_048, 64
RECEIVED_BYTES = 262_144
HEAD_S = 10.0

_USUAL = respond(200).headers
_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


def receive_buffer() -> memoryview:
    """Return the memory into which a server receives: what is there is taken out before anything else comes."""
    return memoryview(bytearray(RECEIVED_BYTES))


class PlainConnection(H11Protocol, asyncio.BufferedProtocol):
    """One connection of a door; ``received`` is the server's receive buffer."""

    __slots__ = (  # beside the dictionary of uvicorn's own, which is read faster while it is small
        *(
            "_app",
            "_begun",
            "_client",
            "_closes",
            "_date",
            "_dated",
            "_ends_s",
            "_heads",
            "_held",
            "_is_ended",
            "_is_mixed",
            "_is_usual",
        ),
        *("_is_waiting", "_later", "_needed_bytes", "_received", "_usual_begin", "_watch"),
    )

    def __init__(self, received: memoryview, **given: Any) -> None:
        super().__init__(**given)
        self._received = received
        self._app = self.app if isinstance(self.app, App) else None
        self._later = self.app if isinstance(self.app, LaterApp) else None
        self._is_usual = self._app is not None or self._later is not None  # rule 2
        self._is_waiting = self._closes = False  # for an answer that takes time, after which the connection may end
        self._is_ended = False  # by the client, which may still read
        self._client = LOOPBACK
        self._heads: tuple[PlainHead, ...] = ()
        self._begun: PlainRequest | None = None  # the rest of its body is to come: clients send lines and body apart
        self._held, self._needed_bytes = bytearray(), 0  # its bytes so far, and how many they are to be
        self._is_mixed = False  # whether h11 has read of this connection, so that something may be under way there
        self._ends_s = inf  # when the connection ends unless something comes, in the loop's time
        self._watch: asyncio.TimerHandle | None = None
        self._dated: object = None  # the server's headers as they were when the next two were made
        self._date = self._usual_begin = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Begin a connection, whose first request is to come soon."""
        super().connection_made(transport)
        if self.client:
            self._client = self.client[0]
        self._ends_s = self.loop.time() + HEAD_S
        self._watch = self.loop.call_at(self._ends_s, self._look)

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn's own ends the connection at once
        """Say whether something is left to answer (rule 6); with TLS both sides end at the same time."""
        self._is_ended = True
        return self.scheme == "http" and self._is_under_way()

    def _is_under_way(self) -> bool:
        """Whether a request that has come whole is being answered."""
        cycle = self.cycle
        return self._is_waiting or (cycle is not None and not cycle.response_complete and not cycle.more_body)

    def _end_if_answered(self) -> None:
        """End the connection of a client that ended its side, once all that came whole was answered."""
        if self._is_ended and not self._is_under_way():
            self.transport.close()

    def on_response_complete(self) -> None:
        """Go on after one of h11's answers, or end the connection."""
        super().on_response_complete()
        self._end_if_answered()

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        if self._watch is not None:
            self._watch.cancel()
        self._begun, self._held, self._heads = None, bytearray(), ()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def _look(self) -> None:
        """End the connection when its time has come, or look again later (rule 3)."""
        now_s = self.loop.time()
        if now_s >= self._ends_s:
            self.timeout_keep_alive_handler()
        else:
            self._watch = self.loop.call_at(min(self._ends_s, now_s + HEAD_S), self._look)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to receive (rule 5)."""
        return self._received

    def buffer_updated(self, nbytes: int) -> None:
        """Take what was received."""
        self.data_received(bytes(self._received[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Answer a plain request at once, and let h11 read anything else."""
        if self.transport.is_closing():
            return  # TLS may still hand on what came before its end
        if self._is_waiting:
            self._held += data
            self.flow.pause_reading()
        elif self._begun is not None:
            self._go_on(self._begun, data)
        elif self._is_usual and self._is_between_requests() and (asked := read_plain(data, self._heads)) is not None:
            self._take(asked, data)
        else:
            self._let_h11_read(data)

    def _take(self, asked: PlainRequest, data: bytes) -> None:
        """Answer a plain request, or hold what has come of it."""
        head = asked.head
        if head not in self._heads:
            self._keep(head)
        missing = head.length - len(asked.content)
        if missing:
            self._begun, self._held, self._needed_bytes = asked, bytearray(data), len(data) + missing
            self._ends_s = self.loop.time() + HEAD_S
        else:
            self._answer(asked, asked.content)

    def _go_on(self, begun: PlainRequest, data: bytes) -> None:
        """Take more of a plain request's body; when more than that has come, all of it is h11's."""
        held = self._held
        held += data
        if len(held) < self._needed_bytes:
            return
        self._begun, self._held = None, bytearray()
        if len(held) == self._needed_bytes:
            self._answer(begun, bytes(held[-begun.head.length :]))
        else:
            self._let_h11_read(bytes(held))

    def _let_h11_read(self, data: bytes) -> None:
        self._is_mixed = True
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._ends_s = min(self._ends_s, self.loop.time() + HEAD_S)  # a piece more does not lengthen it
        else:
            self._ends_s = inf  # the application and h11's own timer look after it

    def _is_between_requests(self) -> bool:
        if self._is_mixed:
            conn = self.conn  # whose states are idle only when all that it read was answered
            if conn.our_state is not h11.IDLE or conn.their_state is not h11.IDLE or conn.trailing_data != (b"", False):
                return False
            self._unset_keepalive_if_required()
            self._is_mixed = False
        return not self.flow.write_paused

    def _keep(self, head: PlainHead) -> None:
        """Keep a short head for the requests to come (rule 4)."""
        if len(head.lines) <= MAX_KEPT_HEAD_BYTES and len(head.named) <= MAX_KEPT_HEADERS:
            self._heads = (head, *self._heads)[:MAX_KEPT_HEADS]

    def _answer(self, asked: PlainRequest, content: bytes) -> None:
        if self._app is None:
            self._ends_s, self._is_waiting = inf, True
            task = self.loop.create_task(self._answer_later(asked, content))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
            return
        answer = self._app.answer(asked.method, asked.target, asked.head.named, content, self._client)
        self.transport.write(self._written(answer))
        self._ends_s = self.loop.time() + self.timeout_keep_alive

    async def _answer_later(self, asked: PlainRequest, content: bytes) -> None:
        """Answer when the application does, then go on with what has come meanwhile."""
        assert self._later is not None
        assert self.server is not None
        port = self.server[1] or 0
        try:
            answer = await self._later.answer(asked.method, asked.target, asked.head.named, content, self._client, port)
        except (Exception, asyncio.CancelledError) as bug:  # the second when the server waits no longer
            self.logger.error("Exception in ASGI application\n", exc_info=bug)
            answer, self._closes = FAILED, True
        self._is_waiting = False
        if self.transport.is_closing():
            return
        self.transport.write(self._written(answer))
        self._ends_s = self.loop.time() + self.timeout_keep_alive
        if self._closes:
            self.transport.close()
            return
        data, self._held = bytes(self._held), bytearray()
        self.flow.resume_reading()
        if data:
            self.data_received(data)
        self._end_if_answered()

    def shutdown(self) -> None:
        """Let the server stop: at once, or after the answer that is waited for."""
        if self._is_waiting:
            self._closes = True
        else:
            super().shutdown()

    def _written(self, answer: Answer) -> bytes:
        status, headers, content = answer
        dated = self.server_state.default_headers  # another list each second
        if dated is not self._dated:
            self._dated, self._date = dated, b"".join([b"%b: %b\r\n" % header for header in dated])
            self._usual_begin = _begin_of(200, self._date, _USUAL)
        if status == 200 and headers == _USUAL:
            return b"%bcontent-length: %d\r\n\r\n%b" % (self._usual_begin, len(content), content)
        begin = _begin_of(status, self._date, headers)
        if status == NO_CONTENT:
            return b"%b\r\n" % begin
        return b"%bcontent-length: %d\r\n\r\n%b" % (begin, len(content), content)


def _begin_of(status: int, date: bytes, headers: dict[str, str]) -> bytes:
    """Return an answer's lines before that of its length."""
    lines = "".join([f"{name.lower()}: {value}\r\n" for name, value in headers.items()])
    return b"%b%b%b" % (_STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status, date, lines.encode("latin-1"))
