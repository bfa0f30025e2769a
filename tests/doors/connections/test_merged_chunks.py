"""Merged chunks: h11 reads the same body, the same refusal and the same rest, in fewer pieces."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labkit.doors.connections.merged_chunks import MAX_LINE_BYTES, MergedChunks

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"


def read(pieces: list[bytes], chunks: MergedChunks | None) -> tuple[bytes, str, bytes, int]:
    """Let h11 read a body's pieces; return what it read, how it ended, what is left, and in how many events."""
    line = h11.Connection(h11.SERVER)
    line.receive_data(HEAD)
    assert isinstance(line.next_event(), h11.Request)
    body, events = b"", 0
    for piece in pieces:
        data = piece if chunks is None else chunks.merged(piece)
        if data:
            line.receive_data(data)
        while True:
            try:
                event = line.next_event()
            except h11.RemoteProtocolError:
                return body, "refused", b"", events
            if event in (h11.NEED_DATA, h11.PAUSED):
                break
            body += event.data if isinstance(event, h11.Data) else b""
            events += 1
    return body, str(line.their_state), line.trailing_data[0] if line.their_state is h11.DONE else b"", events


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """Cut bytes at places."""
    at = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[begin:end] for begin, end in pairwise(at)]


content = st.binary(min_size=1, max_size=20) | st.integers(1, 3_000).map(lambda size: b"\r\n0" * size)
line_end = st.sampled_from([b"", b"", b"", b";a=b", b' ;x="1"', b"; \t", b" ", b"\t"])
zeros = st.sampled_from([b"", b"", b"0", b"0000000000"])


@st.composite
def chunk(draw: st.DrawFn) -> bytes:
    """One chunk, whose size is written in one of the ways there are."""
    data = draw(content)
    size = b"%x" % len(data)
    return draw(zeros) + (size.upper() if draw(st.booleans()) else size) + draw(line_end) + b"\r\n" + data + b"\r\n"


odd = st.sampled_from(
    [b"1\na\n", b"1\r\nab\r\n", b"x\r\n", b"\r\n", b"-1\r\na\r\n", b"1_0\r\n", b"g", b"f" * 30, b"1\r\na\r1"]
)
end = st.sampled_from(
    [LAST, LAST + b"GET / HTTP/1.1\r\n", b"0;x\r\nA: b\r\n\r\n", b"0\r\nbad\r\n\r\n", b"", b"0\r\n", LAST]
)


@given(st.lists(st.one_of(chunk(), chunk(), chunk(), chunk(), odd), max_size=12), end, st.lists(st.integers(0, 9_999)))
@example([b"1\r\na\r\n"] * 9, LAST + b"1\r\nb\r\n", [2, 9])
@example([b"5\r\nabcde\r\n"], LAST, [4, 9, 10])
def test_the_same_is_read(chunks: list[bytes], last: bytes, places: list[int]) -> None:
    sent = b"".join(chunks) + last
    body, state, left, most = read(cut(sent, places), None)
    merged = read(cut(sent, places), MergedChunks())

    if state == "refused":
        assert merged[1] == "refused"
        assert body.startswith(merged[0]) or merged[0].startswith(body)
    else:
        assert merged[:3] == (body, state, left)
        assert merged[3] <= most


@pytest.mark.parametrize("size_bytes", [10, 1_000, 8_192])
def test_small_chunks_are_read_a_piece_at_a_time(size_bytes: int) -> None:
    sent = b"1\r\na\r\n" * 20_000 + LAST
    pieces = [sent[place : place + size_bytes] for place in range(0, len(sent), size_bytes)]
    body, _, _, events = read(pieces, MergedChunks())

    assert body == b"a" * 20_000
    assert events <= 3 * len(pieces)


def test_what_has_no_end_is_not_held_back_for_good() -> None:
    chunks = MergedChunks()
    handed_on = [chunks.merged(b"1;" + b"x" * 500) for _ in range(4)]

    assert handed_on[:2] == [b"", b""]
    assert sum(map(len, handed_on)) == 4 * 502
    assert 0 < MAX_LINE_BYTES < 2 * 502 + 500
    assert repr(chunks) == "MergedChunks(over)"
    assert repr(MergedChunks()) == "MergedChunks(0 bytes left of one)"
