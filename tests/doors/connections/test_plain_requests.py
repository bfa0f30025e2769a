"""Plain requests: whatever is taken for one means to h11 the very same, and over a socket both are answered alike."""

from __future__ import annotations

from typing import Any

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labkit.doors.connections.plain_requests import (
    MAX_CONTENT_BYTES,
    MAX_HEAD_BYTES,
    PlainRequest,
    read_head,
    read_plain,
)
from labkit.doors.http_exchange import first_of_each
from tests.examples import examples

GET = b"GET /v1/secret/data/app?version=1 HTTP/1.1\r\nHost: labkit\r\nX-Vault-Token: t\r\n\r\n"
POST = b'POST /v1/secret/data/app HTTP/1.1\r\nhost:labkit\r\nContent-Length: 12 \r\nX-Empty:\r\n\r\n{"data": {}}'

PIECES = [b"", b"\r", b"\n", b"\0", b" ", b"\t", b"\xff", b":", b"0", b"9", b"\r\n", b"\r\n ", b"HTTP/1.0", b"("]
KEEP_ALIVE = b"Connection: Keep-Alive\r\n"
LINES = [
    b"Content-Length: 12\r\n",
    b"Content-Length: 0\r\n",
    b"Content-Length: +12\r\n",
    b"Content-Length: 12, 12\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Expect: 100-continue\r\n",
    b"Connection: close\r\n",
    b"Connection: keep-alive, close\r\n",
    b"Host: other\r\n",
    b"X-A : b\r\n",
    b" folded\r\n",
    b"X-A: \x0bb\r\n",
]


@st.composite
def altered(draw: st.DrawFn) -> bytes:
    """A request some of whose bytes are replaced, with lines put between."""
    content = bytearray(draw(st.sampled_from([GET, POST])))
    for piece in draw(st.lists(st.sampled_from(PIECES), max_size=3)):
        place = draw(st.integers(0, len(content)))
        content[place : place + draw(st.integers(0, 3))] = piece
    for line in draw(st.lists(st.sampled_from([*LINES, KEEP_ALIVE]), max_size=2)):
        place = content.find(b"\r\n") + 2
        content[place:place] = line
    return bytes(content)


def read_by_h11(data: bytes) -> tuple[str, str, dict[str, str], bytes] | None:
    """What h11 makes of some bytes; None where they are not one whole request after which the connection goes on."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    content = b""
    request: Any = None
    try:
        while not isinstance(event := connection.next_event(), h11.EndOfMessage):
            if isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                content += event.data
            else:
                return None
    except h11.RemoteProtocolError:
        return None
    if connection.their_state is not h11.DONE or connection.trailing_data != (b"", False):
        return None
    headers = first_of_each([(name.decode(), value.decode()) for name, value in request.headers])
    return request.method.decode(), request.target.decode(), headers, content


def is_whole(asked: PlainRequest) -> bool:
    """Whether all of its body has come."""
    return len(asked.content) == asked.head.length


@settings(max_examples=examples(150))
@given(altered())
@example(GET)
@example(POST)
def test_what_is_plain_means_the_same_to_h11(data: bytes) -> None:
    found = read_plain(data)
    if found is not None and is_whole(found):
        assert (found.method, found.target, found.head.named, found.content) == read_by_h11(data)
        assert read_plain(data, [found.head]) == found
        assert read_plain(GET, [found.head]) == read_plain(GET)
    assert (found is not None) or data not in (GET, POST)


@pytest.mark.parametrize("line", LINES)
def test_what_frames_a_message_otherwise_is_not_plain(line: bytes) -> None:
    content = POST.replace(b"\r\n", b"\r\n" + line, 1)

    assert read_plain(content) is None


def test_what_most_clients_say_of_the_connection_is_plain() -> None:
    assert read_plain(GET.replace(b"\r\n", b"\r\n" + KEEP_ALIVE, 1)) is not None


def test_what_is_not_whole_or_more_than_one_is_not_plain() -> None:
    for end in range(len(POST)):
        begun = read_plain(POST[:end])
        assert (begun is None) == (end < POST.index(b"\r\n\r\n") + 4)
        assert begun is None or not is_whole(begun)
    assert read_plain(POST.replace(b"12 ", b"999999")) is None
    for content in (
        *(GET + GET, GET + b"x", GET.replace(b"/v1/", b"/v2/"), GET.replace(b"Host: labkit\r\n", b"")),
        *(GET.replace(b"GET", method) for method in (b"HEAD", b"OPTIONS", b"get", b"PRI")),
        *(GET.replace(b"HTTP/1.1", b"HTTP/1.0"), GET.replace(b"\r\n", b"\n")),
        *(GET.replace(b"X-Vault-Token", b"x" * MAX_HEAD_BYTES), POST + b" "),
    ):
        assert read_plain(content) is None
    known = read_plain(GET)
    assert known is not None
    assert read_plain(GET.replace(b"app?", b"a" * MAX_HEAD_BYTES), [known.head]) is None


def test_a_request_of_the_limits_is_plain_and_a_byte_more_is_not() -> None:
    for more, plain in ((0, True), (1, False)):
        padding = MAX_HEAD_BYTES - len(GET) + more
        long = GET.replace(b"X-Vault-Token: t", b"X-Vault-Token: t" + b"x" * padding)
        assert len(long) == MAX_HEAD_BYTES + more
        assert (read_plain(long) is not None) == plain
        assert (read_plain(POST.replace(b"12 ", b"%d" % (MAX_CONTENT_BYTES + more))) is not None) == plain


def test_a_head_has_one_host_and_at_most_one_length() -> None:
    one, two = b"Host: a\r\n", b"Content-Length: 3\r\n"

    def length(*lines: bytes) -> int | None:
        head = read_head(b"".join(lines) + b"\r\n")
        return None if head is None else head.length

    assert [length(one), length(one, two), length(two, one), length(one, b"Content-Length: 0\r\n")] == [0, 3, 3, 0]
    assert [length(two), length(one, one), length(one, two, two), length()] == [None] * 4
    assert length(one, b"Content-Length: 0\r\n", two) is None
    assert length(one, b"Content-Length: 1234567890\r\n") is None
    head = read_head(one + b"X-A: 1\r\nx-a: 2\r\n\r\n")
    assert head is not None
    assert head.named == {"host": "a", "x-a": "1"}
    assert (repr(head), repr(read_plain(GET))) == ("PlainHead(2 headers)", "PlainRequest(GET /v1/secret/data/app)")
