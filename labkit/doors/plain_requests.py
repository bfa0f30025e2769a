"""Plain requests: the usual ones are read and answered in one go; whatever else comes on a connection is h11's.

1. A request is plain when it comes alone, its lines in one piece, to the API, with a length or without a body, and its
   lines are of the strictest form: one space, one colon, no folded line, no control character, no header twice that
   frames the message, no transfer coding, expectation or upgrade.  It is a subset of what h11 takes, so both mean the
   same.
2. Only between two requests of a connection: nothing that was read before waits, and nothing is being answered.
3. Only an application that answers at once takes part; one that lets time pass goes through h11.
4. Header lines, or a plain request, that have not come whole within ``HEAD_S`` seconds end their connection.

Reading and writing take a third of the time that way, which is most of what a request over a socket costs.
"""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus
from typing import NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from labkit.doors.asgi import App
from labkit.doors.http_exchange import Answer
from labkit.service.message import respond

NO_CONTENT = 204
LOOPBACK = "127.0.0.1"
MAX_HEAD_BYTES, MAX_CONTENT_BYTES = 16_384, 65_536
HEAD_S = 10.0

_REQUEST_LINE = re.compile(rb"(GET|LIST|POST|PUT|PATCH|DELETE) (/v1/[!-~]*) HTTP/1\.1\r\n")
_HEADER = re.compile(rb"([\w!#$%&'*+.^`|~-]+):[ \t]*([!-~](?:[ -~\t]*[!-~])?|)[ \t]*\r\n")
_FRAMING = frozenset((b"transfer-encoding", b"expect", b"upgrade", b"te", b"trailer", b"connection"))
_USUAL_CONNECTION = (b"connection", "keep-alive")  # what most clients say, though it goes without saying
_LENGTH = re.compile(r"[0-9]{1,9}", re.ASCII)
_USUAL = respond(200).headers
_USUAL_LINES = "".join(f"{name.lower()}: {value}\r\n" for name, value in _USUAL.items()).encode()
_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


class PlainHead(NamedTuple):
    """The header lines of a plain request: the bytes that they were, names in lower case, and the body's length."""

    lines: bytes
    headers: tuple[tuple[str, str], ...]
    length: int

    def __repr__(self) -> str:
        return f"PlainHead({len(self.headers)} headers)"  # they carry tokens


def read_head(lines: bytes) -> PlainHead | None:
    """Read header lines, with the empty one that ends them; None for what is not plain."""
    headers: list[tuple[str, str]] = []
    length, hosts, place, end = -1, 0, 0, len(lines) - 2
    while place < end:
        found = _HEADER.match(lines, place)
        if found is None:
            return None
        place = found.end()
        name, value = found[1].lower(), found[2].decode("ascii")
        if name in _FRAMING and (name, value.lower()) != _USUAL_CONNECTION:
            return None
        if name == b"content-length":
            if length >= 0 or _LENGTH.fullmatch(value) is None:
                return None
            length = int(value)
        elif name == b"host":
            hosts += 1
        headers.append((name.decode("ascii"), value))
    return PlainHead(lines, tuple(headers), max(length, 0)) if hosts == 1 else None


class PlainRequest(NamedTuple):
    """A request that was read: method, path and query, header lines, and the body."""

    method: str
    target: str
    head: PlainHead
    content: bytes

    @property
    def is_whole(self) -> bool:
        """Whether all of its body has come."""
        return len(self.content) == self.head.length

    def __repr__(self) -> str:
        return f"PlainRequest({self.method} {self.target.partition('?')[0]})"  # its body carries secrets


NO_HEAD = PlainHead(b"", (), 0)


def read_plain(data: bytes, before: PlainHead = NO_HEAD) -> PlainRequest | None:
    """Return the one plain request that some bytes are, or with which they begin; None for anything else.

    ``before`` is the head of the request before: mostly a client sends the same lines again.
    """
    line = _REQUEST_LINE.match(data)
    end = data.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES) + 4
    if line is None or end < line.end():
        return None
    lines = data[line.end() : end]
    head = before if lines == before.lines else read_head(lines)
    if head is None or len(data) - end > head.length or head.length > MAX_CONTENT_BYTES:
        return None
    return PlainRequest(line[1].decode("ascii"), line[2].decode("ascii"), head, data[end:])


class PlainRequests(H11Protocol):
    """One connection of a door."""

    _head = NO_HEAD
    _held = b""  # the begin of a plain request, the rest of which is to come: clients send lines and body apart
    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Begin a connection, whose first request is to come soon."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        self._forget_patience()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Answer a plain request at once, and let h11 read anything else."""
        app = self.app
        data, self._held = self._held + data, b""
        if isinstance(app, App) and self._is_between_requests():
            asked = read_plain(data, self._head)
            if asked is not None:
                self._take(app, asked, data)
                return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._await_head()
        else:
            self._forget_patience()

    def _await_head(self) -> None:
        """Let a request's header lines come within a time, however they come: a piece does not lengthen it (rule 4)."""
        if self._patience is None:
            self._patience = self.loop.call_later(HEAD_S, self.timeout_keep_alive_handler)

    def _forget_patience(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _is_between_requests(self) -> bool:
        if self.cycle is not None and not self.cycle.response_complete:
            return False
        conn = self.conn
        states = conn.our_state is h11.IDLE and conn.their_state is h11.IDLE
        return states and conn.trailing_data == (b"", False) and not self.flow.write_paused

    def _take(self, app: App, asked: PlainRequest, data: bytes) -> None:
        """Answer a plain request, or hold what has come of it."""
        self._unset_keepalive_if_required()
        self._head = head = asked.head
        if not asked.is_whole:
            self._held = data
            self._await_head()
            return
        self._forget_patience()
        client = self.client[0] if self.client else LOOPBACK
        answer = app.answer(asked.method, asked.target, head.headers, asked.content, client)
        self.transport.write(self._written(answer))
        self.on_response_complete()

    def _written(self, answer: Answer) -> bytes:
        status = answer.status
        line = _STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status
        date = b"".join([b"%b: %b\r\n" % header for header in self.server_state.default_headers])
        if answer.headers == _USUAL:
            headers = _USUAL_LINES
        else:
            headers = "".join([f"{name.lower()}: {value}\r\n" for name, value in answer.headers.items()]).encode(
                "latin-1"
            )
        if status == NO_CONTENT:
            return b"%b%b%b\r\n" % (line, date, headers)
        return b"%b%b%bcontent-length: %d\r\n\r\n%b" % (line, date, headers, len(answer.content), answer.content)
