"""Outgoing: what a server has written to its connections and clients have not taken yet.

1. A connection that takes no bytes for ``UNREAD_S`` seconds is aborted, whatever else it does.
2. All connections of a server hold at most ``MAX_UNREAD_BYTES`` of unread answers; above that those that have waited
   longest are aborted, but never the last one left.
3. A connection that ends after an answer ends its own side first, and takes no notice of what still comes for
   ``LINGER_S`` seconds: bytes that nobody reads would make the system take the answer back (RFC 9112 §9.6).
4. A large answer is handed on in pieces, one a turn of the loop: as a whole it would be copied several times in one.
   Until the last piece the connection is as when the client reads slowly.
5. A transport is closed once: one with TLS that is closed while it says its farewell forgets what it stands on, and
   raises from then on whatever it is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

UNREAD_S = 30.0
MAX_UNREAD_BYTES = 67_108_864
LINGER_S = 0.5
PIECE_BYTES = 262_144


class Outgoing:
    """The transport of one connection, as what writes answers sees it."""

    __slots__ = ("_ending", "_is_asked", "_loop", "_protocol", "_rest", "_since_s", "_size", "_transport", "closing")

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, protocol: asyncio.BaseProtocol
    ) -> None:
        self._transport, self._loop, self._protocol = transport, loop, protocol
        self.closing = False
        self._rest = memoryview(b"")  # of what was written, not handed on yet
        self._is_asked = False  # whether the next turn hands on another piece
        self._ending: Callable[[], None] | None = None  # what ends the connection after that
        self._size, self._since_s = 0, 0.0  # what was unread at the last look, and since when

    def __repr__(self) -> str:
        return f"Outgoing({self.unread_bytes} bytes unread)"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    @property
    def unread_bytes(self) -> int:
        """How much waits for the client."""
        return self._transport.get_write_buffer_size() + len(self._rest)

    @property
    def has_rest(self) -> bool:
        """Whether some of a large answer is still to be handed on."""
        return len(self._rest) > 0

    def write(self, data: bytes) -> None:
        """Write some of an answer."""
        if self._rest:
            self._rest = memoryview(self._rest.tobytes() + data) if data else self._rest
        elif len(data) <= PIECE_BYTES:
            self._transport.write(data)
        else:
            self._rest = memoryview(data)
            self._protocol.pause_writing()
            self.go_on()

    def go_on(self) -> None:
        """Hand on a piece, and the next one in another turn, or when the client has taken enough (rule 4)."""
        self._is_asked = False
        transport = self._transport
        if not self._rest or transport.is_closing():
            return
        piece, self._rest = self._rest[:PIECE_BYTES], self._rest[PIECE_BYTES:]
        transport.write(piece)
        if transport.get_write_buffer_size() > transport.get_write_buffer_limits()[1]:
            return  # it says when it goes on
        if self._rest:
            self.ask()
        else:
            self._loop.call_soon(self._protocol.resume_writing)

    def ask(self) -> None:
        """Let the next turn hand on a piece."""
        if not self._is_asked:
            self._is_asked = True
            self._loop.call_soon(self.go_on)

    def end_late(self) -> None:
        """End the connection if it was to end after what has been handed on."""
        ending, self._ending = self._ending, None
        if ending is not None and not self._rest:
            ending()

    def is_closing(self) -> bool:
        """Whether nothing more is read or written."""
        return self.closing or self._transport.is_closing()

    def close(self) -> None:
        """End the connection after what was written (rule 3)."""
        if self.closing or self._transport.is_closing():
            return
        self.closing = True
        if self._rest:
            self._ending = self._close
        else:
            self._close()

    def _close(self) -> None:
        if not self._transport.can_write_eof():
            self._close_transport()
            return
        try:
            self._transport.write_eof()
        except OSError:  # the client has gone: there is nothing to end
            self._transport.abort()
            return
        self._transport.resume_reading()
        self._loop.call_later(LINGER_S, self._close_transport)

    def _close_transport(self) -> None:
        """Close the transport unless that has begun (rule 5)."""
        if not self._transport.is_closing():
            self._transport.close()

    def end(self) -> None:
        """End the connection at once, after what was written."""
        self.closing = True
        if self._rest:
            self._ending = self._close_transport
        else:
            self._close_transport()

    def end_now(self) -> None:
        """End it as ``end`` does, and with TLS wait for no farewell where the client has taken all."""
        self.end()
        if self.unread_bytes == 0:
            self._transport.abort()

    def is_stuck(self, now_s: float) -> bool:
        """Whether the client has taken nothing for too long, as far as repeated looks can tell (rule 1)."""
        size = self.unread_bytes
        if size == 0 or size != self._size:
            self._size, self._since_s = size, now_s
            return False
        return now_s - self._since_s >= UNREAD_S


class UnreadAnswers:
    """The connections of a server whose clients read slowly, those that have waited longest first."""

    __slots__ = ("_slow",)

    def __init__(self) -> None:
        self._slow: dict[Outgoing, None] = {}

    def __repr__(self) -> str:
        return f"UnreadAnswers({len(self._slow)} connections)"

    def add(self, outgoing: Outgoing) -> None:
        """Note a connection on which much waits, and make room for it (rule 2)."""
        self._slow[outgoing] = None
        unread = sum([other.unread_bytes for other in self._slow])
        while unread > MAX_UNREAD_BYTES and len(self._slow) > 1:
            oldest = next(iter(self._slow))
            unread -= oldest.unread_bytes
            del self._slow[oldest]
            oldest.abort()

    def discard(self, outgoing: Outgoing) -> None:
        """Forget a connection that has taken its answers, or ended."""
        self._slow.pop(outgoing, None)
