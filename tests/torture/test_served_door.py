"""The served door under load, and under what no client should send: many threads, many connections, mutilated bytes.

    python tests/torture/test_served_door.py [seconds] [mutilated requests]

As tests these are bounded in requests, never in time; run by hand they go on for so many seconds.
"""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import struct
import sys
import threading
from collections import defaultdict
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Vault
from tests.doors.worst_requests import worst_requests

pytestmark = pytest.mark.slow

THREADS, KEYS, WRITES = 32, 8, 12
CONNECTIONS = 1_000
TIMEOUT_S = 60

HEALTH = b"GET /v1/sys/health HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(url: str) -> socket.socket:
    host = urlsplit(url)
    return socket.create_connection((host.hostname, host.port), timeout=TIMEOUT_S)


def first_status(line: socket.socket) -> int:
    """The status of the answer that comes next on a connection; 0 when it is closed without one."""
    with contextlib.suppress(ConnectionResetError):
        head = line.recv(65_536)
        return int(head.split(b" ", 2)[1]) if head.startswith(b"HTTP/1.1 ") else 0
    return 0


def write_from_many_threads(vault: Vault, url: str, writes: int, until: float = 0.0) -> dict[str, list[int]]:
    """Write from all threads to the same keys, reading between; return the versions of each key, as answered."""
    versions: dict[str, list[int]] = defaultdict(list)
    faults: list[Any] = []

    def work(thread: int) -> None:
        with requests.Session() as session:
            session.trust_env = False
            session.headers["X-Vault-Token"] = vault.root_token
            number = 0
            while number < writes or monotonic() < until:
                key = f"key-{(thread + number) % KEYS}"
                path = f"{url}/v1/secret/data/{key}"
                answer = session.post(path, json={"data": {"by": thread, "n": number}}, timeout=TIMEOUT_S)
                if answer.status_code != 200:
                    faults.append((answer.status_code, answer.text))
                    return
                version = answer.json()["data"]["version"]
                versions[key].append(version)
                read = session.get(f"{path}?version={version}", timeout=TIMEOUT_S)
                if read.status_code != 404 and read.json()["data"]["data"] != {"by": thread, "n": number}:
                    faults.append((key, version, read.text))
                number += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    return versions


