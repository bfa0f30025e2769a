"""Bench: what a request to a served vault costs, against an asyncio server that answers a constant.

    python tests/bench/bench_served.py [rounds]

Each server has a process of its own, and so have the clients: 32 threads, each on a connection that it keeps.  Both
servers are asked by turns, and the median of the rounds' ratios is printed.  Requests that are not plain
(``labkit/doors/plain_requests.py``) are read by h11: the second row has them.
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
from statistics import median
from time import perf_counter_ns, sleep

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

THREADS, REQUESTS, ROUNDS, GOAL = 32, 6_400, 9, 4.0
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


def us_a_request(port: str, token: str, extra: str = "") -> float:
    """Ask from all threads; return microseconds for each request."""
    head = f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Vault-Token: {token}\r\nX-Vault-Request: true\r\n"
    content = f"{head}Accept: */*\r\nConnection: keep-alive\r\n{extra}\r\n".encode()
    begin = threading.Barrier(THREADS + 1)

    def work() -> None:
        with socket.create_connection(("127.0.0.1", int(port))) as line:
            line.sendall(content)
            size = len(line.recv(65_536))
            begin.wait()
            for _ in range(REQUESTS // THREADS):
                line.sendall(content)
                left = size
                while left > 0:
                    left -= len(line.recv(65_536))

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    begin.wait()
    began_ns = perf_counter_ns()
    for thread in threads:
        thread.join()
    return (perf_counter_ns() - began_ns) / REQUESTS / 1_000


def main() -> None:
    """Print both rows."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with process("constant") as floor, process("vault") as ours:
        rows = [(us_a_request(*floor), us_a_request(*ours), us_a_request(*ours, "TE: x\r\n")) for _ in range(rounds)]
    for what, place in (("a plain read of a secret", 1), ("one that h11 reads", 2)):
        us, ratio = median(row[place] for row in rows), median(row[place] / row[0] for row in rows)
        said = f"goal {GOAL:.1f}×" if place == 1 else "no goal"
        print(f"{what:26} {us:7.1f} µs   {ratio:5.1f}× a constant answer   {said}")


if __name__ == "__main__":
    if sys.argv[1:] == ["constant"]:
        asyncio.run(serve_constant())
    elif sys.argv[1:] == ["vault"]:
        serve_vault()
    else:
        main()
