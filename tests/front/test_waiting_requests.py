"""Requests that wait: others are let in while a password is hashed, and the clock moves while anything is fetched."""

from __future__ import annotations

from _thread import RLock
from threading import Thread

import pytest

from labkit import Vault
from labkit.front.waiting_requests import ClientTimeout, finish
from labkit.service.durations import parse_duration
from labkit.service.message import Fetch, Request, Response, Suspended, respond
from labkit.service.silence import Silence
from labkit.vault import password_hashing

KEYS = Fetch("https://login.cloud.test", Request("GET", "/common/discovery/keys"))


def lets_in(lock: RLock) -> bool:
    """Whether another thread is let in now."""
    found: list[bool] = []

    def look() -> None:
        found.append(lock.acquire(blocking=False))
        if found[0]:
            lock.release()

    other = Thread(target=look)
    other.start()
    other.join()
    return found[0]


@pytest.mark.parametrize("kind", ["password", "cloud"])
def test_who_is_let_in_meanwhile(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = Vault.dev(seed=2)
    vault.post("sys/auth/userpass", {"type": "userpass"})
    vault.post("auth/userpass/users/ada", {"password": "right"})
    vm = vault.cloud.vm("web-1")
    vault.post("auth/cloud/role/web", {"bound_locations": [vm.location]})
    place = {"subscription_id": vm.subscription_id, "resource_group_name": vm.resource_group, "vm_name": "web-1"}
    asked = {
        "password": Request("POST", "auth/userpass/login/ada", {}, {"password": "right"}),
        "cloud": Request("POST", "auth/cloud/login", {}, {"role": "web", "jwt": vm.token(), **place}),
    }
    seen: list[bool] = []
    hashed = password_hashing.answer

    def answer(fetch: Fetch) -> Response:
        seen.append(lets_in(vault._lock))
        return hashed(fetch)

    def fetch(fetched: Fetch) -> Response:
        seen.append(lets_in(vault._lock))
        return vault._fetch(fetched)

    monkeypatch.setattr(password_hashing, "answer", answer)
    with vault._lock:
        outcome = vault.handle(asked[kind])
        assert isinstance(outcome, Suspended)
        route = vault.resolved
        assert finish(vault, vault._lock, fetch, outcome, ClientTimeout(vault.environment.now, None)).status == 200
        assert vault.resolved is route
        assert not lets_in(vault._lock)
    assert seen
    assert set(seen) == {kind == "password"}


@pytest.fixture
def vault() -> Vault:
    """A vault with a role for web-1, whose clock only waiting moves."""
    vault = Vault.dev(seed=3)
    vault.post("auth/cloud/role/web", {"bound_locations": [vault.cloud.vm("web-1").location]})
    return vault


def login(vault: Vault, timeout: str | None = None) -> Response:
    vm = vault.cloud.vm("web-1")
    place = {"subscription_id": vm.subscription_id, "resource_group_name": vm.resource_group, "vm_name": "web-1"}
    body = {"role": "web", "jwt": vm.token(), **place}
    return vault.request("POST", "auth/cloud/login?x=1", body, timeout=timeout)


@pytest.mark.parametrize("delay", ["9s", "200ms"])
def test_a_slow_cloud_moves_the_clock(vault: Vault, delay: str) -> None:
    began_ns = vault.environment.now()
    vault.cloud.slow(delay, "compute")

    assert login(vault).ok
    assert vault.environment.now() - began_ns == parse_duration(delay)
    vault.cloud.restore()
    assert login(vault, timeout="1ms").ok


@pytest.mark.parametrize("endpoint", ["compute", "keys", "token"])
@pytest.mark.parametrize("delay", ["2s", "20s"])
@pytest.mark.parametrize("timeout", ["500ms", "12s"])
def test_the_clock_moves_no_further_than_a_client_waits(vault: Vault, endpoint: str, delay: str, timeout: str) -> None:
    began_ns = vault.environment.now()
    vault.cloud.slow(delay, endpoint)
    if (delay, timeout) == ("2s", "12s"):
        assert login(vault, timeout).ok
        return
    said = f"POST auth/cloud/login: no answer within {timeout}, as it waited for the cloud"
    with pytest.raises(Silence, match=said):
        login(vault, timeout)

    assert vault.environment.now() - began_ns == parse_duration(timeout)
    assert [call.status for call in vault.calls][-1:] == [503]
    vault.cloud.restore()
    assert login(vault).ok


def test_who_has_given_up_leaves_nothing_that_waits(vault: Vault) -> None:
    began_ns = vault.environment.now()
    vault.cloud.outage("keys")
    with pytest.raises(Silence):
        login(vault, "100ms")

    assert vault.environment.now() - began_ns == parse_duration("100ms")
    assert vault.core.caches.generators == {}


def test_without_a_timeout_all_retries_are_made(vault: Vault) -> None:
    began_ns = vault.environment.now()
    vault.cloud.slow("20s", "keys")

    assert login(vault).status == 503
    assert vault.environment.now() - began_ns > parse_duration("40s")


def test_a_clock_that_is_not_the_vaults_is_not_moved() -> None:
    client_timeout = ClientTimeout(lambda: 5, "1s")

    assert client_timeout.fetch(lambda asked: respond(204), KEYS._replace(not_before_ns=10**18)).status == 204
    client_timeout.check("GET app")
