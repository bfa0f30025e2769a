"""Signatures: what a header asks for is made, and verified by PyJWT where it is honest."""

from __future__ import annotations

import base64
import json

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from labkit.cloud.signatures import compact, header_of, public_pem, verify_rs256
from labkit.front.cloud import Cloud
from labkit.service.cloud_environments import DEFAULT_ENVIRONMENT

CLAIMS = {"sub": "a"}


@pytest.fixture(scope="module")
def private(filled) -> rsa.RSAPrivateKey:
    keys = Cloud(lambda: 0, lambda size: b"\0" * size, filled).parts.keys[DEFAULT_ENVIRONMENT]
    return keys.private(keys.signing)


def test_every_rsa_form_verifies(private: rsa.RSAPrivateKey) -> None:
    for name in ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"):
        token = compact({"alg": name}, CLAIMS, private)
        assert jwt.PyJWS().decode(token, private.public_key(), algorithms=[name]) == b'{"sub":"a"}', name


def test_elliptic_curves_verify_and_are_deterministic() -> None:
    for name, curve in (("ES256", ec.SECP256R1()), ("ES384", ec.SECP384R1()), ("ES512", ec.SECP521R1())):
        key = ec.derive_private_key(77, curve)
        token = compact({"alg": name}, CLAIMS, key)
        assert jwt.PyJWS().decode(token, key.public_key(), algorithms=[name]), name
        assert token == compact({"alg": name}, CLAIMS, key)
    edwards = ed25519.Ed25519PrivateKey.from_private_bytes(b"k" * 32)
    assert jwt.PyJWS().decode(compact({"alg": "EdDSA"}, CLAIMS, edwards), edwards.public_key(), algorithms=["EdDSA"])


def test_an_hmac_takes_bytes_or_the_public_half_of_a_key(private: rsa.RSAPrivateKey) -> None:
    secret = b"s" * 64
    for name in ("HS256", "HS384", "HS512"):
        assert jwt.PyJWS().decode(compact({"alg": name}, CLAIMS, secret), secret, algorithms=[name]), name
    assert compact({"alg": "HS256"}, CLAIMS, private) == compact({"alg": "HS256"}, CLAIMS, public_pem(private))


@pytest.mark.parametrize("name", ["none", "nOnE", "NONE"])
def test_none_has_an_empty_signature(private: rsa.RSAPrivateKey, name: str) -> None:
    assert compact({"alg": name}, CLAIMS, private).endswith(".")


@pytest.mark.parametrize("name", [None, 7, "", "XX256", ["RS256"]])
def test_any_other_header_is_signed_by_the_keys_own_algorithm(private: rsa.RSAPrivateKey, name: object) -> None:
    token = compact({"alg": name}, CLAIMS, private)

    assert verify_rs256(private.public_key(), token) == CLAIMS
    assert header_of(token) == {"alg": name}


def test_bytes_may_hold_a_private_key(private: rsa.RSAPrivateKey) -> None:
    for encoding in (Encoding.DER, Encoding.PEM):
        held = private.private_bytes(encoding, PrivateFormat.PKCS8, NoEncryption())
        assert verify_rs256(private.public_key(), compact({"alg": "RS256"}, CLAIMS, held)) == CLAIMS


@pytest.mark.parametrize(
    ("name", "key"),
    [("RS256", b"not a key"), ("RS256", b"-----BEGIN x"), ("RS256", "text"), ("RS256", None), ("HS256", 7)],
)
def test_what_is_no_key_is_refused(name: str, key: object) -> None:
    with pytest.raises(ValueError, match=r"^key: expected "):
        compact({"alg": name}, CLAIMS, key)


def test_only_an_honest_token_is_verified(private: rsa.RSAPrivateKey) -> None:
    public, token = private.public_key(), compact({"alg": "RS256"}, CLAIMS, private)
    head, body, signature = token.split(".")
    listed = base64.urlsafe_b64encode(json.dumps([1]).encode()).decode().rstrip("=")

    assert verify_rs256(public, token) == CLAIMS
    for forged in ("", ".", "..", token + "x", f"{head}.{listed}.{signature}", f"{head}.{body}.", "é.é.é"):
        assert verify_rs256(public, forged) is None, forged


def test_a_header_is_read_of_tokens_only() -> None:
    deep = base64.urlsafe_b64encode(b"[" * 9_000).decode().rstrip("=")
    listed = base64.urlsafe_b64encode(b"[]").decode().rstrip("=")
    for odd in ("", "a", "a.b", "a.b.c.d", "!.b.c", f"{deep}.b.c", f"{listed}.b.c", "a" * 20_000 + ".b.c"):
        assert header_of(odd) == {}, odd[:20]
