"""Wrapped keys: published key wraps, round trips for every hash, and what was altered on the way."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.keys.wrapped_keys import HASHES, check_hash, unwrap, wrap

COUNTED = bytes(range(32))
# Under 32 zero bytes, made by the key wrap of real servers of this API.
WRAPPED_32 = bytes.fromhex("bb703ef740fae046a2af26a78d46428f6a568d82356bd9da88e6500f625bb6314610afd71b884144")
WRAPPED_20 = bytes.fromhex("dfb825a9450c8dffe30a5e176ce0b552568ab7e59ec5edc6b71e5d38668ab2d8")


def block(private: RSAPrivateKey, key: bytes, algorithm: Any = None) -> bytes:
    algorithm = algorithm or hashes.SHA256()
    return private.public_key().encrypt(key, OAEP(MGF1(algorithm), algorithm, None))


def refusal(private: RSAPrivateKey, wrapped: bytes, hash_name: str = "SHA256") -> str:
    with pytest.raises(BadRequest) as refused:
        unwrap(private, wrapped, hash_name)
    return str(refused.value.text) if hasattr(refused.value, "text") else refused.value.errors[0]


def test_what_was_wrapped_comes_back(wrapping_key: RSAPrivateKey, entropy: Callable[[int], bytes]) -> None:
    for hash_name in HASHES:
        for size in (16, 17, 32, 512):
            material = entropy(size)
            made = wrap(wrapping_key.public_key(), material, hash_name, entropy)
            assert unwrap(wrapping_key, made, hash_name) == material
            assert len(made) == 512 + 8 + (size + 7) // 8 * 8


def test_published_key_wraps_are_read(wrapping_key: RSAPrivateKey) -> None:
    opened = block(wrapping_key, bytes(32))

    assert unwrap(wrapping_key, opened + WRAPPED_32, "SHA256") == COUNTED
    assert unwrap(wrapping_key, opened + WRAPPED_20, "SHA256") == COUNTED[:20]


def test_what_was_altered_is_refused(wrapping_key: RSAPrivateKey) -> None:
    opened = block(wrapping_key, bytes(32))
    bent = WRAPPED_32[:-1] + bytes([WRAPPED_32[-1] ^ 1])

    for wrapped, text in (
        (b"", "provided ciphertext is too short"),
        (opened, "provided ciphertext is too short"),
        (bytes(512) + WRAPPED_32, "crypto/rsa: decryption error"),
        (b"\xff" * 512 + WRAPPED_32, "crypto/rsa: decryption error"),
        (block(wrapping_key, bytes(16)) + WRAPPED_32, "expected ephemeral AES key to be 256-bit"),
        (block(wrapping_key, bytes(33)) + WRAPPED_32, "expected ephemeral AES key to be 256-bit"),
        (opened + WRAPPED_32[:16], "kwp: wrapped key size too small"),
        (opened + WRAPPED_32[:-1], "kwp: wrapped key size must be a multiple of 8 bytes"),
        (opened + bytes(8201), "kwp: wrapped key size too large"),
        (opened + bent, "kwp: unwrap failed integrity check"),
        (opened + WRAPPED_32[:-8], "kwp: unwrap failed integrity check"),
        (block(wrapping_key, b"\x01" * 32) + WRAPPED_32, "kwp: unwrap failed integrity check"),
    ):
        assert refusal(wrapping_key, wrapped) == text
    assert refusal(wrapping_key, opened + WRAPPED_32, "SHA1") == "crypto/rsa: decryption error"


def test_hashes_have_names_in_any_case() -> None:
    assert [check_hash(name.lower()) for name in HASHES] == list(HASHES)
    for name in ("", "MD5", "SHA-256", "SHA256 "):
        with pytest.raises(BadRequest) as refused:
            check_hash(name)
        assert refused.value.errors == (f"unknown hash function: {name}",)


def test_the_ephemeral_key_is_drawn(wrapping_key: RSAPrivateKey) -> None:
    made = wrap(wrapping_key.public_key(), COUNTED, "SHA256", bytes)

    assert base64.b16encode(made[512:]) == base64.b16encode(WRAPPED_32)
