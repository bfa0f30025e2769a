"""The served door: real sockets, threads of clients, and what no client should send."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import hvac
import pytest
import requests

from labkit import Lab, Vault
from labkit.doors.served_door import ServedDoor
from labkit.doors.server_thread import DoorSettings, NoServer


@pytest.fixture
def url(vault: Vault) -> Iterator[str]:
    """A vault behind a port."""
    with vault.serve() as address:
        yield address


def talk(url: str, content: bytes, end: bool = False) -> bytes:
    """Send bytes over a socket of one's own; return all that comes back until the other side closes, or waits."""
    host = urlsplit(url)
    with socket.create_connection((host.hostname, host.port), timeout=10) as line:
        line.sendall(content)
        if end:
            line.shutdown(socket.SHUT_WR)
        received = b""
        line.settimeout(0.3)
        with contextlib.suppress(TimeoutError, ConnectionResetError):
            while piece := line.recv(65_536):
                received += piece
    return received


def statuses(received: bytes) -> list[int]:
    """The statuses of answers that came one after the other."""
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", received)]


def test_clients_work_unchanged(vault: Vault, url: str) -> None:
    client = hvac.Client(url=url, token=vault.root_token)
    assert client.is_authenticated()
    assert client.secrets.kv.v2.create_or_update_secret("app", {"user": "ada"})["data"]["version"] == 1
    assert client.secrets.kv.v2.list_secrets("")["data"] == {"keys": ["app"]}
    answer = requests.get(f"{url}/v1/sys/health", timeout=10)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")
    assert "server" not in answer.headers
    assert requests.head(f"{url}/v1/sys/health", timeout=10).content == b""
    assert requests.get(url, timeout=10).headers["Content-Type"].startswith("text/html")
    client.adapter.close()


def test_threads_of_clients_lose_no_write(vault: Vault, url: str) -> None:
    versions: list[int] = []

    def write() -> None:
        with requests.Session() as session:
            session.headers["X-Vault-Token"] = vault.root_token
            for number in range(10):
                answer = session.post(f"{url}/v1/secret/data/shared", json={"data": {"n": number}}, timeout=30)
                versions.append(answer.json()["data"]["version"])

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(versions) == list(range(1, 81))


HOST = b"Host: localhost\r\n"
GET = b"GET /v1/sys/health HTTP/1.1\r\n" + HOST + b"\r\n"

HOSTILE = [
    (b"POST /v1/x HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400),
    (b"POST /v1/x HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n", 400),
    (b"POST /v1/x HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", None),
    (b"POST /v1/x HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    (b"POST /v1/x HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip\r\n\r\n", None),
    (b"GET /v1/x HTTP/1.1\r\n" + HOST + b"X-Vault-Token : x\r\n\r\n", 400),
    (b"GET /v1/x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    (b"GET /v1/x y HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    (b"GET /v1/x HTTP/9.9\r\n" + HOST + b"\r\n", None),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40) + b"\r\n\r\n", 400),
    (b"GET /v1/" + b"x" * 100_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    (b"GET /v1/x HTTP/1.1\r\n" + HOST + b"X-A: " + b"x" * 100_000 + b"\r\n\r\n", None),
]


@pytest.mark.parametrize(("content", "status"), HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.slow
def test_what_no_client_should_send_is_refused_and_the_next_is_served(url: str, content: bytes, status: int) -> None:
    received = statuses(talk(url, content))

    assert not received or received[0] >= 400
    assert status is None or received == [status]
    assert statuses(talk(url, GET)) == [200]


def test_requests_that_come_together_are_answered_in_order(vault: Vault, url: str) -> None:
    body = b'{"data": {"a": 1}}'
    write = b"POST /v1/secret/data/app HTTP/1.1\r\n" + HOST + b"X-Vault-Token: " + vault.root_token.encode() + b"\r\n"
    write += b"Content-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body

    assert statuses(talk(url, GET + write + write + GET)) == [200, 200, 200, 200]
    assert vault.get("secret/data/app").data["metadata"]["version"] == 2


def test_a_body_that_is_cut_short_changes_nothing(vault: Vault, url: str) -> None:
    head = b"POST /v1/secret/data/app HTTP/1.1\r\n" + HOST + b"X-Vault-Token: " + vault.root_token.encode() + b"\r\n"
    for rest in (b'Content-Length: 90\r\n\r\n{"data": {}}', b'Transfer-Encoding: chunked\r\n\r\nc\r\n{"data": {}}'):
        received = talk(url, head + rest, end=True)
        assert statuses(received) in ([], [400])
    assert vault.get("secret/data/app").status == 404


def test_one_that_sends_slowly_holds_up_nobody(url: str) -> None:
    host = urlsplit(url)
    slow = [socket.create_connection((host.hostname, host.port), timeout=10) for _ in range(50)]
    for line in slow:
        line.sendall(b"POST /v1/secret/data/app HTTP/1.1\r\n" + HOST + b"Content-Length: 100\r\n\r\n{")

    assert statuses(talk(url, GET)) == [200]
    for line in slow:
        line.close()


def test_a_body_over_the_limit_is_413(vault: Vault) -> None:
    with ServedDoor(vault, settings=DoorSettings(max_request_bytes=1_000)) as url:
        refused = requests.post(f"{url}/v1/secret/data/app", data=b"x" * 2_000, timeout=10)
        assert refused.status_code == 413
        assert json.loads(refused.text)["errors"][0].endswith("the limit is 1000 bytes")


def test_a_door_that_is_closed_is_closed(vault: Vault) -> None:
    door = vault.serve()
    url = door.open()
    assert repr(door) == f"ServedDoor({url})"
    door.close()

    assert repr(door) == "ServedDoor(closed)"
    with pytest.raises(requests.ConnectionError):
        requests.get(f"{url}/v1/sys/health", timeout=10)
    door.close()


def test_a_port_that_is_taken_is_named(vault: Vault, url: str) -> None:
    port = urlsplit(url).port
    assert port is not None
    with pytest.raises(NoServer, match=f"cannot listen on 127.0.0.1:{port}: Address already in use"):
        ServedDoor(vault, port).open()


def test_another_service_stands_behind_a_door_that_leads_to_it(vault: Vault, lab: Lab) -> None:
    other, door = Vault.dev(seed=8), ServedDoor(vault, settings=DoorSettings(control=True))
    vault.post("secret/data/app", {"data": {}})

    def status(token: str) -> int:
        answer = door.app.answer("GET", "/v1/secret/data/app", {"x-vault-token": token}, b"", "127.0.0.1")
        return answer.status if answer is not None else 0

    assert status(vault.root_token) == 200
    door.lead_to(other)
    assert (status(vault.root_token), status(other.root_token)) == (403, 404)
    assert door._controlled is not None
    assert door._controlled.vault is other
    door.lead_to(lab["paris"])
    assert status(lab["paris"].root_token) == 404
    assert door._controlled.vault is other, "a cluster is not controlled here"


def test_a_cluster_is_controlled_through_its_lab(vault: Vault, lab: Lab) -> None:
    with pytest.raises(ValueError, match=r"expected a vault; a cluster is controlled through lab\.serve"):
        ServedDoor(lab["paris"], settings=DoorSettings(control=True))
    plain, controlled = ServedDoor(vault), ServedDoor(vault, settings=DoorSettings(control=True))

    assert (plain.control, plain.app.beside) == (None, None)
    assert controlled.control is controlled.app.beside is not None
