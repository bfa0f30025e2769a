"""The server's thread: sockets on several ports, and what cannot be opened."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from labkit import Vault
from labkit.doors.asgi import App
from labkit.doors.server_thread import STOP_S, DoorSettings, NoServer, ServerThread
from labkit.doors.tls_files import TlsFiles
from labkit.service.limits import MAX_REQUEST_BYTES


def test_one_application_answers_on_several_ports(vault: Vault) -> None:
    thread = ServerThread(App(vault), DoorSettings())
    opened = thread.open([0, 0])

    assert len({port for port, _ in opened}) == 2
    for port, url in opened:
        assert urlsplit(url).port == port
        assert requests.get(f"{url}/v1/sys/health", timeout=10).status_code == 200
    thread.close()
    thread.close()
    for _, url in opened:
        with pytest.raises(requests.ConnectionError):
            requests.get(f"{url}/v1/sys/health", timeout=10)


def test_when_one_port_is_taken_none_is_opened(vault: Vault) -> None:
    with socket.socket() as other, socket.socket() as free:
        other.bind(("127.0.0.1", 0))
        other.listen()
        free.bind(("127.0.0.1", 0))
        taken, port = other.getsockname()[1], free.getsockname()[1]
        free.close()
        with pytest.raises(NoServer, match=f"cannot listen on 127.0.0.1:{taken}: Address already in use"):
            ServerThread(App(vault), DoorSettings()).open([port, taken])
    with socket.socket() as again:
        again.bind(("127.0.0.1", port))


def test_tls_files_that_cannot_be_used_are_named_and_leave_the_port_free(vault: Vault, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for path in (tmp_path / "missing.pem", broken):
        thread = ServerThread(App(vault), DoorSettings(tls=TlsFiles(str(path), str(path), "")))
        with pytest.raises(NoServer, match=rf"expected a certificate and its key in PEM, got {path} and {path}: \S+"):
            thread.open([port])
        thread.close()
        with socket.socket() as again:
            again.bind(("127.0.0.1", port))


async def refusing(scope: object, receive: object, send: object) -> None:
    """An application that does not start."""
    raise ValueError("not today")


@pytest.mark.filterwarnings("ignore:Exception in thread labkit door")  # uvicorn ends its thread with SystemExit
def test_a_server_that_does_not_start_leaves_its_port_free() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    thread = ServerThread(refusing, DoorSettings(), lifespan=True)
    with pytest.raises(NoServer, match="the server ended before it answered"):
        thread.open([port])
    with socket.socket() as again:
        again.bind(("127.0.0.1", port))
    thread.close()


def test_who_asks_is_the_other_end_whatever_a_header_says(vault: Vault, capfd: pytest.CaptureFixture[str]) -> None:
    vault.post("auth/token/roles/bound", {"token_bound_cidrs": ["192.0.2.7"]})
    token = vault.post("auth/token/create/bound", {"policies": ["default"]}).auth["client_token"]
    thread = ServerThread(App(vault), DoorSettings())
    ((_, url),) = thread.open([0])
    headers = {"X-Vault-Token": token, "X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}
    # a body in chunks is read by the server library
    answer = requests.post(f"{url}/v1/auth/token/renew-self", data=iter([b"{}"]), headers=headers, timeout=10)
    thread.close()

    assert answer.status_code == 403
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("lifespan", [True, False])
def test_the_server_library_reads_and_answers_and_does_nothing_else(vault: Vault, lifespan: bool) -> None:
    config = ServerThread(App(vault), DoorSettings(), lifespan=lifespan)._config()

    assert config.lifespan == ("on" if lifespan else "off")
    assert (config.access_log, config.server_header, config.proxy_headers, config.ws) == (False, False, False, "none")
    assert (config.timeout_graceful_shutdown, config.log_level) == (STOP_S, "critical")
    assert (config.ssl_certfile, config.ssl_keyfile, config.is_ssl) == (None, None, False)
    assert config.loaded


def test_unless_it_is_said_a_door_is_on_loopback_without_tls_log_and_control() -> None:
    settings = DoorSettings()

    assert (settings.host, settings.tls, settings.log) == ("127.0.0.1", None, None)
    assert (settings.control, settings.cloud_port, settings.max_request_bytes) == (False, 0, MAX_REQUEST_BYTES)
    assert settings.opened() is None


FORKED = """
import os, socket
from labkit import Vault

door = Vault.dev().serve()
port = int(door.open().rpartition(":")[2])
line = socket.create_connection(("127.0.0.1", port), timeout=10)
asked = b"GET /v1/sys/health HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n"
line.sendall(asked)
line.recv(65_536)
read, write = os.pipe()
child = os.fork()
if child == 0:
    os.read(read, 1)
    door.close()
    os._exit(0)
line.sendall(asked)
said = [line.recv(12)]
line.recv(65_536)
door.close()
said.append(line.recv(1))
again = Vault.dev().serve(port)
again.open()
os.write(write, b"x")
ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
line = socket.create_connection(("127.0.0.1", port), timeout=10)
line.sendall(asked)
print(*said, ended, line.recv(12))
again.close()
"""


@pytest.mark.slow
def test_a_forked_process_keeps_neither_port_nor_connection_open() -> None:
    program = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=60)

    assert (done.stdout, done.stderr) == ("b'HTTP/1.1 200' b'' 0 b'HTTP/1.1 200'\n", "")


def test_a_browser_is_refused_with_what_to_do(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    with pytest.raises(
        NoServer, match=r"a Python in a browser can listen on no port: .* serve it where labkit is inst"
    ):
        vault.serve().open()
