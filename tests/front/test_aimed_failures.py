"""Aimed failures: which requests they meet, what happens to these, and what cannot be asked for."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
import hvac
import pytest
import requests

from labkit import Vault
from labkit.doors.httpx import Transport
from labkit.doors.hvac import Adapter
from labkit.doors.requests import Adapter as SessionAdapter
from labkit.service.silence import Dropped, Silence

USUAL = [200, 200, 404, 200]
SECOND_NS = 1_000_000_000


@pytest.fixture
def vault() -> Vault:
    vault = Vault.dev(seed=7)
    vault.post("secret/data/app", {"data": {"user": "ada"}})
    vault.calls.clear()
    return vault


@pytest.mark.parametrize(
    ("path", "method", "statuses"),
    [
        ("*", None, [503, 503, 503, 503]),
        ("secret/data/*", None, [503, 503, 503, 200]),
        ("secret/data/*", "GET", [503, 200, 503, 200]),
        ("/v1/secret/data/app", "POST", [200, 503, 200, 200]),
        ("*app", "GET", [503, 200, 200, 200]),
        ("secret/data/a", None, [200, 200, 404, 200]),
        ("sys/health", "GET", [200, 200, 404, 503]),
        ("secret*none", None, [200, 200, 503, 200]),
    ],
)
def test_only_what_is_aimed_at_fails(vault: Vault, path: str, method: str | None, statuses: list[int]) -> None:
    vault.fail_next(503, 4, path=path, method=method)
    got = [
        vault.get("secret/data/app").status,
        vault.post("secret/data/app", {"data": {}}).status,
        vault.get("/v1/secret//data/none?version=1").status,
        vault.request("GET", "/v1/sys/health").status,
    ]

    assert got == [status if status == 503 else other for status, other in zip(statuses, USUAL, strict=True)]
    left = 4 - statuses.count(503)
    assert [aim.times for aim in vault.aims] == [left] * (left > 0)
    assert [call.status for call in vault.calls] == got


def test_a_pattern_has_one_sign_and_a_namespace(vault: Vault) -> None:
    vault.post("sys/namespaces/team")
    vault.fail_next(503, path="team/sys/mounts")
    vault.fail_next(418, path="a.c[1]")

    assert vault.get("sys/mounts").ok
    assert vault.get("abc1").status == 404
    assert vault.get("sys/mounts", namespace="team").status == 503
    assert vault.get("a.c%5B1%5D").status == 418
    assert vault.aims == ()


def test_the_oldest_that_matches_is_taken_one_a_request(vault: Vault) -> None:
    vault.fail_next(503, path="secret/*")
    vault.fail_next(429)
    vault.delay_next("2s")
    before = vault.now()

    assert [vault.get("secret/data/app").status for _ in range(4)] == [503, 429, 200, 200]
    assert vault.now() == before + 2 * SECOND_NS


def test_a_delay_moves_the_clock_and_what_falls_due_meanwhile_is_done(vault: Vault) -> None:
    token = vault.post("auth/token/create", {"ttl": "1m"}).auth["client_token"]
    vault.delay_next("2m", path="auth/token/lookup-self")

    assert vault.get("auth/token/lookup-self", token=token).status == 403


@pytest.mark.parametrize(("when", "version"), [("before", 1), ("after", 2)])
def test_what_is_dropped_has_happened_or_not(vault: Vault, when: str, version: int) -> None:
    vault.drop_next(when=when, path="secret/data/app", method="POST")
    with pytest.raises(Dropped, match="POST secret/data/app: the connection ended without an answer") as caught:
        vault.request("POST", "secret/data/app?x=1", {"data": {"user": "bob"}}, {"X-Vault-Token": vault.root_token})

    assert isinstance(caught.value, Silence)
    assert vault.get("secret/data/app").data["metadata"]["version"] == version
    assert [call.method for call in vault.calls] == ["POST", "GET"][2 - version :]


def test_a_dropped_request_is_met_by_one_aim_only(vault: Vault) -> None:
    vault.drop_next(2, when="after")
    for left in (1, 0):
        with pytest.raises(Dropped):
            vault.get("sys/health")
        assert [aim.times for aim in vault.aims] == [left] * (left > 0)
    assert vault.get("sys/health").ok


def test_each_library_has_its_own_error(vault: Vault) -> None:
    session = requests.Session()
    session.mount("http://labkit", SessionAdapter(vault))
    vault.drop_next(3)

    with pytest.raises(requests.ConnectionError, match="GET"):
        session.get("http://labkit/v1/sys/health")
    with pytest.raises(requests.ConnectionError, match="without an answer"):
        hvac.Client(adapter=Adapter(vault)).sys.read_health_status()
    with pytest.raises(httpx.RemoteProtocolError), httpx.Client(transport=Transport(vault)) as client:
        client.get("http://labkit/v1/sys/health")
    assert session.get("http://labkit/v1/sys/health").status_code == 200


Ask = Callable[[str, Vault], requests.Response]


def sent(vault: Vault) -> dict[str, Any]:
    return {"headers": {"X-Vault-Token": vault.root_token}, "timeout": 9}


ASKED: dict[str, Ask] = {
    "plain": lambda url, vault: requests.get(f"{url}/v1/secret/data/app", **sent(vault)),
    "head": lambda url, vault: requests.head(f"{url}/v1/secret/data/app", **sent(vault)),
    "chunked": lambda url, vault: requests.post(
        f"{url}/v1/secret/data/app", iter([b'{"data":', b"{}}"]), **sent(vault)
    ),
    "large": lambda url, vault: requests.post(
        f"{url}/v1/secret/data/app", json={"data": {"a": "x" * 100_000}}, **sent(vault)
    ),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.slow
def test_a_door_ends_the_connection(vault: Vault, ask: Ask, when: str) -> None:
    with vault.serve() as url:
        vault.drop_next(2, when=when)
        for _ in range(2):
            with pytest.raises(requests.ConnectionError, match="without response"):
                ask(url, vault)
        assert len(vault.calls) == (2 if when == "after" else 0)
        assert ask(url, vault).status_code < 300


def test_a_connection_that_is_dropped_takes_what_was_sent_behind_with_it(vault: Vault) -> None:
    with vault.serve() as url:
        vault.drop_next()
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=9)
        connection.connect()
        assert connection.sock is not None
        connection.sock.sendall(b"GET /v1/sys/health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2)

        try:
            assert connection.sock.recv(1_000) == b""
        except ConnectionResetError:
            pass  # the same, where the system had more to hand on
        finally:
            connection.close()


@pytest.mark.slow
def test_a_door_waits_beside_the_others(vault: Vault) -> None:
    answered: list[str] = []

    def ask(url: str, path: str) -> None:
        assert requests.get(f"{url}/v1/sys/{path}", timeout=9).status_code == 200
        answered.append(path)

    with vault.serve() as url:
        before = vault.now()
        vault.delay_next("0.4s", path="sys/health")
        slow = threading.Thread(target=ask, args=(url, "health"))
        slow.start()
        while vault.aims:
            time.sleep(0.005)
        ask(url, "leader")
        slow.join()

    assert answered == ["leader", "health"]
    assert vault.now() == before  # its clock is moved in process only


def test_a_door_fails_as_the_vault_does(vault: Vault) -> None:
    with vault.serve() as url:
        vault.fail_next(429, path="sys/health")
        got = [requests.get(f"{url}/v1/sys/{path}", timeout=9) for path in ("leader", "health", "health")]

    assert [answer.status_code for answer in got] == [200, 429, 200]
    assert got[1].json() == {"errors": ["failure asked for with fail_next"]}
