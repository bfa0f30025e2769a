"""How much work the usual requests do, counted: calls of labkit's own functions, values stored, values encrypted.

A count may fall, and is written down then; it rises only with a line beside it that says why.  Each is of a request
that came before, as most do: what is found, decoded and decided for it is remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest

from labkit import Vault
from labkit.vault.storage.barrier import Barrier
from labkit.vault.storage.memory import MemoryStorage
from tests.counting import own_calls_made

SECRET = {"data": {"password": "x" * 100, "user": "ada", "url": "postgres://db-1.example.org:5432/orders"}}
PLAINTEXT = {"plaintext": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}
MEGABYTE = 1_000_000


class Work(NamedTuple):
    """What a request does: calls, keys written and deleted in the store, values encrypted and decrypted."""

    calls: int
    written: int = 0
    deleted: int = 0
    encrypted: int = 0
    decrypted: int = 0


WRITTEN_DOWN = {
    "KV write": Work(54, written=2, deleted=1, encrypted=2),
    "KV read": Work(34, decrypted=1),
    "KV metadata read": Work(66),
    "KV list": Work(22),
    "KV delete and undelete": Work(121, written=2, encrypted=2),  # a record's _replace is our own: less work, counted
    "transit encrypt": Work(29),
    "transit encrypt, audited": Work(72),
    "token create": Work(66, written=1, encrypted=1),
    "token lookup": Work(19),
    "login": Work(253, written=1, encrypted=1),  # the cloud asks whether its process was forked; calls keep a long body
}


def prepared(what: str, password: str = "x" * 100) -> Callable[[], Any]:
    """Return a request to a vault of its own: a secret there has its ten versions, and each write prunes one."""
    vault = Vault.dev(seed=7)
    if what == "login":
        machine = vault.cloud.vm("web-1")
        vault.post("auth/cloud/role/web", {"bound_service_principal_ids": machine.principal_id})
        place = {"subscription_id": machine.subscription_id, "resource_group_name": machine.resource_group}
        sent = {"role": "web", "jwt": machine.token(), "vm_name": machine.name, **place}
        return partial(vault.request, "POST", "/v1/auth/cloud/login", json=sent)
    if what.endswith("audited"):
        vault.put("sys/audit/file", {"type": "file", "options": {"file_path": "/audit.log"}})
    for _ in range(11):
        vault.post("secret/data/app", {"data": {**SECRET["data"], "password": password}})
    vault.post("transit/keys/plain")
    ask, newest = partial(vault.request, headers={"X-Vault-Token": vault.root_token}), {"versions": [11]}
    asked: dict[str, Callable[[], Any]] = {
        "KV write": lambda: ask("POST", "/v1/secret/data/app", json=SECRET),
        "KV read": lambda: ask("GET", "/v1/secret/data/app"),
        "KV metadata read": lambda: ask("GET", "/v1/secret/metadata/app"),
        "KV list": lambda: ask("LIST", "/v1/secret/metadata"),
        "KV delete and undelete": lambda: [
            ask("PUT", f"/v1/secret/{verb}/app", json=newest) for verb in ("delete", "undelete")
        ],
        "token create": lambda: ask("POST", "/v1/auth/token/create", json={"policies": ["default"], "ttl": "1h"}),
        "token lookup": lambda: ask("GET", "/v1/auth/token/lookup-self"),
        "transit encrypt": lambda: ask("POST", "/v1/transit/encrypt/plain", json=PLAINTEXT),
    }
    return asked[what.partition(",")[0]]


def work_of(ask: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> Work:
    """Make a request twice, then count its calls, then what they do to the store."""
    for _ in range(2):
        assert ask()
    calls = own_calls_made(ask)
    counts = {"written": 0, "deleted": 0, "encrypted": 0, "decrypted": 0}
    apply, encrypt, decrypt = MemoryStorage.apply, Barrier.encrypt_under, Barrier.decrypt
    encrypt_labelled = Barrier.encrypt_labelled

    def counted_apply(store: MemoryStorage, writes: Any, *rest: Any) -> None:
        deleted = list(writes.values()).count(None)
        counts["written"] += len(writes) - deleted
        counts["deleted"] += deleted
        apply(store, writes, *rest)

    def counted_encrypt(barrier: Barrier, *given: Any) -> bytes:
        counts["encrypted"] += 1
        return encrypt(barrier, *given)

    def counted_encrypt_labelled(barrier: Barrier, *given: Any) -> bytes:
        counts["encrypted"] += 1
        return encrypt_labelled(barrier, *given)

    def counted_decrypt(barrier: Barrier, *given: Any) -> bytes:
        counts["decrypted"] += 1
        return decrypt(barrier, *given)

    with monkeypatch.context() as patch:
        patch.setattr(MemoryStorage, "apply", counted_apply)
        patch.setattr(Barrier, "encrypt_under", counted_encrypt)
        patch.setattr(Barrier, "encrypt_labelled", counted_encrypt_labelled)
        patch.setattr(Barrier, "decrypt", counted_decrypt)
        ask()
    return Work(calls, **counts)


@pytest.mark.parametrize("what", WRITTEN_DOWN)
def test_a_request_does_no_more_work_than_is_written_down(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = work_of(prepared(what), monkeypatch)

    assert all(have <= may for have, may in zip(found, WRITTEN_DOWN[what], strict=True)), found


@pytest.mark.parametrize("what", ["KV metadata read", "KV list", "KV delete and undelete"])
def test_what_touches_no_data_does_the_same_with_versions_of_a_megabyte(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = (work_of(prepared(what, "x" * size), monkeypatch) for size in (1, MEGABYTE))

    assert large == small
    assert large.decrypted == 0
