"""Requests that wait: others are let in while a password is hashed, and not while anything else is fetched."""

from __future__ import annotations

from _thread import RLock
from threading import Thread

import pytest

from labkit import Vault
from labkit.front.waiting_requests import finish
from labkit.service.message import Fetch, Request, Response, Suspended
from labkit.vault import password_hashing


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
        assert finish(vault, vault._lock, fetch, outcome).status == 200
        assert vault.resolved is route
        assert not lets_in(vault._lock)
    assert seen
    assert set(seen) == {kind == "password"}
