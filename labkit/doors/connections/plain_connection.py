"""Plain connection: one connection of a door, on which usual requests are answered at once; all others are h11's.

1. A plain request is read only between two requests of a connection: nothing that was read before waits, and nothing is
   being answered.  Empty lines between two requests are passed over.
2. While an application lets time pass before it answers, or the client leaves much unread, nothing more is read; one
   that goes away changes nothing, and a server that stops waits for the answer.  An application that is neither ``App``
   nor ``LaterApp`` has h11 only.
3. Header lines that have not come whole within ``HEAD_S`` seconds end their connection, and so does a long silence
   after an answer.  A body that does not go on by ``BODY_BYTES`` within ``BODY_S`` seconds is answered 408.  One timer
   for each connection looks at that, at least every ``HEAD_S`` seconds: no request makes one of its own.
4. A client mostly sends the same header lines again: the newest ``MAX_KEPT_HEADS`` short heads are kept.
5. What comes is received into one piece of memory, which all connections of a server share; h11 reads chunks in slices,
   each a turn of the loop, and small ones merged.
6. A client that ends its own side only gets the answers to what has come whole; then the connection ends.
7. After a request that ends the connection nothing more is read, and a request that has come whole is never refused for
   what came after it (decision C22).
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from labkit.doors.asgi import FAILED, MAX_HEADER_BYTES, App, LaterApp, last
from labkit.doors.bugs import note_bug
from labkit.doors.connections.answer_bytes import AnswerBytes
from labkit.doors.connections.merged_chunks import MergedChunks
from labkit.doors.connections.outgoing import PIECE_BYTES, Outgoing, UnreadAnswers
from labkit.doors.connections.plain_requests import PlainHead, PlainRequest, read_plain
from labkit.doors.http_exchange import Answer
from labkit.doors.other_end import OtherEnd, other_end
from labkit.doors.request_heads import has_several_lengths, head_end

MAX_KEPT_HEADS, MAX_KEPT_HEAD_BYTES, MAX_KEPT_HEADERS = 2, 2_048, 64
RECEIVED_BYTES, SLICE_BYTES = 262_144, 8_192
HEAD_S = 10.0
BODY_S, BODY_BYTES = 30.0, 16_384

_LAST = (h11.MUST_CLOSE, h11.CLOSED, h11.ERROR)


class SharedParts:
    """What the connections of a server share: where it receives, how answers are written, what clients have not read.

    What was received is taken out before anything else comes.
    """

    __slots__ = ("answers", "received", "unread")

    def __init__(self) -> None:
        self.received = memoryview(bytearray(RECEIVED_BYTES))
        self.answers, self.unread = AnswerBytes(), UnreadAnswers()


class PlainConnection(H11Protocol, asyncio.BufferedProtocol):
    """One connection of a door; ``shared`` is what all those of its server share."""

    __slots__ = (  # beside the dictionary of uvicorn's own, which is read faster while it is small
        *("_answers", "_app", "_begun", "_body_bytes", "_chunks", "_closes", "_ends_s", "_heads", "_held"),
        *("_is_ended", "_is_mixed", "_is_sliced", "_is_usual", "_is_waiting", "_needed_bytes", "_other"),
        *("_outgoing", "_received", "_unread", "_watch"),
    )

    def __init__(self, shared: SharedParts, **given: Any) -> None:
        super().__init__(**given)
        self._answers, self._received, self._unread = shared.answers, shared.received, shared.unread
        self._app = self.app if isinstance(self.app, App) else None
        self._is_usual = isinstance(self.app, App | LaterApp)  # rule 2
        self._is_waiting = self._closes = False  # for an answer that takes time, after which the connection may end
        self._is_ended = False  # by the client, which may still read
        self._other = OtherEnd()
        self._heads: tuple[PlainHead, ...] = ()
        self._begun: PlainRequest | None = None  # the rest of its body is to come: clients send lines and body apart
        self._held, self._needed_bytes = bytearray(), 0  # its bytes so far, or what came while nothing is read
        self._body_bytes = 0  # of a body, since the time within which it is to go on began
        self._chunks: MergedChunks | None = None  # of the body whose head h11 has read by itself
        self._is_sliced = False  # whether h11 reads the next slice of what came in the next turn
        self._is_mixed = False  # whether h11 has read of this connection, so that something may be under way there
        self._ends_s = inf  # when the connection ends unless something comes, in the loop's time
        self._watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Begin a connection, whose first request is to come soon."""
        super().connection_made(transport)
        self._other = other_end(self.client, self.server, self._is_gone)
        self.app_state = {**self.app_state, "abort": transport.abort, "is_gone": self._is_gone}
        self._outgoing = self.transport = Outgoing(transport, self.loop, self)  # type: ignore[assignment]  # as h11's sees it
        self._ends_s = self.loop.time() + HEAD_S
        self._watch = self.loop.call_at(self._ends_s, self._look)

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn's own ends the connection at once
        """Say whether something is left to answer (rule 6); with TLS both sides end at the same time."""
        self._is_ended = True
        has_more = not self._outgoing.closing and (self._is_under_way() or self._has_more())
        return self.scheme == "http" and (self._outgoing.has_rest or has_more)

    def _is_gone(self) -> bool:
        """Whether the client has ended its side: it need not read any more."""
        return self._is_ended or self._outgoing.is_closing()

    def _is_under_way(self) -> bool:
        """Whether a request that has come whole is being answered."""
        cycle = self.cycle
        return self._is_waiting or (cycle is not None and not cycle.response_complete and not cycle.more_body)

    def _has_more(self) -> bool:
        """Whether something that came is still to be read, which waits for a turn or for the client to read."""
        if self._is_sliced or not self.flow.write_paused:
            return self._is_sliced
        conn = self.conn
        is_answered = conn.our_state is h11.DONE and conn.their_state is h11.DONE
        return bool(self._held) or (is_answered and bool(conn.trailing_data[0]))

    def _end_if_answered(self) -> None:
        """End the connection of a client that ended its side, once all that came whole was answered."""
        if self._is_ended and not self._is_under_way() and not self._has_more():
            self._outgoing.end()

    def on_response_complete(self) -> None:
        """Go on after one of h11's answers, or end the connection."""
        self.server_state.total_requests += 1
        if not self._outgoing.is_closing():
            self._ends_s = self.loop.time() + self.timeout_keep_alive
            self._go_on_reading()
        self._end_if_answered()

    def _go_on_reading(self) -> None:
        """Read what has come after a request that was answered, unless the client leaves much unread (rule 2)."""
        if self.flow.write_paused or self._is_waiting or self._is_sliced or self._outgoing.is_closing():
            return
        conn, data = self.conn, b""
        if conn.our_state is h11.DONE and conn.their_state is h11.DONE:
            data = conn.trailing_data[0]
            if data:
                self.conn = h11.Connection(h11.SERVER, MAX_HEADER_BYTES)
            else:
                conn.start_next_cycle()
        if self._begun is None:
            data += self._held
            self._held = bytearray()
        self.flow.resume_reading()
        if data:
            self.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        if self._watch is not None:
            self._watch.cancel()
        self._outgoing.closing = True
        self._unread.discard(self._outgoing)
        self._begun, self._held, self._heads = None, bytearray(), ()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Note that much waits for the client."""
        super().pause_writing()
        self._unread.add(self._outgoing)

    def resume_writing(self) -> None:
        """Go on, as the client has read."""
        if self._outgoing.has_rest:
            self._outgoing.go_on()
            return
        super().resume_writing()
        self._unread.discard(self._outgoing)
        self._outgoing.end_late()
        if not self._is_under_way():
            self._go_on_reading()
            self._end_if_answered()

    def _look(self) -> None:
        """End the connection when its time has come, or look again later (rule 3)."""
        now_s, outgoing = self.loop.time(), self._outgoing
        if outgoing.is_stuck(now_s):
            outgoing.abort()
            return
        if now_s >= self._ends_s:
            self._ends_s = inf
            if self._is_body_to_come():
                self._refuse(408, f"the body did not go on by {BODY_BYTES} bytes within {BODY_S:g} s")
            elif not outgoing.is_closing():
                outgoing.end()
        self._watch = self.loop.call_at(min(self._ends_s, now_s + HEAD_S), self._look)

    def _is_body_to_come(self) -> bool:
        return self._begun is not None or self.conn.their_state is h11.SEND_BODY

    def _note_body(self, size_bytes: int) -> None:
        """Note that more of a body came, or that one began (rule 3)."""
        self._body_bytes -= size_bytes
        if self._body_bytes <= 0:
            self._body_bytes = BODY_BYTES
            self._ends_s = self.loop.time() + BODY_S

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to receive (rule 5)."""
        return self._received

    def buffer_updated(self, nbytes: int) -> None:
        """Take what was received."""
        try:
            self.data_received(bytes(self._received[:nbytes]))
        except Exception as bug:
            note_bug(getattr(self.app, "log", None), bug, "a connection was ended")
            self._outgoing.abort()

    def data_received(self, data: bytes) -> None:
        """Answer a plain request at once, and let h11 read anything else."""
        if self._outgoing.is_closing() or self.conn.their_state in _LAST:
            return  # rule 7; TLS may still hand on what came before its end
        if self._is_waiting or self._is_sliced or self.flow.write_paused:
            self._held += data
            self.flow.pause_reading()
        elif self._begun is not None:
            self._go_on(self._begun, data)
        elif self._is_usual and self._is_between_requests():
            if data[0] < 32 and not (data := data.lstrip(b"\r\n")):
                return
            asked = read_plain(data, self._heads)
            if asked is not None:
                self._take(asked, data)
            else:
                self._let_h11_read(data)
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
            self._body_bytes = 0
            self._note_body(0)
        else:
            self._answer(asked, asked.content)

    def _go_on(self, begun: PlainRequest, data: bytes) -> None:
        """Take more of a plain request's body; when more than that has come, all of it is h11's."""
        held = self._held
        held += data
        if len(held) < self._needed_bytes:
            self._note_body(len(data))
            return
        self._begun, self._held = None, bytearray()
        if len(held) == self._needed_bytes:
            self._answer(begun, bytes(held[-begun.head.length :]))
        else:
            self._let_h11_read(bytes(held))

    def _let_h11_read(self, data: bytes) -> None:
        """Let h11 read a head, or a slice of what came, and the rest in later turns (rule 5)."""
        self._is_mixed, before = True, self.conn.their_state
        if before is h11.IDLE:
            self._let_h11_read_head(data)
            return
        if len(data) > SLICE_BYTES and not self._has_length():
            self._is_sliced, self._held = True, bytearray(data[SLICE_BYTES:])
            data = data[:SLICE_BYTES]
            self.loop.call_soon(self._read_next_slice)
        read = data if self._chunks is None else self._chunks.merged(data)
        if read:  # nothing would mean that nothing more comes
            super().data_received(read)
        self._note_progress(before, len(data))

    def _let_h11_read_head(self, data: bytes) -> None:
        """Let h11 read what came of a head, then what came after it."""
        come = self.conn.trailing_data[0]
        end = head_end(come, data) or len(data)
        if has_several_lengths(come + data[:end]):
            self._refuse(400, "Content-Length: expected one number")
            return
        super().data_received(data[:end])
        has_chunks = self.conn.their_state is h11.SEND_BODY and not self._has_length()
        self._chunks = MergedChunks() if has_chunks else None
        self._note_progress(h11.IDLE, end)
        if end < len(data):
            self.data_received(data[end:])

    def _note_progress(self, before: Any, size_bytes: int) -> None:
        """Note until when the next bytes are to come, after h11 has read some (rule 3)."""
        if self.conn.their_state is h11.SEND_BODY:
            if before is not h11.SEND_BODY:
                self._body_bytes = 0
            self._note_body(size_bytes)
        elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._ends_s = min(self._ends_s, self.loop.time() + HEAD_S)  # a piece more does not lengthen it
        elif self._is_under_way():
            self._ends_s = inf  # the application looks after it

    def _has_length(self) -> bool:
        """Whether h11 reads a body of known length: it is one piece, however long."""
        in_body = self.conn.their_state is h11.SEND_BODY
        return in_body and not any(name == b"transfer-encoding" for name, _ in self.headers)

    def _read_next_slice(self) -> None:
        self._is_sliced = False
        data, self._held = bytes(self._held), bytearray()
        if self._outgoing.is_closing():
            return
        try:
            if data:
                self.data_received(data)
        except Exception as bug:
            note_bug(getattr(self.app, "log", None), bug, "a connection was ended")
            self._outgoing.abort()
            return
        if not (self._is_sliced or self._is_waiting or self.flow.write_paused or self.conn.their_state is h11.DONE):
            self.flow.resume_reading()
        self._end_if_answered()

    def _is_between_requests(self) -> bool:
        if self._is_mixed:
            conn = self.conn  # whose states are idle only when all that it read was answered
            if conn.our_state is not h11.IDLE or conn.their_state is not h11.IDLE or conn.trailing_data != (b"", False):
                return False
            self._is_mixed = False
        return True

    def _keep(self, head: PlainHead) -> None:
        """Keep a short head for the requests to come (rule 4)."""
        if len(head.lines) <= MAX_KEPT_HEAD_BYTES and len(head.named) <= MAX_KEPT_HEADERS:
            self._heads = (head, *self._heads)[:MAX_KEPT_HEADS]

    def _answer(self, asked: PlainRequest, content: bytes) -> None:
        answer: Answer | None = None
        if self._app is not None:
            try:
                answer = self._app.answer(asked.method, asked.target, asked.head.named, content, self._other.address)
            except Exception as bug:
                note_bug(self._app.log, bug)
                answer, self._closes = FAILED, True
        if answer is not None:
            self._send(asked, answer)
            return
        self._ends_s, self._is_waiting = inf, True
        task = self.loop.create_task(self._answer_later(asked, content))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _answer_later(self, asked: PlainRequest, content: bytes) -> None:
        """Answer when the application does, then go on with what has come meanwhile."""
        app: Any = self.app
        try:
            answer = await app.answer_later(asked.method, asked.target, asked.head.named, content, self._other)
        except (Exception, asyncio.CancelledError) as bug:  # the second when the server waits no longer
            note_bug(app.log, bug)
            answer, self._closes = FAILED, True
        self._is_waiting = False
        if not self._outgoing.is_closing():
            self._send(asked, answer)
            self._go_on_reading()
            self._end_if_answered()

    def _send(self, asked: PlainRequest, answer: Answer) -> None:
        if answer.status == 0:
            self._outgoing.abort()
            return
        content, dated = answer.content, self.server_state.default_headers
        is_large = len(content) > PIECE_BYTES
        self._outgoing.write(self._answers.written(answer, dated, asked.is_old, only_head=is_large))
        if is_large:
            self._outgoing.write(content)
        self._ends_s = self.loop.time() + self.timeout_keep_alive
        if self._closes:
            self._outgoing.close()

    def send_400_response(self, msg: str) -> None:
        """Refuse what h11 cannot read; a request that is being carried out is answered all the same (rule 7)."""
        if self._is_under_way():
            self.cycle.keep_alive = False
        else:
            self._refuse(400, msg)

    def _refuse(self, status: int, why: str) -> None:
        """Answer what has not come whole, and end the connection."""
        cycle, conn = self.cycle, self.conn
        self._begun, self._held = None, bytearray()
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
        if conn.our_state in (h11.IDLE, h11.SEND_RESPONSE) and not self._outgoing.is_closing():
            self._outgoing.write(self._answers.written(last(status, why), self.server_state.default_headers))
        self._outgoing.close()

    def shutdown(self) -> None:
        """Let the server stop: at once, or after the answer that is waited for."""
        if self._is_waiting:
            self._closes = True
        elif self._is_under_way():
            self.cycle.keep_alive = False
        else:
            self._outgoing.end_now()
