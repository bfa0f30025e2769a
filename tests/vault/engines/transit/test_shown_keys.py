"""What the API shows of a named key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.vault.engines.transit.keyring import Keyring, empty_keyring, rotate, trim
from labkit.vault.engines.transit.shown_keys import describe

Entropy = Any
KeyringOf = Callable[..., Keyring]


def test_what_is_told_of_a_plain_key(keyring_of: KeyringOf) -> None:
    assert describe("k", keyring_of("chacha20-poly1305", bytes(32), bytes(32), min_decryption_version=2)) == {
        "name": "k",
        "type": "chacha20-poly1305",
        "derived": False,
        "deletion_allowed": False,
        "exportable": False,
        "allow_plaintext_backup": False,
        "supports_encryption": True,
        "supports_decryption": True,
        "supports_signing": False,
        "supports_derivation": True,
        "latest_version": 2,
        "min_available_version": 0,
        "min_decryption_version": 2,
        "min_encryption_version": 0,
        "auto_rotate_period": 0,
        "imported_key": False,
        "keys": {"2": 1_704_164_645},
    }


def test_what_is_told_beside_of_other_keys(keyring_of: KeyringOf) -> None:
    plain = describe("k", keyring_of("aes256-gcm96", bytes(32)))

    def beside(key_type: str, **settings: Any) -> dict[str, Any]:
        told = describe("k", keyring_of(key_type, bytes(32), **settings))
        return {name: value for name, value in told.items() if name not in plain}

    assert beside("hmac", key_size=32) == {"key_size": 32}
    assert beside("aes256-gcm96", derived=True, kdf=1) == {"kdf": "hkdf_sha256", "convergent_encryption": False}
    counter = "hmac-sha256-counter"
    assert beside("aes256-gcm96", derived=True) == {
        "kdf": counter,
        "kdf_mode": counter,
        "convergent_encryption": False,
    }
    assert beside("aes256-gcm96", derived=True, kdf=1, convergent_encryption=True, convergent_version=-1) == {
        "kdf": "hkdf_sha256",
        "convergent_encryption": True,
        "convergent_encryption_version": -1,
    }
    assert beside("aes256-gcm96", imported=True, allow_rotation=True) == {"imported_key_allow_rotation": True}


def test_what_a_key_read_shows_of_a_pair_is_the_callers_own(service: Any) -> None:
    service.post("transit/keys/k", {"type": "ed25519"})
    service.post("transit/keys/k/rotate")
    shown = service.get("transit/keys/k").data["keys"]
    before = {version: dict(pair) for version, pair in shown.items()}
    shown["1"]["public_key"] = "altered"

    assert service.get("transit/keys/k").data["keys"] == before
    service.post("transit/keys/k/config", {"min_decryption_version": 2})
    assert service.get("transit/keys/k").data["keys"] == {"2": before["2"]}
    service.post("transit/keys/k/config", {"min_decryption_version": 1})
    assert service.get("transit/keys/k").data["keys"] == before


def test_a_key_of_many_versions_is_shown_without_looking_each_up(entropy: Entropy) -> None:
    for key_type in ("aes256-gcm96", "ed25519"):
        keyring = empty_keyring(key_type, derived=False, convergent=False, service_version="1.16.3+ent")
        for number in range(1, 6):
            keyring = rotate(keyring, entropy, number * 1_000_000_000)
        keyring = trim(keyring._replace(min_decryption_version=3, min_encryption_version=3), 2)
        assert list(describe("k", keyring)["keys"]) == ["3", "4", "5"]
        values = describe("k", keyring)["keys"].values()
        made = [shown if key_type == "aes256-gcm96" else shown["creation_time"] for shown in values]
        assert made in ([3, 4, 5], [f"1970-01-01T00:00:0{second}Z" for second in (3, 4, 5)])
