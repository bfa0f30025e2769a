"""Caches: what is dropped when the node seals, and what never shows a token."""

from __future__ import annotations

from labkit.vault.caches import Caches, Clearances
from labkit.vault.storage.storage_view import CachedRecords


def test_sealing_drops_everything(service) -> None:
    token = service.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]
    service.post("transit/keys/a", {})
    for _ in range(2):
        service.get("auth/token/lookup-self", token=token)
    caches = service.core.caches
    caches.generators[1], caches.leases, caches.tokens = object(), object(), object()
    caches.apart["uuid"] = caches.by_mount["uuid"] = ("logical/uuid/", CachedRecords())
    assert {name for name in Caches.__slots__ if getattr(caches, name) in ({}, None, -1)} == set()

    service.post("sys/seal")

    assert {name for name in Caches.__slots__ if getattr(caches, name) not in ({}, None, -1)} == set()


def test_what_is_deleted_leaves_memory(service) -> None:
    service.put("sys/policies/acl/p", {"policy": 'path "transit/*" { capabilities = ["update"] }'})
    service.post("transit/cache-config", {"size": 10})
    service.put("sys/plugins/reload/backend", {"mounts": "transit"})

    def come_and_go(name: str) -> None:
        token = service.post("auth/token/create", {"policies": ["p"]}).auth["client_token"]
        assert service.post(f"transit/encrypt/{name}", {"plaintext": "aGk="}, token=token).status == 403
        service.post(f"transit/encrypt/{name}", {"plaintext": "aGk="})
        service.post(f"transit/keys/{name}/config", {"deletion_allowed": True})
        service.post(f"secret/data/{name}", {"data": {}})
        service.get(f"secret/data/{name}")
        assert service.delete(f"transit/keys/{name}").status == 204
        assert service.delete(f"secret/metadata/{name}").status == 204
        assert service.post("auth/token/revoke", {"token": token}).status == 204

    come_and_go("first")
    caches = service.core.caches
    kept, counted = set(caches.records), service.cache_counts
    for number in range(20):
        come_and_go(f"k{number}")

    assert set(caches.records) == kept
    assert [count.entries for count in service.cache_counts] == [count.entries for count in counted] == [0]


def test_clearances_never_show_the_tokens_that_they_are_for() -> None:
    held = Clearances()
    held["GET", "secret/data/a", "hvs.secret"] = (None, None, 0, "", False, True)

    assert repr(held) == f"{held}" == "Clearances(1)"
