"""Merged chunks: the small chunks of a body as large ones, for h11 takes about 5 µs for each (RFC 9112, 7.1).

1. Whole chunks that came together become one; their extensions, which h11 passes over too, are left out.
2. A chunk that has not come whole is handed on as it came, and so is all that begins with the last chunk or with what
   is not plainly a chunk: h11 judges that.  Only the begin of a chunk's first line is held back.
"""

from __future__ import annotations

import re

MAX_LINE_BYTES = 1_024

_LINE = re.compile(rb"([0-9A-Fa-f]{1,8})(?:;[ -~\t]*)?\r\n")
_END = b"\r\n"


class MergedChunks:
    """The chunks of one request's body, from its first byte on."""

    __slots__ = ("_begun", "_is_over", "_left_bytes")

    def __init__(self) -> None:
        self._begun = b""  # the begin of a chunk's first line
        self._left_bytes = 0  # of a chunk whose begin was handed on, with its end of line
        self._is_over = False

    def __repr__(self) -> str:
        return f"MergedChunks({'over' if self._is_over else f'{self._left_bytes} bytes left of one'})"

    def merged(self, data: bytes) -> bytes:
        """Return what h11 is to read in place of the bytes that came next; it may be nothing yet."""
        left_bytes = self._left_bytes
        if self._is_over or left_bytes >= len(data):
            self._left_bytes = max(left_bytes - len(data), 0)
            return data
        data, self._begun, self._left_bytes = self._begun + data, b"", 0
        place, pieces = self._whole_chunks(data, left_bytes)
        content = b"".join(pieces)
        chunk = b"%x\r\n%b\r\n" % (len(content), content) if pieces else b""
        return data[:left_bytes] + chunk + self._rest(data, place)

    @staticmethod
    def _whole_chunks(data: bytes, place: int) -> tuple[int, list[bytes]]:
        """Return where the first chunk begins that is not there as a whole, and the contents of those before."""
        pieces: list[bytes] = []
        match = _LINE.match
        while line := match(data, place):
            begin = line.end()
            end = begin + int(line[1], 16)
            if begin == end or data[end : end + 2] != _END:
                break
            pieces.append(data[begin:end])
            place = end + 2
        return place, pieces

    def _rest(self, data: bytes, place: int) -> bytes:
        """Return what is handed on as it came, and note what is to follow (rule 2)."""
        rest = data[place:]
        line = _LINE.match(rest)
        if line is not None:
            size_bytes = int(line[1], 16)
            missing_bytes = line.end() + size_bytes + len(_END) - len(rest)
            self._is_over = size_bytes == 0 or missing_bytes <= 0
            self._left_bytes = max(missing_bytes, 0)
        elif b"\n" in rest or len(rest) > MAX_LINE_BYTES:
            self._is_over = True
        else:
            self._begun, rest = rest, b""
        return rest
