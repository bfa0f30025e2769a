"""Bench: how long a health check waits while one client sends what takes a served vault longest.

    python tests/bench/bench_worst_requests.py [seconds] [part of a row's name]

The server has a process of its own.  For each kind of request one client sends it over and over, by default for ten
seconds, while another asks for health every 20 ms: the median of its waits is to be at most 100 ms, the longest 0.5 s.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, sleep

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.doors.worst_requests import worst_requests

SECONDS, GOAL_MS, LONGEST_MS = 10.0, 100.0, 500.0
HEALTH = b"GET /v1/sys/health HTTP/1.1\r\nHost: localhost\r\n\r\n"


OLD = 20
"""How many large values are in a file that is opened."""


def serve(file: str = "") -> None:
    """Serve a vault until the process is ended: one in memory, or that of a file, which is filled at first."""
    from labkit import Vault

    if file:
        vault = Vault.open(file)
        for number in range(OLD):
            vault.post(f"secret/data/old-{number}", {"data": {str(n): "<" * 9_000 for n in range(2_500)}})
        vault.close()
    vault = Vault.open(file) if file else Vault.dev()
    with vault.serve() as url:
        print(url.rpartition(":")[2], vault.root_token, flush=True)
        sleep(3_600)


def send(port: int, request: bytes, until_s: float) -> int:
    """Send a request over and over, each on a connection of its own; return how many were answered."""
    answered = 0
    while monotonic() < until_s:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
            try:
                line.sendall(request.replace(b"/NUMBER", b"/%d" % int(monotonic() * 1e6)))
                answered += line.recv(65_536).startswith(b"HTTP/1.1 ")
            except ConnectionError:  # the rest was not read
                answered += 1
    return answered


def waits_ms(port: int, until_s: float) -> list[float]:
    """Ask for health until a time; return how long each check waited."""
    found = []
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        while monotonic() < until_s:
            began_s = monotonic()
            line.sendall(HEALTH)
            assert line.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")
            found.append((monotonic() - began_s) * 1_000)
            sleep(0.02)
    return found


def read_old(port: int, token: str) -> int:
    """Read each large value of a file once; return how many were answered."""
    requests = [
        f"GET /v1/secret/data/old-{number} HTTP/1.1\r\nHost: localhost\r\nX-Vault-Token: {token}\r\n\r\n".encode()
        for number in range(OLD)
    ]
    answered = 0
    for request in requests:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
            line.sendall(request)
            answered += line.recv(65_536).startswith(b"HTTP/1.1 200 ")
    return answered


def measure(what: str, port: int, work: Callable[[], int], until_s: float) -> None:
    """Print a row: how long health waits until some time while work is done."""
    with ThreadPoolExecutor(1) as senders:
        sending = senders.submit(work)
        waits = waits_ms(port, until_s)
        answered = sending.result()
    is_good = median(waits) <= GOAL_MS and max(waits) <= LONGEST_MS
    said = f"{median(waits):6.1f} ms, at most {max(waits):6.1f} ms   {answered:6} answered"
    print(f"{what:50} {said}   {'' if is_good else 'OVER ITS GOAL'}", flush=True)


@contextmanager
def served(*file: str) -> Iterator[tuple[int, str]]:
    """Serve in a process of its own; give its port, and the token that may do all."""
    with subprocess.Popen([sys.executable, __file__, "serve", *file], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port, token = server.stdout.readline().split()
        try:
            yield int(port), token
        finally:
            server.kill()


def main() -> None:
    """Print a row for each kind of request; of those only whose names have a text, where one is given."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    text = sys.argv[2] if len(sys.argv) > 2 else ""
    with served() as (port, token):
        for what, request in worst_requests(token).items():
            if text in what:
                until_s = monotonic() + seconds
                measure(what, port, partial(send, port, request, until_s), until_s)
    old = "first reads of old large values"
    if text in old:
        with TemporaryDirectory() as folder, served(f"{folder}/lab.db") as (port, token):
            measure(old, port, partial(read_old, port, token), monotonic() + seconds)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(*sys.argv[2:])
    else:
        main()
