"""The loop server: without descriptors it waits quietly, and what goes wrong is one line."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

import pytest
import requests

from labkit import Vault

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


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("chunked", [False, True], ids=["plain", "chunked"])
def test_a_server_whose_client_gave_up_stops_at_once(
    when: str, chunked: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    vault = Vault.dev(seed=7)
    with vault.serve() as url:
        vault.delay_next("60s", when=when)
        how: Any = {"data": iter([b"{}"])} if chunked else {"json": {}}
        with pytest.raises(requests.ReadTimeout):
            requests.post(f"{url}/v1/secret/data/app", **how, timeout=0.2)
        began = time.monotonic()

    assert time.monotonic() - began < 2
    assert [call.status for call in vault.calls] == [0 if when == "before" else 403]
    assert capfd.readouterr() == ("", "")


def test_a_server_that_stops_ends_what_waits_for_a_delay() -> None:
    vault = Vault.dev(seed=7)
    door = vault.serve()
    with socket.create_connection(("127.0.0.1", int(door.open().rpartition(":")[2])), timeout=10) as line:
        vault.delay_next("60s")
        line.sendall(HEALTH)
        while vault.aims:
            time.sleep(0.005)
        time.sleep(0.05)
        began = time.monotonic()
        door.close()
        assert time.monotonic() - began < 2
        with suppress(ConnectionResetError):
            assert line.recv(1) == b""
    assert [call.status for call in vault.calls] == [0]


def test_a_server_that_nobody_asks_stops_at_once() -> None:
    began = time.monotonic()
    for _ in range(5):
        with Vault.dev(seed=7).serve():
            pass
    assert time.monotonic() - began < 0.5  # with uvicorn's own looks a second


@pytest.mark.slow
def test_a_served_vault_that_is_asked_to_stop_waits_for_no_delay() -> None:
    command = [sys.executable, "-m", "labkit", "serve", "--port", "0", "--json", "--control"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as served:
        assert served.stdout is not None
        said = json.loads(served.stdout.readline())
        key = {"X-Labkit-Key": said["control"]["key"]}
        delay = {"duration": "60s", "when": "after"}
        requests.post(f"{said['control']['url']}/delay-next", json=delay, headers=key, timeout=10).raise_for_status()
        with pytest.raises(requests.ReadTimeout):
            requests.get(f"{said['url']}/v1/sys/health", timeout=0.5)
        began = time.monotonic()
        served.send_signal(signal.SIGTERM)
        _, written = served.communicate(timeout=30)

    assert time.monotonic() - began < 5
    assert served.returncode == 0
    assert "bug" not in written.decode()
