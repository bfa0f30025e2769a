"""Bench: how long a health check waits while one client sends what takes a served vault longest.

    python tests/bench/bench_worst_requests.py [seconds]

The server has a process of its own.  For each kind of request one client sends it over and over, by default for ten
seconds, while another asks for health every 20 ms: the median of its waits is to be at most 100 ms, the longest 0.5 s.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from time import monotonic, sleep

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.doors.worst_requests import worst_requests

SECONDS, GOAL_MS, LONGEST_MS = 10.0, 100.0, 500.0
HEALTH = b"GET /v1/sys/health HTTP/1.1\r\nHost: localhost\r\n\r\n"


def serve() -> None:
    """Serve a vault until the process is ended."""
    from labkit import Vault

    vault = Vault.dev()
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


def main() -> None:
    """Print a row for each kind of request."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    with subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port, token = server.stdout.readline().split()
        try:
            for what, request in worst_requests(token).items():
                until_s = monotonic() + seconds
                with ThreadPoolExecutor(1) as senders:
                    sending = senders.submit(send, int(port), request, until_s)
                    waits = waits_ms(int(port), until_s)
                    answered = sending.result()
                is_good = median(waits) <= GOAL_MS and max(waits) <= LONGEST_MS
                said = f"{median(waits):6.1f} ms, at most {max(waits):6.1f} ms   {answered:6} answered"
                print(f"{what:50} {said}   {'' if is_good else 'OVER ITS GOAL'}", flush=True)
        finally:
            server.kill()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        main()
