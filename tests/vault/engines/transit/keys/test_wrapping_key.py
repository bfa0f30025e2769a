"""``wrapping_key``: made once, kept, and shown only by its public half."""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from labkit import Vault


def test_the_first_read_makes_it_and_it_stays() -> None:
    vault = Vault.dev(seed=7)

    shown = vault.get("transit/wrapping_key").data

    key = load_pem_public_key(shown["public_key"].encode())
    assert isinstance(key, RSAPublicKey)
    assert (key.key_size, key.public_numbers().e) == (4096, 65_537)
    assert sorted(shown) == ["public_key"]
    assert shown["public_key"].endswith("-----END PUBLIC KEY-----\n")
    assert vault.get("transit/wrapping_key").data == shown
    assert vault.list("transit/keys").status == 404  # it is no key of the mount's


def test_nothing_makes_it_but_itself_and_an_import(service: Any) -> None:
    service.post("transit/keys/k", {"exportable": True})
    for path in ("encrypt/k", "keys/k/rotate", "datakey/plaintext/k"):
        service.post(f"transit/{path}", {"plaintext": ""})
    service.post("transit/keys/i/import", {"type": "aes256-gcm96"})
    assert not [key for key in stored_keys(service) if key.endswith("import/wrapping-key")]


def test_it_is_the_one_in_the_store(service: Any, wrapping_key: RSAPrivateKey) -> None:
    shown = load_pem_public_key(service.get("transit/wrapping_key").data["public_key"].encode())

    assert isinstance(shown, RSAPublicKey)
    assert shown.public_numbers() == wrapping_key.public_key().public_numbers()


def test_each_mount_has_its_own(service: Any, wrapping_key: RSAPrivateKey) -> None:
    service.post("sys/mounts/other", {"type": "transit"})

    assert service.get("transit/wrapping_key").data
    assert [key for key in stored_keys(service) if key.endswith("import/wrapping-key")] != []
    assert len([key for key in stored_keys(service) if key.endswith("import/wrapping-key")]) == 1


def stored_keys(service: Any) -> list[str]:
    """The names of everything in the store."""
    found: list[str] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        for name in service.core.storage.list(folder):
            (folders if name.endswith("/") else found).append(folder + name)
    return found


def test_the_wrapping_key_of_a_seeded_world_is_a_function_of_the_seed() -> None:
    shown = [Vault.dev(seed=seed).get("transit/wrapping_key").data["public_key"] for seed in (1, 1, 2)]

    assert shown[0] == shown[1] != shown[2]
