"""The loop server: without descriptors it waits quietly, and what goes wrong is one line."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time

import pytest

SERVED = """
import resource, sys
from labkit import Vault
resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
vault = Vault.dev()
with vault.serve() as url:
    print(url.rpartition(":")[2], flush=True)
    sys.stdin.read()
"""
HEALTH = b"GET /v1/sys/health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.slow
def test_without_descriptors_accepting_stops_and_goes_on_when_there_are_some() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as served:
        assert served.stdout is not None
        assert served.stderr is not None
        port = int(served.stdout.readline())
        idle = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(100)]
        time.sleep(2.5)  # in which it is tried again twice
        for line in idle:
            line.close()
        with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
            line.sendall(HEALTH)
            assert line.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")
        _, said = served.communicate(timeout=30)
    assert said.decode().splitlines() == ["no connection can be accepted for now: Too many open files"]


@pytest.mark.slow
def test_a_server_that_is_asked_to_stop_does_not_wait_for_half_a_body() -> None:
    command = [sys.executable, "-m", "labkit", "serve", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as served:
        assert served.stdout is not None
        port = int(json.loads(served.stdout.readline())["url"].rpartition(":")[2])
        lines = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(3)]
        for line, framing in zip(
            lines, (b"Content-Length: 9\r\n\r\n1", b"Transfer-Encoding: chunked\r\n\r\n", b"X-"), strict=True
        ):
            line.sendall(b"POST /v1/a HTTP/1.1\r\nHost: localhost\r\n" + framing)
        time.sleep(0.3)
        began = time.monotonic()
        served.send_signal(signal.SIGTERM)
        served.wait(timeout=30)
        assert time.monotonic() - began < 5
        for line in lines:
            line.close()
