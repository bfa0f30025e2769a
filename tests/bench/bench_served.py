"""Bench: what a request to a served vault costs, against an asyncio server that answers a constant.

    python tests/bench/bench_served.py [rounds]

Each server has a process of its own, and so have the clients: 32 threads, each with a connection to each server that it
keeps.  The servers are asked by turns, 1,600 requests at a time, each turn of ours between two of the other's;
the median of the turns' ratios is printed, and the quarters around it.  Requests that are not plain
(``labkit/doors/connections/plain_requests.py``) are read by h11: the second row has them.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter_ns, sleep

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

THREADS, REQUESTS, ROUNDS, GOAL = 32, 1_600, 31, 4.0
CONSTANT = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 300\r\n\r\n" + b"x" * 300
PATH = "/v1/secret/data/app"


class Constant(asyncio.Protocol):
    """Answers whatever comes with the same bytes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer."""
        self.transport.write(CONSTANT)


async def serve_constant() -> None:
    """Serve the floor until the process is ended."""
    server = await asyncio.get_running_loop().create_server(Constant, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], "none", flush=True)
    await server.serve_forever()


def serve_vault() -> None:
    """Serve a vault until the process is ended."""
    from labkit import Vault

    vault = Vault.dev()
    vault.post("secret/data/app", {"data": {"user": "ada", "password": "x" * 50}})
    with vault.serve() as url:
        print(url.rpartition(":")[2], vault.root_token, flush=True)
        sleep(3_600)


@contextmanager
def process(what: str) -> Iterator[tuple[str, str]]:
    """A server in a process of its own: its port and a token."""
    with subprocess.Popen([sys.executable, __file__, what], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        port, token = running.stdout.readline().split()
        try:
            yield port, token
        finally:
            running.kill()


class Lines:
    """Connections to one server, one for each thread, and the request that is sent on them."""

    def __init__(self, port: str, token: str, extra: str = "") -> None:
        head = f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Vault-Token: {token}\r\nX-Vault-Request: true\r\n"
        self.content = f"{head}Accept: */*\r\nConnection: keep-alive\r\n{extra}\r\n".encode()
        address = ("127.0.0.1", int(port))
        with socket.create_connection(address) as first:
            first.sendall(self.content)
            self.size = len(first.recv(65_536))
        # once a connection was closed asyncio receives in half the time: its allocator keeps the memory from then on
        self.lines = [socket.create_connection(address) for _ in range(THREADS)]

    def ask(self, number: int, count: int) -> None:
        """Ask on one connection so many times, one after the other."""
        line, content = self.lines[number], self.content
        for _ in range(count):
            line.sendall(content)
            left = self.size
            while left > 0:
                left -= len(line.recv(65_536))

    def us_a_request(self) -> float:
        """Ask from all threads; return microseconds for each request."""
        begin = threading.Barrier(THREADS + 1)

        def work(number: int) -> None:
            begin.wait()
            self.ask(number, REQUESTS // THREADS)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        begin.wait()
        began_ns = perf_counter_ns()
        for thread in threads:
            thread.join()
        return (perf_counter_ns() - began_ns) / REQUESTS / 1_000


def ratios(floor: Lines, ours: Lines, rounds: int) -> tuple[list[float], list[float]]:
    """Return our times, and each divided by the mean of the floor's times before and after it."""
    times, found, before = [], [], floor.us_a_request()
    for _ in range(rounds):
        times.append(ours.us_a_request())
        after = floor.us_a_request()
        found.append(times[-1] / ((before + after) / 2))
        before = after
    return times, found


def main() -> None:
    """Print both rows."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with process("constant") as constant, process("vault") as vault:
        floor = Lines(*constant)
        for what, extra, count, goal in (
            ("a plain read of a secret", "", rounds, f"goal {GOAL:.1f}×"),
            ("one that h11 reads", "TE: x\r\n", max(rounds // 3, 2), "no goal"),
        ):
            times, found = ratios(floor, Lines(*vault, extra), count)
            low, _, high = quantiles(found, n=4)
            said = f"{median(found):5.1f}× a constant answer ({low:.1f} to {high:.1f})"
            print(f"{what:26} {median(times):7.1f} µs   {said}   {goal}")


if __name__ == "__main__":
    if sys.argv[1:] == ["constant"]:
        asyncio.run(serve_constant())
    elif sys.argv[1:] == ["vault"]:
        serve_vault()
    else:
        main()