def test_no_write_of_many_threads_is_lost(url: str, vault: Vault) -> None:
    versions = write_from_many_threads(vault, url, WRITES)

    assert sorted(versions) == [f"key-{number}" for number in range(KEYS)]
    assert {key: sorted(seen) for key, seen in versions.items()} == {
        key: list(range(1, THREADS * WRITES // KEYS + 1)) for key in versions
    }


def test_idle_connections_hold_up_nobody(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.doors.connections.plain_connection.HEAD_S", 3_600)
    hold_idle_connections(url)


def hold_idle_connections(url: str) -> None:
    """Open connections, half of which begin to speak; see that another is answered, and then they."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    count = CONNECTIONS if most == resource.RLIM_INFINITY else min(CONNECTIONS, (most - 200) // 2)
    before = threading.active_count()
    idle = [connect(url) for _ in range(count)]
    for line in idle[::2]:  # half of them have begun to speak
        line.sendall(HEALTH[:25])

    with connect(url) as line:
        line.sendall(HEALTH)
        assert first_status(line) == 200
    assert threading.active_count() == before
    for line in idle[::2]:  # and are answered once they have spoken
        line.sendall(HEALTH[25:])
    assert {first_status(line) for line in idle[::2]} == {200}
    for line in idle:
        line.close()


def test_clients_that_go_away_leave_nothing_behind(url: str, vault: Vault) -> None:
    vault.post("secret/data/long", {"data": {"text": "x" * 200_000}})
    asking = (
        f"GET /v1/secret/data/long HTTP/1.1\r\nHost: localhost\r\nX-Vault-Token: {vault.root_token}\r\n\r\n".encode()
    )
    before = open_sockets()
    for number in range(300):
        with connect(url) as line:
            line.sendall(asking * (1 + number % 2))  # the second is not plain, as two come together
            if number % 3 == 0:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset, not closed
            elif number % 3 == 1:
                line.recv(100)
    for _ in range(1_000):
        with connect(url) as line:
            line.sendall(HEALTH)
            assert first_status(line) == 200
        if open_sockets() <= before:
            break
    assert open_sockets() <= before


def open_sockets() -> int:
    """How many sockets this process has open, where the system says so; files that others read come and go."""
    folder = Path("/proc/self/fd")
    links = [*folder.iterdir()] if folder.exists() else []
    found = 0
    for link in links:
        with contextlib.suppress(FileNotFoundError):
            found += os.readlink(link).startswith("socket:")
    return found


def mutilated(draw: Random, token: str) -> bytes:
    """A request, or two that come together, with some of its bytes changed, doubled or left out."""
    body = b'{"data": {"user": "ada"}}'
    head = b"POST /v1/secret/data/app HTTP/1.1\r\nHost: localhost\r\nX-Vault-Token: %s\r\n" % token.encode()
    sized, chunked = b"Content-Length: %d\r\n" % len(body), b"Transfer-Encoding: chunked\r\n"
    forms = [
        head + sized + b"\r\n" + body,
        head + chunked + b"\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body),
        head + sized + chunked + b"\r\n0\r\n\r\n" + HEALTH,
        head + chunked.replace(b"chunked", b"identity, chunked") + sized + b"\r\n" + body + HEALTH,
        head + b"Expect: 100-continue\r\n" + sized + b"\r\n" + body,
    ]
    content = bytearray(draw.choice(forms))
    for _ in range(draw.randrange(4)):
        place = draw.randrange(len(content))
        piece = draw.choice(
            [b"", b"\r", b"\n", b"\0", b" ", b"\xff", b":", bytes(content[place : place + 9]) * 2, b"9"]
        )
        content[place : place + draw.randrange(3)] = piece
    return bytes(content)


def speak_mutilated(vault: Vault, url: str, count: int, seed: int) -> dict[int, int]:
    """Send mutilated requests, ending each connection's half; return how often each status came first."""
    draw = Random(seed)
    counted: dict[int, int] = defaultdict(int)
    for _ in range(count):
        with connect(url) as line:
            content = mutilated(draw, vault.root_token)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                line.sendall(content)
                line.shutdown(socket.SHUT_WR)
            status = first_status(line)
        assert status < 500, content
        counted[status] += 1
    with connect(url) as line:
        line.sendall(HEALTH)
        assert first_status(line) == 200
    return counted


def test_mutilated_requests_are_refused_and_nothing_hangs(url: str, vault: Vault) -> None:
    counted = speak_mutilated(vault, url, 300, seed=7)

    assert {200, 400} <= counted.keys()


def send_late_bytes(vault: Vault, url: str, count: int, seed: int) -> dict[int, int]:
    """Write with the last request of a connection, and send more a moment later; return how often each status came."""
    draw, counted = Random(seed), dict[int, int]()
    head = f"Host: localhost\r\nX-Vault-Token: {vault.root_token}\r\nConnection: close\r\nContent-Length: 16\r\n\r\n"
    for number in range(count):
        asking = f"POST /v1/secret/data/late-{number % 50} HTTP/1.1\r\n{head}".encode() + b'{"data":{"v":1}}'
        with connect(url) as line:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line.sendall(asking)
            sleep(draw.choice((0, 0, 0.0002, 0.0005, 0.001, 0.003)))
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                line.sendall(draw.choice((b"\r\n", HEALTH, b"\0" * 9, b"x" * 70_000)))
            status = first_status(line)
        counted[status] = counted.get(status, 0) + 1
    return counted


def test_late_bytes_take_no_answer_back(url: str, vault: Vault) -> None:
    assert send_late_bytes(vault, url, 400, seed=7) == {200: 400}


def send_the_worst(vault: Vault, url: str) -> dict[str, int]:
    """Send what takes longest, one after the other, while somebody else asks for health; return each status."""
    found = {}
    for what, request in worst_requests(vault.root_token).items():
        done = threading.Event()
        failed: list[int] = []

        def ask(done: threading.Event = done, failed: list[int] = failed) -> None:
            with connect(url) as line:
                while not done.is_set():
                    line.sendall(HEALTH)
                    status = first_status(line)
                    if status != 200:
                        failed.append(status)
                    sleep(0.01)

        other = threading.Thread(target=ask)
        other.start()
        with connect(url) as line:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                line.sendall(request)
            found[what] = first_status(line)
        done.set()
        other.join()
        assert failed == []
    return found


def test_the_worst_requests_are_refused_or_answered(url: str, vault: Vault) -> None:
    found = send_the_worst(vault, url)

    assert {status for what, status in found.items() if what.endswith("from nobody")} <= {400, 413}
    assert found["as many values as are taken, from a client"] == 200
    assert found["a large key"] == 200
    assert set(found.values()) <= {200, 400, 413}


def main() -> None:
    """Do it all by hand, and print what the memory of the process came to."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    vault = Vault.dev()
    with vault.serve() as url:
        for round_ in range(3):
            versions = write_from_many_threads(vault, url, 0, monotonic() + seconds / 3)
            print(f"{sum(map(len, versions.values()))} writes, none lost; {peak_mib():.0f} MiB")
            print(f"mutilated: {dict(speak_mutilated(vault, url, count // 3, round_))}; {peak_mib():.0f} MiB")
        print(f"late bytes: {send_late_bytes(vault, url, count, 7)}")
        print(f"the worst: {send_the_worst(vault, url)}; {peak_mib():.0f} MiB")
        hold_idle_connections(url)
        print(f"{CONNECTIONS} idle connections; {peak_mib():.0f} MiB")


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024


if __name__ == "__main__":
    main()
