"""Pair material: halves as they come, as they are stored, and halves of another kind than the key's."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.algorithms import KEY_TYPES
from labkit.vault.engines.transit.keys.pair_material import (
    NOT_PEM,
    UNREADABLE,
    private_text,
    read_private,
    read_public,
    stored_halves,
    to_pkcs8,
)
from labkit.vault.engines.transit.pairs.ed25519 import pair_of
from labkit.vault.engines.transit.pairs.pkcs8 import load_private_key

IMPORTS = json.loads((Path(__file__).parents[4] / "vectors" / "transit_import.json").read_text())
WHOLE = base64.b64decode(IMPORTS["ed25519_pkcs8_b64"])
ED25519 = KEY_TYPES["ed25519"]
EC = ec.derive_private_key(7, ec.SECP256R1())


def pkcs8(key: Any) -> bytes:
    der: bytes = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return der


def pem(key: Any) -> str:
    text: bytes = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return text.decode()


def refusal(work: Any, *arguments: Any) -> str:
    with pytest.raises(BadRequest) as refused:
        work(*arguments)
    text: str = refused.value.errors[0]
    return text


def test_an_ed25519_key_is_stored_with_both_halves() -> None:
    private, public = pair_of(bytes(range(32)))
    assert read_private(ED25519, WHOLE) == (private, public)
    key = load_private_key(WHOLE)
    assert (stored_halves(key), to_pkcs8(key)) == ((private, public), WHOLE)
    assert private_text(key) == base64.b64encode(private).decode()
    assert read_public(ED25519, pem(key)) == public


def test_a_public_half_may_have_any_label_and_line_end() -> None:
    text = pem(load_private_key(WHOLE))
    for changed in (
        text.replace("PUBLIC KEY", "SOMETHING"),
        text.replace("\n", "\r\n"),
        "\n" + text,
        "the key:\n" + text,
        text.strip(),
        text + text,
    ):
        assert read_public(ED25519, changed) == pair_of(bytes(range(32)))[1]


def test_what_is_no_public_half() -> None:
    text = pem(load_private_key(WHOLE))
    for changed in ("", "x", text.replace("-----END", "----END"), text.replace("MC", "*")):
        assert refusal(read_public, ED25519, changed) == NOT_PEM, changed
    for changed in (text.replace("MCowB", "MCowC"), "-----BEGIN A-----\n-----END A-----\n"):
        assert refusal(read_public, ED25519, changed) == UNREADABLE, changed


def test_another_kind_of_key_is_named() -> None:
    curve = x25519.X25519PrivateKey.from_private_bytes(bytes(range(32)))
    rsa = load_private_key(base64.b64decode(IMPORTS["encodings"]["rsa_pss_oid_pkcs8_b64"]))
    for key, name in ((EC, "*ecdsa"), (rsa, "*rsa"), (curve, "*crypto")):
        text = "invalid key type: expected ed25519, got " + name
        assert refusal(read_private, ED25519, pkcs8(key)) == text + ".PrivateKey"
        assert refusal(read_public, ED25519, pem(key)) == text + ".PublicKey"
