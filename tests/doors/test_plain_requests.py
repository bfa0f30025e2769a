"""Plain requests: whatever is taken for one means to h11 the very same, and over a socket both are answered alike."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import h11
import hvac
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labkit import Lab, Vault
from labkit.doors.asgi import App
from labkit.doors.plain_requests import MAX_HEAD_BYTES, NO_HEAD, read_plain
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


def read_by_h11(data: bytes) -> tuple[str, str, list[tuple[str, str]], bytes] | None:
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
    headers = [(name.decode(), value.decode()) for name, value in request.headers]
    return request.method.decode(), request.target.decode(), headers, content


@settings(max_examples=examples(150))
@given(altered())
@example(GET)
@example(POST)
def test_what_is_plain_means_the_same_to_h11(data: bytes) -> None:
    found = read_plain(data)
    if found is not None and found.is_whole:
        assert (found.method, found.target, [*found.head.headers], found.content) == read_by_h11(data)
        assert read_plain(data, found.head) == found
    assert (found is not None) or data not in (GET, POST)


@pytest.mark.parametrize("line", LINES)
def test_what_frames_a_message_otherwise_is_not_plain(line: bytes) -> None:
    content = POST.replace(b"\r\n", b"\r\n" + line, 1)

    assert read_plain(content) is None


def test_what_most_clients_say_of_the_connection_is_plain() -> None:
    assert read_plain(GET.replace(b"\r\n", b"\r\n" + KEEP_ALIVE, 1)) is not None


def test_a_client_library_is_answered_plainly(vault: Vault, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[str] = []
    usual = App.answer

    def count(self: App, *asked: Any) -> Any:
        answered.append(asked[0])
        return usual(self, *asked)

    monkeypatch.setattr(App, "answer", count)
    client = hvac.Client(url=url, token=vault.root_token)
    client.secrets.kv.v2.create_or_update_secret("app", {"user": "ada" * 1_000})
    assert client.secrets.kv.v2.read_secret_version("app", raise_on_deleted_version=True)["data"]["data"] == {
        "user": "ada" * 1_000
    }
    client.adapter.close()
    assert answered == ["POST", "GET"]


def test_what_is_not_whole_or_more_than_one_is_not_plain() -> None:
    for end in range(len(POST)):
        begun = read_plain(POST[:end])
        assert (begun is None) == (end < POST.index(b"\r\n\r\n") + 4)
        assert begun is None or not begun.is_whole
    assert read_plain(POST.replace(b"12 ", b"999999")) is None
    for content in (
        *(GET + GET, GET + b"x", GET.replace(b"/v1/", b"/v2/"), GET.replace(b"Host: labkit\r\n", b"")),
        *(GET.replace(b"GET", method) for method in (b"HEAD", b"OPTIONS", b"get", b"PRI")),
        *(GET.replace(b"HTTP/1.1", b"HTTP/1.0"), GET.replace(b"\r\n", b"\n")),
        *(GET.replace(b"X-Vault-Token", b"x" * MAX_HEAD_BYTES), POST + b" "),
    ):
        assert read_plain(content) is None
    assert read_plain(GET, NO_HEAD) is not None


@pytest.fixture
def url(vault: Vault) -> Iterator[str]:
    """A vault behind a port."""
    with vault.serve() as address:
        yield address


def test_a_connection_goes_from_one_to_the_other_and_back(vault: Vault, url: str) -> None:
    host = urlsplit(url)
    token = b"X-Vault-Token: " + vault.root_token.encode() + b"\r\n"
    body = b'{"data": {"n": 1}}'
    head = b"POST /v1/secret/data/app HTTP/1.1\r\nHost: a\r\n" + token
    plain = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    with socket.create_connection((host.hostname, host.port), timeout=10) as line:
        for number in range(1, 7):
            if number % 3 == 0:  # one that comes in pieces
                for place in range(0, len(plain), 40):
                    line.sendall(plain[place : place + 40])
            else:
                line.sendall(plain if number % 3 == 1 else chunked)
            answer = b""
            while b'"version":%d' % number not in answer:
                piece = line.recv(65_536)
                assert piece, answer
                answer += piece
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert answer.count(b"HTTP/1.1") == 1
        line.sendall(b"DELETE /v1/secret/data/app HTTP/1.1\r\nHost: a\r\n" + token + b"\r\n")
        gone = line.recv(65_536)
    assert gone.startswith(b"HTTP/1.1 204 No Content\r\n")
    assert b"content-length" not in gone
    assert gone.endswith(b"\r\n\r\n")


def test_both_ways_answer_with_the_same_headers(vault: Vault, url: str) -> None:
    host, answers = urlsplit(url), []
    for extra in (b"", b"TE: trailers\r\n"):  # the second is h11's
        with socket.create_connection((host.hostname, host.port), timeout=10) as line:
            line.sendall(b"GET /v1/sys/health HTTP/1.1\r\nHost: a\r\n" + extra + b"\r\n")
            head = line.recv(65_536).partition(b"\r\n\r\n")[0].split(b"\r\n")
        answers.append([text for text in head if not text.startswith(b"date: ")])
        assert len(answers[-1]) == len(head) - 1
    assert answers[0] == answers[1]


def test_header_lines_that_do_not_come_whole_end_the_connection(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.doors.plain_requests.HEAD_S", 0.15)
    with vault.serve() as url:
        host = urlsplit(url)
        for begun in (b"", b"GET /v1/sys/health HTTP/1.1\r\nHost: a\r\nX-A: "):
            with socket.create_connection((host.hostname, host.port), timeout=10) as line:
                line.sendall(begun)
                with suppress(ConnectionResetError):
                    assert line.recv(100) == b""
        with socket.create_connection((host.hostname, host.port), timeout=10) as line:
            for _ in range(2):  # one that was in time goes on for longer
                line.sendall(b"GET /v1/sys/health HTTP/1.1\r\nHost: a\r\n\r\n")
                assert line.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")
                line.settimeout(0.3)
                with suppress(TimeoutError):
                    assert line.recv(1) != b""
                line.settimeout(10)


def test_no_header_says_who_asks(vault: Vault, url: str) -> None:
    """An address that a caller claims would get around the addresses that its token is bound to."""
    host = urlsplit(url)
    vault.post("sys/audit/file", {"type": "file", "options": {"file_path": "audit.log"}})
    for extra in (b"", b"Expect: x\r\n"):  # the second is h11's
        with socket.create_connection((host.hostname, host.port), timeout=10) as line:
            line.sendall(b"GET /v1/sys/mounts HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.9\r\n" + extra + b"\r\n")
            assert line.recv(65_536).startswith(b"HTTP/1.1 403 ")
    assert b"192.0.2.9" not in (vault.files.read("audit.log") or b"")


def test_a_cluster_of_a_lab_is_asked_plainly_too(lab: Lab) -> None:
    from labkit.doors.server import ServedDoor

    with ServedDoor(lab["paris"]) as url:
        host = urlsplit(url)
        with socket.create_connection((host.hostname, host.port), timeout=10) as line:
            line.sendall(b"GET /v1/sys/health HTTP/1.1\r\nHost: a\r\n\r\n")
            assert line.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")
