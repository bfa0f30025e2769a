"""Answer bytes: an answer as it goes out on a connection, with the server's date."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from labkit.doors.http_exchange import Answer
from labkit.service.message import respond

NO_CONTENT = 204

_USUAL = respond(200).headers
_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


class AnswerBytes:
    """Writes a server's answers; the lines that most of them begin with are made once a second."""

    __slots__ = ("_date", "_dated", "_usual_begin")

    def __init__(self) -> None:
        self._dated: object = None  # the server's headers as they were when the next two were made
        self._date = self._usual_begin = b""

    def written(
        self, answer: Answer, dated: Sequence[tuple[bytes, bytes]], is_old: bool = False, only_head: bool = False
    ) -> bytes:
        """Return an answer in bytes; ``dated``: the server's own headers, another list each second.

        ``is_old``: it is for a client of HTTP/1.0, whose connection is kept only when both sides say so.
        ``only_head``: what comes before the body.
        """
        status, headers, content = answer
        size_bytes = len(content)
        if only_head:
            content = b""
        if dated is not self._dated:
            self._dated, self._date = dated, b"".join([b"%b: %b\r\n" % header for header in dated])
            self._usual_begin = _begin_of(200, self._date, _USUAL)
        if is_old:
            headers = {"Connection": "keep-alive", **headers}
        elif status == 200 and headers == _USUAL:
            return b"%bcontent-length: %d\r\n\r\n%b" % (self._usual_begin, size_bytes, content)
        begin = _begin_of(status, self._date, headers)
        if status == NO_CONTENT:
            return b"%b\r\n" % begin
        return b"%bcontent-length: %d\r\n\r\n%b" % (begin, size_bytes, content)


def _begin_of(status: int, date: bytes, headers: dict[str, str]) -> bytes:
    """Return an answer's lines before that of its length."""
    lines = "".join([f"{name.lower()}: {value}\r\n" for name, value in headers.items()])
    return b"%b%b%b" % (_STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status, date, lines.encode("latin-1"))
