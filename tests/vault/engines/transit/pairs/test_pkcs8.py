"""PKCS #8: the spellings that are read, and those that are refused by name."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, derive_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.pairs.pkcs8 import PKCS1, SEC1, UNREADABLE, load_private_key

IMPORTS = json.loads((Path(__file__).parents[4] / "vectors" / "transit_import.json").read_text())
ENCODINGS = IMPORTS["encodings"]
EC = derive_private_key(7, SECP256R1())


def refusal(der: bytes) -> str:
    with pytest.raises(BadRequest) as refused:
        load_private_key(der)
    text: str = refused.value.errors[0]
    return text.removeprefix("error parsing asymmetric key: ")


def test_the_usual_spellings_are_read() -> None:
    ed25519 = load_private_key(base64.b64decode(IMPORTS["ed25519_pkcs8_b64"]))
    assert isinstance(ed25519, Ed25519PrivateKey)
    assert ed25519.private_bytes_raw() == bytes(range(32))
    ec = load_private_key(EC.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
    assert isinstance(ec, EllipticCurvePrivateKey)
    assert ec.private_numbers().private_value == 7


def test_two_unusual_ones_too() -> None:
    nss = load_private_key(base64.b64decode(ENCODINGS["ed25519_nss_ecprivatekey_pkcs8_b64"]))
    assert isinstance(nss, Ed25519PrivateKey)
    assert nss.private_bytes_raw().hex() == ENCODINGS["ed25519_nss_seed_hex"]
    shown = nss.public_key().public_bytes_raw()
    assert base64.b64encode(shown).decode() == ENCODINGS["ed25519_nss_public_b64"]
    pss = load_private_key(base64.b64decode(ENCODINGS["rsa_pss_oid_pkcs8_b64"]))
    assert isinstance(pss, RSAPrivateKey)
    assert pss.key_size == 2048


def test_other_forms_are_named() -> None:
    sec1 = EC.private_bytes(Encoding.DER, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    pss = load_private_key(base64.b64decode(ENCODINGS["rsa_pss_oid_pkcs8_b64"]))
    pkcs1 = pss.private_bytes(Encoding.DER, PrivateFormat.TraditionalOpenSSL, NoEncryption())

    assert refusal(sec1) == SEC1
    assert refusal(pkcs1) == PKCS1


def test_what_is_damaged_is_refused_wherever_it_is_cut() -> None:
    nss = base64.b64decode(ENCODINGS["ed25519_nss_ecprivatekey_pkcs8_b64"])
    whole = base64.b64decode(IMPORTS["ed25519_pkcs8_b64"])
    for der in (nss, whole):
        for end in range(len(der)):
            assert refusal(der[:end]) == UNREADABLE, end
        assert refusal(der + b"\x00") == UNREADABLE
    for der in (
        b"\x30\x80",
        b"\x30\xff" + b"\xff" * 127,
        b"\x30\x00",
        bytes(40),
        nss.replace(b"\x04\x20", b"\x04\x1f"),
    ):
        assert refusal(der) == UNREADABLE
