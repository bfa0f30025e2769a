"""Backup pairs: halves as numbers, read back, and halves that are no pair."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.algorithms import KEY_TYPES
from labkit.vault.engines.transit.backups.backup_members import Members
from labkit.vault.engines.transit.backups.backup_pairs import read_pair, written_pair
from labkit.vault.engines.transit.keyring import KeyVersion
from labkit.vault.engines.transit.pairs.ed25519 import pair_of
from labkit.vault.engines.transit.refusals import item_text

BACKUPS = json.loads((Path(__file__).parents[4] / "vectors" / "transit_backups.json").read_text())["vault_1_14_era"]
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


def entry_of(case: str) -> dict[str, Any]:
    """The only version in a real server's backup."""
    entry: dict[str, Any] = json.loads(base64.b64decode(BACKUPS[case]))["policy"]["keys"]["1"]
    return entry


def test_a_key_on_a_curve_is_its_point_and_scalar() -> None:
    for case in ("ecdsa-p256", "ecdsa-p384", "ecdsa-p521"):
        key_type, entry = KEY_TYPES[case], entry_of(case)
        private, public = read_pair(key_type, Members(entry, ""))
        assert written_pair(key_type, KeyVersion(private, b"", 0, public=public)).items() <= entry.items()
        assert read_pair(key_type, Members(entry | {"ec_d": None}, "")) == (b"", public)
        assert read_pair(key_type, Members(entry | {"ec_x": None, "ec_y": None}, "")) == (private, public)
        assert read_pair(key_type, Members({"public_key": entry["public_key"]}, "")) == (b"", public)
        for change in (
            {"ec_x": entry["ec_x"] + 1},
            {"ec_y": None},
            {"ec_d": 1},
            {"ec_d": 0},
            {"ec_d": -entry["ec_d"]},
            {"ec_d": 2**521},
            {"ec_d": None, "ec_x": entry["ec_x"] + 1},
            {"ec_d": None, "ec_y": -1},
        ):
            assert refusal(key_type, entry | change) == f"in the backup, e must be a key of type {case}", change


def test_an_rsa_key_is_all_its_numbers() -> None:
    key_type, entry = KEY_TYPES["rsa-2048"], entry_of("rsa-2048")
    private, public = read_pair(key_type, Members(entry, ""))
    written = written_pair(key_type, KeyVersion(private, b"", 0, public=public))
    assert written == {"rsa_key": entry["rsa_key"]}
    half = written_pair(key_type, KeyVersion(b"", b"", 0, public=public))
    assert half == {"rsa_public_key": {"N": entry["rsa_key"]["N"], "E": 65_537}}
    assert read_pair(key_type, Members(half, "")) == (b"", public)
    assert read_pair(key_type, Members({"rsa_key": entry["rsa_key"] | {"Precomputed": None}}, "")) == (private, public)
    p, q = entry["rsa_key"]["Primes"]
    changes: tuple[dict[str, Any], ...] = (
        {"Primes": [p, q, 3]},
        {"Primes": [p]},
        {"Primes": []},
        {"Primes": [p, p]},
        {"Primes": [1, p * q]},
        {"Primes": [p * q, 0]},
        {"D": entry["rsa_key"]["D"] + 2},
        {"D": 0},
        {"E": 65_536},
        {"E": -1},
        {"N": p * q + 2},
    )
    for change in changes:
        changed = {"rsa_key": entry["rsa_key"] | change}
        assert refusal(key_type, changed) == "in the backup, e must be a key of type rsa-2048", change
    for other in ("rsa-3072", "rsa-4096"):
        assert "invalid key size: expected" in refusal(KEY_TYPES[other], entry)
