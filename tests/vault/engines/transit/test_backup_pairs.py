"""Backup pairs: halves as numbers, read back, and halves that are no pair."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.algorithms import KEY_TYPES
from labkit.vault.engines.transit.backup_members import Members
from labkit.vault.engines.transit.backup_pairs import read_pair, written_pair
from labkit.vault.engines.transit.ed25519 import pair_of
from labkit.vault.engines.transit.keyring import KeyVersion
from labkit.vault.engines.transit.refusals import item_text

ED25519 = KEY_TYPES["ed25519"]
PRIVATE, PUBLIC = pair_of(bytes(range(32)))


def coded(value: bytes) -> str:
    return base64.b64encode(value).decode()


def refusal(key_type: Any, members: dict[str, Any]) -> str:
    with pytest.raises(BadRequest) as refused:
        read_pair(key_type, Members(members, "e."))
    return item_text(refused.value)


def test_an_ed25519_key_is_bytes() -> None:
    written = written_pair(ED25519, KeyVersion(PRIVATE, b"", 0, public=PUBLIC))
    assert written == {"key": coded(PRIVATE), "public_key": coded(PUBLIC)}
    assert read_pair(ED25519, Members(written, "")) == (PRIVATE, PUBLIC)
    half = written_pair(ED25519, KeyVersion(b"", b"", 0, public=PUBLIC))
    assert half == {"key": None, "public_key": coded(PUBLIC)}
    assert read_pair(ED25519, Members(half, "")) == (b"", PUBLIC)


def test_halves_that_are_no_pair_or_of_another_kind() -> None:
    other = pair_of(bytes(32))[1]
    cases: tuple[dict[str, Any], ...] = (
        {"key": coded(PRIVATE[:32] + other)},
        {"key": coded(PRIVATE[:32])},
        {"key": coded(PRIVATE[:31])},
        {"key": ""},
        {"public_key": coded(PUBLIC[:31])},
        {},
        {"ec_x": 1, "ec_y": 1},
        {"rsa_public_key": {}},
    )
    for members in cases:
        assert refusal(ED25519, members) == "in the backup, e must be a key of type ed25519", members
    text = "invalid key type: expected ed25519, got *rsa.PublicKey"
    assert refusal(ED25519, {"rsa_key": {"N": 15, "E": 3}}) == text
