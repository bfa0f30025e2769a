"""The caches of mounts: which a mount has, when another one is made, and what a damaged configuration does."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.vault.storage.recent_records import RecentRecords

RELOAD = ("sys/plugins/reload/backend", {"plugin": "transit"})


def key_of(service: Any, name: str, mount: str = "transit") -> str:
    return f"logical/{service.get(f'sys/mounts/{mount}').data['uuid']}/{name}"


def test_a_mount_that_says_nothing_has_its_records_among_all_others(service: Any) -> None:
    service.post("transit/keys/k")
    service.get("transit/keys/k")

    assert key_of(service, "key/k") in service.core.caches.records
    assert service.cache_counts == ()


def test_each_mount_has_a_cache_of_its_own(service: Any) -> None:
    service.post("sys/mounts/other", {"type": "transit"})
    for mount, size in ("transit", 10), ("other", 20):
        service.post(f"{mount}/cache-config", {"size": size})
    service.put(*RELOAD)
    for mount in ("transit", "other"):
        service.post(f"{mount}/keys/k")
        service.get(f"{mount}/keys/k")

    assert [(each.mount, each.size, each.entries) for each in service.cache_counts] == [
        ("other/", 20, 1),
        ("transit/", 10, 1),
    ]
    assert key_of(service, "key/k") not in service.core.caches.records


def test_a_seal_drops_the_cache_and_the_size_is_in_force_afterwards(service: Any) -> None:
    service.post("transit/keys/k")
    service.post("transit/cache-config", {"size": 10})

    service.put("sys/seal")
    assert service.cache_counts == ()
    for share in service.unseal_keys[:3]:
        service.put("sys/unseal", {"key": share})
    service.get("transit/keys/k")
    service.get("transit/keys/k")

    counts = service.cache_counts[0]
    assert (counts.size, counts.hits, counts.misses) == (10, 1, 1)


def test_a_damaged_configuration_stops_no_key(service: Any, observed: list[Any]) -> None:
    service.post("transit/keys/k")
    service.post("transit/cache-config", {"size": 10})
    key = key_of(service, "config/cache")
    service.core.storage.apply({key: b"altered bytes"}, 0)
    service.put(*RELOAD)

    assert service.get("transit/keys/k").ok
    assert service.get("transit/cache-config").status == 500
    assert ("stored value damaged", {"key": key}) in observed
    assert service.post("transit/cache-config", {"size": 10}).ok
    service.put(*RELOAD)
    service.get("transit/keys/k")
    assert service.cache_counts[0].size == 10


@pytest.mark.parametrize("other", ["secret/metadata/app", "sys/mounts"])
def test_what_other_mounts_read_is_not_counted(service: Any, other: str) -> None:
    service.post("transit/cache-config", {"size": 10})
    service.put(*RELOAD)
    service.get("transit/config/keys")
    service.get(other)

    prefix = key_of(service, "")
    found = service.core.caches.by_mount[prefix.split("/")[1]]
    assert (found[0], type(found[1])) == (prefix, RecentRecords)
    counts = service.cache_counts[0]
    assert (counts.entries, counts.hits, counts.misses) == (0, 0, 0)
