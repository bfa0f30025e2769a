"""Key material: which bytes are a key of which type."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.algorithms import KEY_TYPES
from labkit.vault.engines.transit.keyring import HMAC_KEY_BYTES, Keyring
from labkit.vault.engines.transit.keys.key_material import Material, private_material, public_material, with_material


def test_a_symmetric_key_is_its_bytes_and_has_one_size() -> None:
    for name, sizes in (("aes256-gcm96", (32,)), ("aes128-gcm96", (16,)), ("hmac", (32, 100, 512))):
        for size in sizes:
            assert private_material(KEY_TYPES[name], bytes(size)) == Material(bytes(size))
        for size in (0, 15, 24, 31, 513):
            with pytest.raises(BadRequest) as refused:
                private_material(KEY_TYPES[name], bytes(size))
            assert refused.value.errors == (f"invalid key size {size} bytes for key type {name}",)
        with pytest.raises(BadRequest):
            public_material(KEY_TYPES[name], "")


def test_a_version_has_an_hmac_key_of_its_own(entropy: Callable[[int], bytes]) -> None:
    keyring = Keyring("aes256-gcm96", imported=True)
    for key in (bytes(32), b"\x01" * 32):
        keyring = with_material(keyring, Material(key), entropy, 7)
    first, second = keyring.versions
    assert (first.key, first.created_ns, keyring.latest_version, keyring.imported) == (bytes(32), 7, 2, True)
    assert len(first.hmac_key) == len(second.hmac_key) == HMAC_KEY_BYTES
    assert len({first.hmac_key, second.hmac_key, first.key, second.key}) == 4
    digests = with_material(Keyring("hmac", imported=True), Material(b"k" * 40), entropy, 7)
    assert (digests.versions[0].key, digests.versions[0].hmac_key, digests.key_size) == (b"k" * 40, b"k" * 40, 40)


def test_material_is_not_shown() -> None:
    assert repr(Material(b"key", b"public")) == "Material()"
