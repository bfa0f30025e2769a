"""Outgoing: who reads nothing is cut off, and answers that nobody reads take a bounded place."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from labkit import Vault
from labkit.doors.connections import outgoing
from labkit.doors.connections.outgoing import LINGER_S, PIECE_BYTES, UNREAD_S, Outgoing, UnreadAnswers
from labkit.doors.served_door import ServedDoor
from labkit.doors.server_thread import DoorSettings
from labkit.doors.tls_files import make_tls_files
from labkit.service.message import Response, respond
from tests.doors.connections.echoed_connection import Timers, Wire, connection


class Slow(Wire):
    """A connection whose client reads as slowly as a test says."""

    def __init__(self, unread: int = 0) -> None:
        super().__init__()
        self.unread, self.halves = unread, 0

    def get_write_buffer_size(self) -> int:
        return self.unread

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.halves += 1


def test_who_takes_nothing_for_too_long_is_stuck() -> None:
    wire = Slow(100)
    end = Outgoing(wire, Timers(), asyncio.Protocol())  # type: ignore[arg-type]  # as far as it is used

    assert [end.is_stuck(now_s) for now_s in (0.0, 10.0, UNREAD_S - 1)] == [False] * 3
    assert end.is_stuck(UNREAD_S)
    wire.unread = 99
    assert not end.is_stuck(UNREAD_S)
    assert not end.is_stuck(2 * UNREAD_S - 1)
    assert end.is_stuck(2 * UNREAD_S)
    wire.unread = 0
    assert not end.is_stuck(9 * UNREAD_S)


def test_a_connection_looks_at_what_is_unread() -> None:
    timers = Timers()
    protocol, _ = connection(timers)
    wire = Slow(5)
    protocol.connection_made(wire)
    protocol.data_received(b"GET /v1/a HTTP/1.1\r\nHost: a\r\n\r\n")
    timers.pass_until(1_000.0 + UNREAD_S)
    assert not wire.closed
    timers.pass_until(1_000.0 + UNREAD_S + 11)
    assert wire.closed


def test_an_end_after_an_answer_lets_the_client_read_it() -> None:
    timers, wire = Timers(), Slow()
    end = Outgoing(wire, timers, asyncio.Protocol())  # type: ignore[arg-type]  # as far as it is used
    end.close()
    end.close()

    assert (wire.halves, wire.closed, end.is_closing()) == (1, False, True)
    timers.pass_until(1_000.0 + LINGER_S)
    assert wire.closed


def test_of_unread_answers_the_oldest_go() -> None:
    ends, wires, unread = [], [Slow(30 << 20) for _ in range(5)], UnreadAnswers()
    for wire in wires:
        ends.append(Outgoing(wire, Timers(), asyncio.Protocol()))  # type: ignore[arg-type]  # as far as it is used
        unread.add(ends[-1])

    assert [wire.closed for wire in wires] == [True, True, True, False, False]
    unread.discard(ends[3])
    unread.discard(ends[3])
    alone = Slow(900 << 20)
    unread.add(Outgoing(alone, Timers(), asyncio.Protocol()))  # type: ignore[arg-type]  # as far as it is used
    assert (wires[4].closed, alone.closed) == (True, False)


@pytest.fixture
def url(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(outgoing, "MAX_UNREAD_BYTES", 12_000_000)
    with vault.serve() as address:
        yield address


@pytest.mark.slow
def test_a_server_keeps_few_answers_that_nobody_reads(vault: Vault, url: str) -> None:
    vault.post("secret/data/long", {"data": {"text": "x" * 8_000_000}})
    asking = f"GET /v1/secret/data/long HTTP/1.1\r\nHost: localhost\r\nX-Vault-Token: {vault.root_token}\r\n\r\n"
    address = urlsplit(url)
    lines: list[Any] = []
    for _ in range(8):
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        line.connect((address.hostname, address.port))
        line.sendall(asking.encode() * 2)
        lines.append(line)
        time.sleep(0.1)
    ended = 0
    for line in lines[:4]:
        line.settimeout(5)
        received = 0
        try:
            while received < 8_000_000 and (piece := line.recv(1 << 20)):
                received += len(piece)
        except ConnectionResetError:
            ended += 1
        else:
            ended += received < 8_000_000
    assert ended >= 3
    newest, received = lines[-1], 0
    newest.settimeout(10)
    while received < 16_000_000:  # both answers
        received += len(newest.recv(1 << 20))
    for line in lines:
        line.close()


def test_a_connection_that_has_no_end_of_its_own_side_is_ended_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Slow, "can_write_eof", lambda self: False)
    wire = Slow(5)
    end = Outgoing(wire, Timers(), asyncio.Protocol())  # type: ignore[arg-type]  # as far as it is used
    end.close()

    assert (wire.halves, wire.closed, end.is_closing()) == (0, True, True)
    assert repr(end) == "Outgoing(5 bytes unread)"
    unread = UnreadAnswers()
    unread.add(end)
    assert repr(unread) == "UnreadAnswers(1 connections)"


def test_a_client_that_has_gone_is_left_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Slow) -> None:
        raise OSError(107, "Transport endpoint is not connected")

    monkeypatch.setattr(Slow, "write_eof", fail)
    wire = Slow()
    end = Outgoing(wire, Timers(), asyncio.Protocol())  # type: ignore[arg-type]  # as far as it is used
    end.close()

    assert (wire.closed, end.is_closing()) == (True, True)


@pytest.mark.parametrize(("unread", "aborted"), [(0, 1), (5, 0)])
def test_a_server_that_stops_waits_only_for_what_is_unread(
    unread: int, aborted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    wire = Slow(unread)
    monkeypatch.setattr(wire, "close", lambda: done.append("close"))
    monkeypatch.setattr(wire, "abort", lambda: done.append("abort"))
    Outgoing(wire, Timers(), asyncio.Protocol()).end_now()  # type: ignore[arg-type]  # as far as it is used

    assert done == ["close", "abort"][: 1 + aborted]


def test_a_server_that_stops_during_a_farewell_with_tls_ends_the_connection() -> None:
    done: list[str] = []

    class Farewell(Slow):
        """A transport as asyncio has it with TLS: a second close leaves it nothing to stand on."""

        def is_closing(self) -> bool:
            return "close" in done

        def close(self) -> None:
            done.append("close")

        def abort(self) -> None:
            done.append("abort")

        def get_write_buffer_size(self) -> int:
            if done.count("close") > 1:
                raise AttributeError("'NoneType' object has no attribute '_get_write_buffer_size'")
            return 0

    end = Outgoing(Farewell(), Timers(), asyncio.Protocol())  # type: ignore[arg-type]  # as far as it is used
    end.end()
    end.end_now()

    assert done == ["close", "abort"]


def test_a_server_with_tls_stops_while_clients_have_not_said_farewell(tmp_path: Path) -> None:
    files = make_tls_files(tmp_path)
    trusting = ssl.create_default_context(cafile=files.authority)
    with ServedDoor(Sink(), settings=DoorSettings(tls=files)) as url:
        port = urlsplit(url).port or 0
        lines = [
            trusting.wrap_socket(socket.create_connection(("127.0.0.1", port), 10), server_hostname="localhost")
            for _ in range(3)
        ]
        for line in lines:
            line.sendall(b"GET /v1/1a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert line.recv(100_000).startswith(b"HTTP/1.1 200")
    for line in lines:
        line.close()


class Sink:
    """A service whose answers are large."""

    def request(self, method: str, path: str, body: Any = None, headers: Any = None) -> Response:
        """Answer with as many letters as the path says."""
        return respond(200, {"x": path[-1] * int(path.rpartition("/")[2][:-1])})


@pytest.mark.parametrize("extra", [b"", b"TE: trailers\r\n", b"Connection: close\r\n"])
@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.slow
def test_a_large_answer_is_sent_in_turns_before_the_next(extra: bytes, ends: bool) -> None:
    sizes = (3_000_000, 5, 2_000_000)
    asked = b"".join(
        [
            b"GET /v1/%d%c HTTP/1.1\r\nHost: a\r\n%b\r\n" % (size, 97 + number, extra)
            for number, size in enumerate(sizes)
        ]
    )
    with ServedDoor(Sink()) as url, socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), 10) as line:
        line.sendall(asked)
        if ends:
            line.shutdown(socket.SHUT_WR)
        found, expected = b"", b""
        for number, size in enumerate(sizes[: 1 if b"close" in extra else 3]):
            expected = b'{"x":"' + b"%c" % (97 + number) * size + b'"}\n'
            while expected not in found:
                piece = line.recv(100_000)
                assert piece, (number, len(found))
                found += piece
                time.sleep(0.001 if number else 0)
            assert found.endswith(expected) or number < 2
            found = found.partition(expected)[2]
        if ends or b"close" in extra:
            assert line.recv(1) == b""


def test_no_turn_takes_more_than_a_piece_of_a_large_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def sizes() -> list[int]:
        handed: list[int] = []
        wire = Slow()
        monkeypatch.setattr(wire, "write", lambda data: handed.append(len(data)))
        monkeypatch.setattr(wire, "get_write_buffer_limits", lambda: (1, 9), raising=False)
        protocol, _ = connection(asyncio.get_running_loop())
        protocol.connection_made(wire)
        end: Any = protocol.transport
        end.write(b"x" * (2 * PIECE_BYTES + 1))
        protocol.transport.close()
        assert (end.has_rest, end.unread_bytes, wire.halves, end.is_closing()) == (True, PIECE_BYTES + 1, 0, True)
        for turn in range(2, 4):
            await asyncio.sleep(0)
            assert len(handed) == turn
        await asyncio.sleep(0)
        assert wire.halves == 1
        protocol.connection_lost(None)
        return handed

    assert asyncio.run(sizes()) == [PIECE_BYTES, PIECE_BYTES, 1]
