"""The table of key types, and its ciphers against published test cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag

from labkit.vault.engines.transit.algorithms import DEFAULT_TYPE, KEY_TYPES

AEAD = json.loads((Path(__file__).parents[3] / "vectors" / "aead.json").read_text())["vectors"]


@pytest.mark.parametrize("vector", AEAD, ids=lambda vector: vector["source"])
def test_a_types_cipher_is_the_published_one(vector: dict[str, str]) -> None:
    make = KEY_TYPES[vector["type"]].cipher
    assert make is not None
    cipher = make(bytes.fromhex(vector["key"]))
    nonce, associated, plaintext, ciphertext = (
        bytes.fromhex(vector[name]) for name in ("nonce", "associated_data", "plaintext", "ciphertext")
    )
    sealed = ciphertext + bytes.fromhex(vector["tag"])

    assert cipher.encrypt(nonce, plaintext, associated) == sealed
    assert cipher.decrypt(nonce, sealed, associated) == plaintext
    with pytest.raises(InvalidTag):
        cipher.decrypt(nonce, sealed[:-1] + bytes([sealed[-1] ^ 1]), associated)


# Type, number in backups, key bytes, encrypts, signs, derives: spec, Transit engine, and the products' backups.
ROWS: list[tuple[Any, ...]] = [
    ("aes256-gcm96", 0, 32, True, False, True),
    ("chacha20-poly1305", 5, 32, True, False, True),
    ("aes128-gcm96", 8, 16, True, False, True),
    ("ed25519", 2, 64, False, True, True),
    ("ecdsa-p256", 1, 0, False, True, False),
    ("ecdsa-p384", 6, 0, False, True, False),
    ("ecdsa-p521", 7, 0, False, True, False),
    ("rsa-2048", 3, 0, True, True, False),
    ("rsa-3072", 9, 0, True, True, False),
    ("rsa-4096", 4, 0, True, True, False),
    ("hmac", 11, 0, False, False, False),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_a_type_can_do(row: tuple[Any, ...]) -> None:
    key_type = KEY_TYPES[row[0]]

    assert (
        key_type.name,
        key_type.code,
        key_type.key_bytes,
        key_type.encrypts,
        key_type.signs,
        key_type.derives,
    ) == row


def test_a_type_of_key_pairs_has_one_object_in_its_familys_module() -> None:
    for name, row in KEY_TYPES.items():
        pair = row.pair
        assert (pair is not None) == row.signs == bool(row.family), name
        if pair is not None:
            assert pair is row.pair
            assert type(pair).__module__.endswith(f".{row.family}")
            assert (pair.derive is not None) == row.derives


def test_the_ciphers_that_derive_are_the_symmetric_ones() -> None:
    assert sorted(name for name, key_type in KEY_TYPES.items() if key_type.symmetric) == [
        "aes128-gcm96",
        "aes256-gcm96",
        "chacha20-poly1305",
    ]


def test_the_default_is_a_type_and_no_number_serves_twice() -> None:
    assert DEFAULT_TYPE in KEY_TYPES
    assert len({key_type.code for key_type in KEY_TYPES.values()}) == len(KEY_TYPES)
