"""cache-config: what is stored, and that the cache of that size is in force after a reload."""

from __future__ import annotations

from typing import Any

import pytest

RELOAD = ("sys/plugins/reload/backend", {"plugin": "transit"})


def test_the_size_is_stored_and_reported_at_once(service: Any) -> None:
    assert service.get("transit/cache-config").data == {"size": 0}

    for sent, size in ({"size": 10}, 10), ({"size": "500"}, 500), ({}, 0), ({"size": 0}, 0):
        written = service.post("transit/cache-config", sent)

        assert (written.status, written.data) == (200, {"size": size})
        assert service.get("transit/cache-config").data == {"size": size}


@pytest.mark.parametrize("size", [-1, 1, 9])
def test_a_size_that_is_too_small_is_refused(service: Any, size: int) -> None:
    service.post("transit/cache-config", {"size": 12})

    refused = service.post("transit/cache-config", {"size": size})

    assert (refused.status, refused.errors) == (400, ["size must be 0 or a value greater or equal to 10"])
    assert service.get("transit/cache-config").data == {"size": 12}


def test_a_size_that_is_no_number_is_refused(service: Any) -> None:
    assert service.post("transit/cache-config", {"size": "many"}).status == 400
    assert service.get("transit/cache-config").data == {"size": 0}


def test_it_is_in_force_after_a_reload(service: Any) -> None:
    for number in range(15):
        service.post(f"transit/keys/k{number}")
    service.post("transit/cache-config", {"size": 10})
    service.get("transit/keys/k1")
    assert service.cache_counts == ()

    service.put(*RELOAD)
    for number in (*range(15), *range(5, 15)):
        assert service.get(f"transit/keys/k{number}").ok
    counts = service.cache_counts[0]
    assert (counts.mount, counts.size, counts.entries) == ("transit/", 10, 10)
    assert (counts.hits, counts.misses, counts.evictions) == (10, 15, 5)

    service.post("transit/cache-config", {"size": 0})
    assert service.cache_counts[0].size == 10
    service.put(*RELOAD)
    for number in (*range(15), *range(15)):
        service.get(f"transit/keys/k{number}")
    counts = service.cache_counts[0]
    assert (counts.size, counts.entries, counts.hits, counts.evictions) == (0, 15, 15, 0)


def test_who_pushes_a_key_out_changes_no_answer(service: Any) -> None:
    service.post("transit/cache-config", {"size": 10})
    service.put(*RELOAD)
    sealed = [service.post(f"transit/encrypt/k{n}", {"plaintext": "aGk="}).data["ciphertext"] for n in range(30)]
    service.post("transit/keys/k3/rotate")

    for number, ciphertext in enumerate(sealed):
        opened = service.post(f"transit/decrypt/k{number}", {"ciphertext": ciphertext})
        assert opened.data == {"plaintext": "aGk="}
    assert service.get("transit/keys/k3").data["latest_version"] == 2
    assert service.cache_counts[0].entries == 10
