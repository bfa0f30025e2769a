"""Random nonces: counted for each version, stored with the key's next write, and what is warned of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labkit import Vault

PLAIN = {"plaintext": "aGk="}


@pytest.fixture
def limited(clock: Any) -> Any:
    """A vault that warns from the fifth message under one key on."""
    return Vault.dev(clock=clock, nonce_limit=5)


def used(service: Any, name: str = "k") -> dict[int, int]:
    """How many random nonces each version of a key had, as the node's state says."""
    (found,) = [
        counts for key, counts in service.state()["nonce_counts"].items() if key.endswith(f"/nonces/{name}")
    ] or [{}]
    return {version: row[1] for version, row in found.items()}


def encrypt(service: Any, times: int = 1, name: str = "k", **fields: Any) -> Any:
    for _ in range(times):
        answer = service.post(f"transit/encrypt/{name}", {**PLAIN, **fields})
    return answer.raise_for_status()


def again(service: Any) -> Any:
    """A node on the same store, with the same keys and nothing else in memory: as after a crash."""
    state = {**service.state(), "nonce_counts": {}}
    other = Vault(service.core.storage, service.environment, service.core.settings, state)
    other.root_token = service.root_token
    return other


def test_a_message_is_one_and_a_batch_as_many_as_succeed(service: Any) -> None:
    encrypt(service, 3)
    service.post("transit/keys/k/rotate")
    items = [PLAIN, {**PLAIN, "key_version": 1}, {"plaintext": "?"}, PLAIN]
    service.post("transit/encrypt/k", {"batch_input": items})
    service.post("transit/encrypt/k", {"batch_input": [PLAIN] * 10})
    ciphertext = encrypt(service).data["ciphertext"]
    service.post("transit/rewrap/k", {"ciphertext": ciphertext})
    service.post("transit/rewrap/k", {"batch_input": [{"ciphertext": ciphertext, "key_version": 1}] * 2})
    service.post("transit/decrypt/k", {"ciphertext": ciphertext})
    service.post("transit/datakey/wrapped/k")
    assert service.post("transit/encrypt/k", {"plaintext": "?"}).status == 400

    assert used(service) == {1: 3 + 1 + 2, 2: 2 + 10 + 1 + 1 + 1}


def test_a_convergent_key_uses_none_and_a_derived_one_is_counted(service: Any) -> None:
    service.post("transit/keys/same", {"derived": True, "convergent_encryption": True})
    for _ in range(2):
        encrypt(service, name="same", context="YQ==")
        encrypt(service, name="derived", context="YQ==")

    assert (used(service, "same"), used(service, "derived")) == ({}, {1: 2})


@pytest.mark.parametrize("batched", [False, True])
def test_from_the_limit_on_each_answer_warns_until_the_key_is_rotated(limited: Any, batched: bool) -> None:
    assert encrypt(limited, 4).warnings == []
    body = {"batch_input": [PLAIN]} if batched else PLAIN
    for number in (5, 6):
        warnings = limited.post("transit/encrypt/k", body).warnings
        assert len(warnings) == 1
        assert f"version 1 of this key has encrypted {number} messages" in warnings[0]
        assert "the limit of 5" in warnings[0]

    limited.post("transit/keys/k/rotate")
    assert limited.post("transit/encrypt/k", body).warnings == []


def test_the_limit_is_2_to_the_32_where_nothing_else_is_said(service: Any) -> None:
    encrypt(service)
    (key,) = service.state()["nonce_counts"]
    service.core.nonce_counts.known(key)[1].used = 2**32 - 2

    assert encrypt(service).warnings == []
    assert "4294967296 messages" in encrypt(service).warnings[0]


def test_a_count_is_stored_with_the_keys_next_write_and_goes_on_there(service: Any) -> None:
    encrypt(service, 3)
    crashed = again(service)
    encrypt(crashed)
    assert used(crashed) == {1: 1}, "what was not yet stored is lost"

    service.post("transit/keys/k/config", {"exportable": True})
    crashed = again(service)
    encrypt(crashed)
    assert used(crashed) == {1: 4}


def test_a_trimmed_version_is_counted_no_more(service: Any) -> None:
    encrypt(service, 2)
    service.post("transit/keys/k/rotate")
    encrypt(service)
    service.post("transit/keys/k/config", {"min_decryption_version": 2, "min_encryption_version": 2})
    service.post("transit/keys/k/trim", {"min_available_version": 2})

    crashed = again(service)
    encrypt(crashed)
    assert used(crashed) == {2: 2}


def test_another_key_of_the_same_name_begins_at_0(service: Any) -> None:
    encrypt(service, 3)
    service.post("transit/keys/k/config", {"deletion_allowed": True})
    stored = len(service.core.storage.keys())

    service.delete("transit/keys/k")

    assert used(service) == {}
    assert len(service.core.storage.keys()) == stored - 2, "the key and its count"
    encrypt(service)
    assert used(service) == {1: 1}


def test_a_seal_stores_what_was_counted(service: Any) -> None:
    encrypt(service, 3)
    service.put("sys/seal")
    assert service.sealed
    restarted = again(service)
    restarted.unseal_with(service.unseal_keys[:3])

    encrypt(restarted)
    assert used(restarted) == {1: 4}


def test_a_closed_file_has_what_was_counted(tmp_path: Path) -> None:
    path = str(tmp_path / "lab.db")
    vault = Vault.open(path)
    encrypt(vault, 3)
    vault.close()

    vault = Vault.open(path)
    encrypt(vault)
    assert used(vault) == {1: 4}
    vault.close()


def test_a_key_that_is_rotated_by_itself_stores_its_count(service: Any) -> None:
    service.post("transit/keys/k", {"auto_rotate_period": "1h"})
    encrypt(service, 2)
    service.advance("61m")

    crashed = again(service)
    encrypt(crashed, key_version=1)
    assert used(crashed) == {1: 3}
