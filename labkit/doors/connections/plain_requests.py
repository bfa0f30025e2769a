"""Plain requests: the usual requests in bytes, read in one go; all others are for h11.

1. A request is plain when it comes alone, its lines in one piece, to the API, with a length or without a body, and its
   lines are of the strictest form: one space, one colon, no folded line, no control character, no header twice that
   frames the message, no transfer coding, expectation or upgrade; one of HTTP/1.0 keeps its connection.  It is a subset
   of what h11 takes, so both mean the same.
2. Header lines that were read before are compared byte by byte, and are not read again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from labkit.doors.request_heads import is_host

MAX_HEAD_BYTES, MAX_CONTENT_BYTES = 16_384, 65_536

_METHODS = {name.encode(): name for name in ("GET", "LIST", "POST", "PUT", "PATCH", "DELETE")}
_REQUEST_LINE = re.compile(rb"(" + b"|".join(_METHODS) + rb") (/v1/[!-~]*) HTTP/1\.([01])\r\n")
_HEADER = re.compile(rb"([\w!#$%&'*+.^`|~-]+):[ \t]*([!-~](?:[ -~\t]*[!-~])?|)[ \t]*\r\n")
_END = b"\r\n\r\n"
_FRAMING = frozenset((b"transfer-encoding", b"expect", b"upgrade", b"te", b"trailer", b"connection"))
_USUAL_CONNECTION = (b"connection", "keep-alive")  # what most clients say, though it goes without saying
_LENGTH = re.compile(r"[0-9]{1,9}", re.ASCII)


class PlainHead(NamedTuple):
    """The header lines of a plain request: the bytes that they were, the headers as a service takes them, the length.

    Names are in lower case; of a header that comes twice the first counts.  The mapping is never changed.
    """

    lines: bytes
    named: dict[str, str]
    length: int

    def __repr__(self) -> str:
        return f"PlainHead({len(self.named)} headers)"  # they carry tokens


def read_head(lines: bytes) -> PlainHead | None:
    """Read header lines, with the empty one that ends them; None for what is not plain."""
    named: dict[str, str] = {}
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
            if not is_host(value):
                return None
            hosts += 1
        named.setdefault(name.decode("ascii"), value)
    return PlainHead(lines, named, max(length, 0)) if hosts == 1 else None


class PlainRequest(NamedTuple):
    """A request that was read: method, path and query, header lines, the body, and whether it is HTTP/1.0."""

    method: str
    target: str
    head: PlainHead
    content: bytes
    is_old: bool = False

    def __repr__(self) -> str:
        return f"PlainRequest({self.method} {self.target.partition('?')[0]})"  # its body carries secrets


def read_plain(data: bytes, known: Sequence[PlainHead] = ()) -> PlainRequest | None:
    """Return the one plain request that some bytes are, or with which they begin; None for anything else.

    ``known``: heads that were read before, which need not be read again.
    """
    line = _REQUEST_LINE.match(data)
    if line is None:
        return None
    begin = line.end()
    for head in known:
        if data.startswith(head.lines, begin):
            end = begin + len(head.lines)
            break
    else:
        end = data.find(_END, begin, MAX_HEAD_BYTES) + len(_END)
        found = read_head(data[begin:end]) if end > begin else None
        if found is None:
            return None
        head = found
    if end > MAX_HEAD_BYTES or len(data) - end > head.length or head.length > MAX_CONTENT_BYTES:
        return None
    method, target, version = line.groups()
    if version == b"0" and "connection" not in head.named:
        return None  # it ends the connection
    return PlainRequest(_METHODS[method], target.decode(), head, data[end:], version == b"0")
