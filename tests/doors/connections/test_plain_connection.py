"""Plain connections: over a socket plain requests and h11's are answered alike, in order, however their bytes come."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise, product
from typing import Any
from urllib.parse import urlsplit

import hvac
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labkit import Lab, Vault
from labkit.doors.asgi import App
from labkit.doors.connections import plain_requests
from labkit.doors.connections.plain_connection import BODY_BYTES, BODY_S, HEAD_S, RECEIVED_BYTES, SLICE_BYTES
from labkit.doors.served_door import ServedDoor
from tests.doors.connections.echoed_connection import (
    ASKED,
    TURNS,
    Echo,
    LaterEcho,
    Timers,
    answers_to,
    asking,
    connection,
    echoed,
)
from tests.examples import examples


@pytest.fixture
def url(vault: Vault) -> Iterator[str]:
    """A vault behind a port."""
    with vault.serve() as address:
        yield address


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


def test_a_connection_goes_from_one_to_the_other_and_back(vault: Vault, url: str) -> None:
    host = urlsplit(url)
    token = b"X-Vault-Token: " + vault.root_token.encode() + b"\r\n"
    body = b'{"data": {"n": 1}}'
    head = b"POST /v1/secret/data/app HTTP/1.1\r\nHost: localhost\r\n" + token
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
        line.sendall(b"DELETE /v1/secret/data/app HTTP/1.1\r\nHost: localhost\r\n" + token + b"\r\n")
        gone = line.recv(65_536)
    assert gone.startswith(b"HTTP/1.1 204 No Content\r\n")
    assert b"content-length" not in gone
    assert gone.endswith(b"\r\n\r\n")


def test_both_ways_answer_with_the_same_headers(vault: Vault, url: str) -> None:
    host, answers = urlsplit(url), []
    for extra in (b"", b"TE: trailers\r\n"):  # the second is h11's
        with socket.create_connection((host.hostname, host.port), timeout=10) as line:
            line.sendall(b"GET /v1/sys/health HTTP/1.1\r\nHost: localhost\r\n" + extra + b"\r\n")
            head = line.recv(65_536).partition(b"\r\n\r\n")[0].split(b"\r\n")
        answers.append([text for text in head if not text.startswith(b"date: ")])
        assert len(answers[-1]) == len(head) - 1
    assert answers[0] == answers[1]


@pytest.mark.slow
def test_header_lines_that_do_not_come_whole_end_the_connection(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.doors.connections.plain_connection.HEAD_S", 0.15)
    with vault.serve() as url:
        host = urlsplit(url)
        for begun in (b"", b"GET /v1/sys/health HTTP/1.1\r\nHost: localhost\r\nX-A: "):
            with socket.create_connection((host.hostname, host.port), timeout=10) as line:
                line.sendall(begun)
                with suppress(ConnectionResetError):
                    assert line.recv(100) == b""


def test_no_header_says_who_asks(vault: Vault, url: str) -> None:
    """An address that a caller claims would get around the addresses that its token is bound to."""
    host = urlsplit(url)
    vault.post("sys/audit/file", {"type": "file", "options": {"file_path": "audit.log"}})
    for extra in (b"", b"Expect: x\r\n"):  # the second is h11's
        with socket.create_connection((host.hostname, host.port), timeout=10) as line:
            line.sendall(
                b"GET /v1/sys/mounts HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.9\r\n" + extra + b"\r\n"
            )
            assert line.recv(65_536).startswith(b"HTTP/1.1 403 ")
    assert b"192.0.2.9" not in (vault.files.read("audit.log") or b"")


def test_a_cluster_of_a_lab_is_asked_plainly_too(lab: Lab) -> None:
    from labkit.doors.served_door import ServedDoor

    with ServedDoor(lab["paris"]) as url:
        host = urlsplit(url)
        with socket.create_connection((host.hostname, host.port), timeout=10) as line:
            line.sendall(b"GET /v1/sys/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert line.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")


@settings(max_examples=examples(200))
@given(
    st.lists(st.sampled_from(ASKED), min_size=1, max_size=5),
    st.lists(st.integers(0, 700), max_size=6),
    st.booleans(),
    st.sampled_from([0, 3, TURNS]),
)
@example([ASKED[0], ASKED[1], ASKED[0]], [len(ASKED[0][0]), 2 * len(ASKED[0][0])], False, TURNS)
@example([ASKED[0], ASKED[4], ASKED[5]], [len(ASKED[0][0]), 2 * len(ASKED[0][0])], True, 0)
@example([ASKED[5], ASKED[0], ASKED[6]], [90, len(ASKED[5][0]), len(ASKED[5][0]) + len(ASKED[0][0])], False, TURNS)
@example([ASKED[5], ASKED[0]], [len(ASKED[5][0]) - 4], False, TURNS)
def test_requests_are_answered_in_order_however_their_bytes_come(
    asked: list[tuple[bytes, list[Any]]], cuts: list[int], later: bool, turns: int
) -> None:
    data = b"".join(request for request, _ in asked)
    places = [0, *sorted(place for place in cuts if place < len(data)), len(data)]
    pieces = [data[begin:end] for begin, end in pairwise(places) if begin < end]

    app = LaterEcho() if later else None
    assert asyncio.run(answers_to(pieces, len(asked), app, turns)) == [answer for _, answer in asked]


@pytest.mark.slow
def test_a_request_that_is_cut_anywhere_is_answered_as_a_whole_one() -> None:
    async def cut_everywhere() -> None:
        for app, (request, answer) in product((None, LaterEcho()), (ASKED[0], ASKED[5], ASKED[7])):
            for place in range(1, len(request)):
                found = await answers_to([ASKED[1][0], request[:place], request[place:], ASKED[6][0]], 3, app)
                assert found == [ASKED[1][1], answer, ASKED[6][1]], place

    asyncio.run(cut_everywhere())


def test_what_belongs_to_another_request_is_not_taken_for_one() -> None:
    """What a client sends apart may look like a request of its own."""
    inner = asking("/v1/inner", "u")
    chunk = b"%x\r\n" % len(inner)
    head = asking("/v1/outer", "t", b"", chunked=True).partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    for pieces in (
        [b"GET /v1/outer HTTP/1.1\r\nX-Vault-Token: t\r\nX-A: ", inner],
        [head, chunk, inner, b"\r\n0\r\n\r\n"],
        [asking("/v1/outer", "t", inner, extra=b"TE: trailers\r\n")[: -len(inner)], inner],
        [asking("/v1/outer", "t", inner)[: -len(inner)], inner],
    ):
        found = asyncio.run(answers_to(pieces, 1))
        assert (found[0][1], found[0][3]) == ("/v1/outer", "t")


def test_of_two_keepers_of_time_one_is_at_work() -> None:
    """A connection goes on after its last answer, whoever wrote those before."""

    async def from_one_to_the_other() -> list[tuple[Any, bool]]:
        protocol, _ = connection(asyncio.get_running_loop())
        kept = []
        for request, _ in (ASKED[4], ASKED[0], ASKED[4]):
            protocol.data_received(request)
            for _ in range(TURNS):
                await asyncio.sleep(0)
            kept.append((protocol.timeout_keep_alive_task, protocol._ends_s - protocol.loop.time() > 200))
        protocol.connection_lost(None)
        return kept

    assert asyncio.run(from_one_to_the_other()) == [(None, True)] * 3


def test_a_head_is_read_once_while_it_stays_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    usual = plain_requests.read_head

    def count(lines: bytes) -> Any:
        read.append(lines)
        return usual(lines)

    monkeypatch.setattr(plain_requests, "read_head", count)
    protocol, wire = connection(Timers())
    long = asking("/v1/a", "t", extra=b"X-A: " + b"x" * 3_000 + b"\r\n")
    many = asking("/v1/a", "t", extra=b"".join(b"x%d:\r\n" % number for number in range(100)))
    for request, _ in [ASKED[0], ASKED[2], ASKED[5], ASKED[0], ASKED[5]]:
        protocol.data_received(request)
    assert len(read) == 2, "one without a body and one with"
    for request in [long, long, many, many]:
        protocol.data_received(request)
    assert len(read) == 6, "a long head is not kept"
    protocol.data_received(ASKED[1][0])
    protocol.data_received(ASKED[5][0])
    assert len(read) == 7, "another token is another head"
    protocol.data_received(ASKED[0][0])
    assert len(read) == 8, "the newest two are kept"
    assert len(echoed(wire.written)) == 12


def test_no_request_makes_a_timer() -> None:
    timers = Timers()
    protocol, wire = connection(timers)
    for request, _ in (*ASKED[:4], *ASKED[5:7]) * 10:
        protocol.data_received(request)
    for request, _ in ASKED[5:7] * 10:
        protocol.data_received(request[:-8])
        protocol.data_received(request[-8:])
    assert timers.made == 1
    assert len(echoed(wire.written)) == 80
    protocol.connection_lost(None)
    assert not timers.waiting


def test_a_connection_ends_when_its_time_has_come() -> None:
    get, body, long = ASKED[0][0], ASKED[5][0], asking("/v1/a", "t", b"x" * 60_000)[:-59_990]
    for what, pieces, ends_s in [
        ("nothing comes", [], HEAD_S),
        ("an answer was the last", [(3.5, get)], 303.5),
        ("several were", [(3.0, get), (250.0, get)], 550.0),
        ("a body does not come whole", [(2.0, body[:-7])], 32.0),
        ("it comes by the byte", [(2.0, body[:-7]), (5.0, body[-7:-6]), (31.0, body[-6:-5])], 32.0),
        ("after an answer too", [(2.0, get), (200.0, body[:-7]), (209.0, body[-7:-6])], 230.0),
        ("it goes on, then stops", [(2.0, long), *[(2.0 + n * 25, b"x" * BODY_BYTES) for n in (1, 2)]], 82.0),
        ("lines do not come whole", [(2.0, get), (20.0, get[:40]), (29.0, get[40:41])], 30.0),
        ("the first lines do not", [(4.0, get[:40]), (9.0, get[40:41])], 10.0),
    ]:
        timers = Timers()
        protocol, wire = connection(timers)
        for at_s, piece in pieces:
            timers.pass_until(1_000.0 + at_s)
            protocol.data_received(piece)
        timers.pass_until(1_000.0 + ends_s - 0.01)
        assert not wire.closed, what
        timers.pass_until(1_000.0 + ends_s + 0.01)
        assert wire.closed, what
        assert wire.written.endswith(b"within 30 s") is any(b"POST" in piece for _, piece in pieces), what
        wire.written = b""
        protocol.data_received(get)
        assert wire.written == b"", "what comes after the end is not answered"


@pytest.mark.parametrize(
    "extra", [b"Transfer-Encoding: chunked", b"Content-Length: 70000", b"Expect: x\r\nContent-Length: 9"]
)
def test_one_rule_for_slow_bodies_whoever_reads_them(extra: bytes) -> None:
    async def stops(pause_s: float) -> bytes:
        loop = asyncio.get_running_loop()
        protocol, wire = connection(loop)
        protocol.data_received(b"POST /v1/a HTTP/1.1\r\nHost: a\r\n" + extra + b"\r\n\r\n")
        await asyncio.sleep(0)
        assert protocol._ends_s == pytest.approx(loop.time() + BODY_S, abs=5)
        protocol._ends_s = loop.time() + pause_s
        protocol._look()
        for _ in range(TURNS):
            await asyncio.sleep(0)
        protocol.connection_lost(None)
        return wire.written

    assert asyncio.run(stops(5)) == b""
    assert asyncio.run(stops(0)).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_chunks_are_read_right_where_a_request_was_answered_before_its_body_came() -> None:
    early = b"POST /v1/a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 40\r\n\r\n"
    body = b'{"a": "aaaa%b"}' % (b"b" * 10)
    chunked = b"".join([b"a\r\n%b\r\n" % body[place : place + 10].ljust(10) for place in range(0, len(body), 10)])
    head = b"POST /v1/b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def read(cut_at: int) -> bytes:
        protocol, wire = connection(asyncio.get_running_loop(), App(Echo(), 30))
        sent = b"5\r\nabcde\r\n" * 4 + head + chunked + b"0\r\n\r\n"
        for piece in (early, sent[:cut_at], sent[cut_at:]):
            protocol.data_received(piece)
            for _ in range(TURNS):
                await asyncio.sleep(0)
        protocol.connection_lost(None)
        return wire.written

    for cut_at in range(1, 40 + len(head) + len(chunked)):
        early_answer, answer = echoed(asyncio.run(read(cut_at)))
        assert early_answer[2][1] == 413, cut_at
        assert answer == ["POST", "/v1/b", {"a": "aaaa" + 10 * "b"}, None], cut_at


def test_many_small_chunks_are_read_in_slices() -> None:
    async def read_in_slices() -> tuple[int, list[Any]]:
        protocol, wire = connection(asyncio.get_running_loop())
        text = b'{"a": "' + b"x" * 20_000 + b'"}'
        chunked = b"".join([b"1\r\n%c\r\n" % byte for byte in text]) + b"0\r\n\r\n"
        head = b"POST /v1/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        protocol.data_received(head + chunked)
        turns = 0
        while not wire.written:
            await asyncio.sleep(0)
            turns += 1
        protocol.connection_lost(None)
        return turns, echoed(wire.written)

    turns, asked = asyncio.run(read_in_slices())
    assert turns > 100_000 // SLICE_BYTES
    assert asked == [["POST", "/v1/a", {"a": "x" * 20_000}, None]]


@pytest.mark.parametrize("late", [b"\r\n", b"GET /v1/b HTTP/1.1\r\nHost: a\r\n\r\n", b"\0" * 9])
@pytest.mark.parametrize("method", [b"HEAD", b"GET", b"POST"])
def test_after_a_request_that_ends_its_connection_nothing_more_is_read(late: bytes, method: bytes) -> None:
    async def answer_with(turns: int) -> bytes:
        protocol, wire = connection(asyncio.get_running_loop(), LaterEcho())
        closing = b" /v1/a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        protocol.data_received(method + closing)
        for _ in range(turns):
            await asyncio.sleep(0)
        protocol.data_received(late)
        while not wire.closed:
            await asyncio.sleep(0)
        protocol.connection_lost(None)
        return wire.written

    for turns in range(TURNS):
        written = asyncio.run(answer_with(turns))
        assert written.startswith(b"HTTP/1.1 200 OK\r\n")
        assert written.count(b"HTTP/1.1") == 1


def test_a_request_that_came_whole_is_answered_whatever_follows() -> None:
    async def answers() -> bytes:
        protocol, wire = connection(asyncio.get_running_loop(), LaterEcho())
        protocol.data_received(asking("/v1/a", "t", b'{"n": 1}', chunked=True) + b"\0\0")
        while not wire.closed:
            await asyncio.sleep(0)
        protocol.connection_lost(None)
        return wire.written

    first, status, second = asyncio.run(answers()).partition(b"HTTP/1.1 400 Bad Request\r\n")
    assert echoed(first) == [["POST", "/v1/a", {"n": 1}, "t"]]
    assert status
    assert second.endswith(b"Invalid HTTP request received.")


def test_empty_lines_between_requests_are_passed_over() -> None:
    pieces = [ASKED[5][0] + b"\r\n", b"\r\n", ASKED[7][0] + b"\r\n" + ASKED[0][0], b"\r\n\r\n" + ASKED[4][0]]
    for turns in (0, 3, TURNS):
        found = asyncio.run(answers_to(pieces, 4, turns=turns))
        assert found == [ASKED[number][1] for number in (5, 7, 0, 4)]


def test_a_client_of_http_1_0_keeps_its_connection_when_it_says_so() -> None:
    protocol, wire = connection(Timers())
    protocol.data_received(b"GET /v1/a HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n")

    assert not wire.closed
    assert b"\r\nconnection: keep-alive\r\n" in wire.written
    assert echoed(wire.written) == [["GET", "/v1/a", None, None]]


@pytest.mark.parametrize("lengths", [b"2, 2", b"2,2", b"2 ,\t2"])
def test_several_lengths_are_refused_though_they_are_equal(lengths: bytes) -> None:
    head = b"POST /v1/a HTTP/1.1\r\nHost: a\r\nContent-Length: " + lengths + b"\r\n\r\n{}"
    for cut in (len(head), 40, len(head) - 4):
        protocol, wire = connection(Timers())
        for piece in (head[:cut], head[cut:]):
            if piece:
                protocol.data_received(piece)
        assert wire.written.startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert wire.closed


@pytest.mark.slow
def test_a_bug_is_one_500_and_one_line_without_what_the_request_carried(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken:
        def request(self, method: str, path: str, body: Any = None, headers: Any = None) -> Any:
            raise KeyError(str(body))

    for extra in (b"", b"Expect: x\r\n"):
        with ServedDoor(Broken()) as address:
            host = urlsplit(address)
            with socket.create_connection((host.hostname, host.port), timeout=10) as line:
                line.sendall(asking("/v1/TOKMARK", "TOKMARK", b'{"a": "BODYMARK"}', extra))
                received = b""
                while piece := line.recv(65_536):
                    received += piece
        assert received.count(b"HTTP/1.1 500 Internal Server Error\r\n") == 1
        assert b"connection: close" in received
        (said,) = capsys.readouterr().err.splitlines()
        assert said.startswith("a bug: a request was answered with 500: KeyError at ")
        assert "MARK" not in said


def test_who_reads_slowly_and_ended_its_side_gets_all_answers(vault: Vault, url: str) -> None:
    vault.post("secret/data/long", {"data": {"text": "x" * 3_000_000}})
    asked = b"GET /v1/secret/data/long HTTP/1.1\r\nHost: localhost\r\nX-Vault-Token: %b\r\n\r\n"
    host, received = urlsplit(url), 0
    with socket.create_connection((host.hostname, host.port), timeout=10) as line:
        line.sendall(asked % vault.root_token.encode() * 5)
        line.shutdown(socket.SHUT_WR)
        while piece := line.recv(1 << 20):
            received += len(piece)
    assert received > 15_000_000


def test_the_date_of_an_answer_is_the_servers_at_that_time() -> None:
    protocol, wire = connection(Timers())
    for date in (b"Mon", b"Tue"):
        protocol.server_state.default_headers = [(b"date", date)]
        protocol.data_received(ASKED[0][0])
    assert wire.written.count(b"date: Mon\r\n") == wire.written.count(b"date: Tue\r\n") == 1


def test_who_does_not_read_gets_no_more_answers_meanwhile() -> None:
    async def held_up() -> None:
        protocol, wire = connection(asyncio.get_running_loop())
        protocol.pause_writing()
        protocol.data_received(ASKED[0][0])
        for _ in range(5):
            await asyncio.sleep(0)
        assert wire.written == b""
        protocol.resume_writing()
        while protocol.tasks:
            await asyncio.sleep(0)
        assert echoed(wire.written) == [ASKED[0][1]]
        protocol.connection_lost(None)

    asyncio.run(held_up())


async def turn(count: int = TURNS) -> None:
    """Let some turns of the loop pass."""
    for _ in range(count):
        await asyncio.sleep(0)


def test_while_an_answer_takes_its_time_nothing_more_is_read() -> None:
    async def one_after_the_other() -> None:
        app = LaterEcho()
        protocol, wire = connection(asyncio.get_running_loop(), app)
        for first, *others in ([0, 1], [2, 0], [0, 1, 2]):
            wire.written, asked = b"", app.asked
            protocol.data_received(ASKED[first][0])
            for number in others:
                await turn(1)
                protocol.data_received(ASKED[number][0])
            assert (app.asked, wire.written, protocol.flow.read_paused) == (asked + 1, b"", True)
            await turn(3 * TURNS)
            assert echoed(wire.written) == [ASKED[number][1] for number in (first, *others)]
            assert not protocol.flow.read_paused
        protocol.connection_lost(None)

    asyncio.run(one_after_the_other())


def test_an_answer_may_take_longer_than_header_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slowly() -> None:
        protocol, wire = connection(asyncio.get_running_loop(), LaterEcho())
        protocol.data_received(ASKED[0][0])
        await turn()
        assert (echoed(wire.written), wire.closed) == ([ASKED[0][1]], False)
        protocol.connection_lost(None)

    monkeypatch.setattr("labkit.doors.connections.plain_connection.HEAD_S", 0)
    asyncio.run(slowly())


def test_who_goes_away_changes_nothing_of_what_was_asked() -> None:
    async def gone() -> None:
        app = LaterEcho()
        protocol, wire = connection(asyncio.get_running_loop(), app)
        protocol.data_received(ASKED[0][0])
        await turn(2)
        wire.close()
        protocol.connection_lost(ConnectionResetError())
        await turn()
        assert (app.asked, wire.written, len(protocol.tasks)) == (1, b"", 0)

    asyncio.run(gone())


def test_a_server_that_stops_waits_for_an_answer() -> None:
    async def stopped() -> None:
        for begins_to_wait in (True, False):
            protocol, wire = connection(asyncio.get_running_loop(), LaterEcho())
            protocol.data_received(ASKED[0][0])
            await turn(2 if begins_to_wait else TURNS)
            protocol.shutdown()
            assert wire.closed == (not begins_to_wait)
            await turn()
            assert wire.closed
            assert echoed(wire.written) == [ASKED[0][1]]
            protocol.connection_lost(None)

    asyncio.run(stopped())


def test_who_ends_its_own_side_only_gets_the_answers_to_what_came_whole() -> None:
    get, chunked, cut = ASKED[0], ASKED[7], ASKED[5][0][:-7]

    async def half_closed() -> None:
        for app, whole, rest in product(
            (None, LaterEcho()), ([get], [chunked], [get, get], [chunked, get]), (b"", cut)
        ):
            protocol, wire = connection(asyncio.get_running_loop(), app)
            protocol.data_received(b"".join(request for request, _ in whole) + rest)
            is_kept = protocol.eof_received()  # the transport ends the connection otherwise, after what was written
            assert is_kept or wire.written
            await turn(3 * TURNS)
            assert echoed(wire.written) == [answer for _, answer in whole], (whole, rest)
            assert wire.closed == is_kept
            protocol.connection_lost(None)

        for data in (get[0][:-9], cut, chunked[0][:-9]):
            assert not _is_kept(data)
        assert not _is_kept(chunked[0], scheme="https"), "both sides of TLS end together"

    def _is_kept(data: bytes, scheme: str = "http") -> bool:
        protocol, _ = connection(asyncio.get_running_loop())
        protocol.scheme = scheme  # type: ignore[assignment]  # one of two
        protocol.data_received(data)
        is_kept = protocol.eof_received()
        protocol.connection_lost(None)
        return is_kept

    asyncio.run(half_closed())


def test_a_bug_of_the_application_is_answered_and_ends_the_connection() -> None:
    async def failing() -> None:
        for cancelled in (False, True):
            app = LaterEcho()
            app.fails = True
            protocol, wire = connection(asyncio.get_running_loop(), app)
            protocol.data_received(ASKED[0][0])
            await turn(1)
            for task in [*protocol.tasks] if cancelled else []:
                task.cancel()
            await turn()
            assert wire.written.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
            assert wire.closed
            protocol.connection_lost(None)

    asyncio.run(failing())


def test_what_comes_in_many_pieces_is_not_mixed_up_with_what_others_send(vault: Vault, url: str) -> None:
    """All connections are received into the same memory."""
    host, size = urlsplit(url), 3 * RECEIVED_BYTES
    body = b'{"data": {"a": "%b"}}' % (b"a" * size)
    head = f"POST /v1/secret/data/app HTTP/1.1\r\nHost: localhost\r\nX-Vault-Token: {vault.root_token}\r\n"
    content = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    with (
        socket.create_connection((host.hostname, host.port), timeout=10) as long,
        socket.create_connection((host.hostname, host.port), timeout=10) as other,
    ):
        for place in range(0, len(content), 200_000):
            long.sendall(content[place : place + 200_000])
            other.sendall(b"GET /v1/sys/health HTTP/1.1\r\nHost: localhost\r\nX-B: %b\r\n\r\n" % (b"b" * 9_000))
            assert other.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")
        assert long.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")
    assert vault.get("secret/data/app").data["data"] == {"a": "a" * size}


@pytest.mark.parametrize(("bytes_more", "headers_more", "kept"), [(0, 0, True), (1, 0, False), (0, 1, False)])
def test_a_head_of_the_limits_is_kept(bytes_more: int, headers_more: int, kept: bool) -> None:
    protocol, wire = connection(Timers())
    begun = b"GET /v1/a HTTP/1.1\r\nHost: a\r\n"
    if headers_more:
        names = b"".join(b"x%d:\r\n" % number for number in range(64))
        begun += names
    lines = begun.partition(b"\r\n")[2]
    padding = b"" if headers_more else b"X-A: " + b"x" * (2_048 - len(lines) - 9 + bytes_more) + b"\r\n"
    protocol.data_received(begun + padding + b"\r\n")

    assert [len(head.lines) for head in protocol._heads] == ([2_048] if kept else [])
    assert len(echoed(wire.written)) == 1
