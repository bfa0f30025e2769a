"""RSA: signatures and ciphertexts of real servers, salts, digests, and what is too long."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from labkit.service.encoding import from_base64url
from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.hash_algorithms import KEYED_ALGORITHMS
from labkit.vault.engines.transit.pairs import rsa
from labkit.vault.engines.transit.pairs.key_pairs import AUTO_SALT, HASH_SALT, Scheme
from labkit.vault.engines.transit.pairs.rsa import Rsa

(VECTOR,) = [
    vector
    for vector in json.loads((Path(__file__).parents[4] / "vectors" / "transit_pairs.json").read_text())["vectors"]
    if vector["case"] == "rsa-2048"
]
RSA = Rsa(2_048)
MESSAGE = b"the quick brown fox"
DIGEST = hashlib.sha256(MESSAGE).digest()


def stored() -> tuple[bytes, bytes]:
    """The halves of the key that a real server had, as they are stored."""
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
        load_der_private_key,
    )

    key = load_der_private_key(b64decode(VECTOR["pkcs1_der_b64"]), None)
    return (
        key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
        key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
    )


@pytest.fixture(scope="module")
def key() -> Any:
    """The private half of the key that a real server had."""
    return RSA.private_key(stored()[0])


def signed(name: str) -> bytes:
    """What a real server signed."""
    text: str = VECTOR[name].rpartition(":")[2]
    return from_base64url(text) if "jws" in name else b64decode(text)


def test_signatures_of_real_servers_are_valid(key: Any) -> None:
    public = RSA.public_key(stored()[1])
    pkcs = Scheme(rsa_scheme="pkcs1v15")
    unhashed = Scheme("none", prehashed=True, rsa_scheme="pkcs1v15")

    assert RSA.sign(key, MESSAGE, pkcs) == signed("pkcs1v15_sha2-256") == signed("pkcs1v15_jws_sha2-256")
    assert RSA.sign(key, DIGEST, unhashed) == signed("pkcs1v15_none") == signed("pkcs1v15_jws_none")
    assert RSA.verify(public, signed("pkcs1v15_sha2-256"), MESSAGE, pkcs)
    assert RSA.verify(public, signed("pkcs1v15_none"), DIGEST, unhashed)
    assert not RSA.verify(public, signed("pkcs1v15_none"), DIGEST + b"x", unhashed)
    assert not RSA.verify(public, signed("pkcs1v15_none"), MESSAGE, pkcs)
    for wrong in (b"", b"x", bytes(256), b"\xff" * 256, signed("pkcs1v15_none") + b"\0"):
        assert not any(RSA.verify(public, wrong, MESSAGE, scheme) for scheme in (pkcs, unhashed, Scheme()))
    salts = {"pss_salt_0": AUTO_SALT, "pss_salt_-1": HASH_SALT, "pss_salt_20": 20}
    for name, made_with in salts.items():
        valid = {salt: RSA.verify(public, signed(name), MESSAGE, Scheme(salt_length=salt)) for salt in salts.values()}
        assert valid == {salt: salt in (AUTO_SALT, made_with) for salt in salts.values()}, name


def test_a_salt_has_the_length_that_was_asked_for(key: Any) -> None:
    public = key.public_key()
    lengths = {AUTO_SALT: 222, HASH_SALT: 32, 1: 1, 222: 222}
    for salt, length in lengths.items():
        made = RSA.sign(key, MESSAGE, Scheme(rsa_scheme="pss", salt_length=salt))
        assert RSA.verify(public, made, MESSAGE, Scheme(salt_length=length)), salt
        assert RSA.verify(public, made, MESSAGE, Scheme()), salt
        assert not RSA.verify(public, made, MESSAGE, Scheme(salt_length=17)), salt


def test_every_hash_signs_and_a_digest_signs_like_its_message(key: Any) -> None:
    public = key.public_key()
    for name, library_name in KEYED_ALGORITHMS.items():
        digest = hashlib.new(library_name.lower(), MESSAGE).digest()
        for rsa_scheme in ("pss", "pkcs1v15"):
            whole, hashed = Scheme(name, False, rsa_scheme), Scheme(name, True, rsa_scheme)
            assert RSA.verify(public, RSA.sign(key, digest, hashed), MESSAGE, whole), name
            assert not RSA.verify(public, RSA.sign(key, MESSAGE, whole), digest[1:], hashed), name


@pytest.mark.parametrize(
    ("scheme", "message", "why"),
    [
        (Scheme(rsa_scheme="none"), MESSAGE, "unsupported rsa signature algorithm none"),
        (Scheme(salt_length=223), MESSAGE, VECTOR["err_salt_223"]),
        (Scheme(prehashed=True), MESSAGE, VECTOR["err_pss_wrong_len"]),
        (Scheme(prehashed=True, rsa_scheme="pkcs1v15"), MESSAGE, VECTOR["err_pkcs1_wrong_len"]),
        (Scheme("none", prehashed=True, rsa_scheme="pkcs1v15"), bytes(246), VECTOR["err_pkcs1_none_long"]),
    ],
)
def test_what_a_scheme_cannot_sign_is_refused(key: Any, scheme: Scheme, message: bytes, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        RSA.sign(key, message, scheme)


def test_the_longest_input_without_a_hash_is_signed(key: Any) -> None:
    scheme = Scheme("none", prehashed=True, rsa_scheme="pkcs1v15")

    assert RSA.verify(key.public_key(), RSA.sign(key, bytes(245), scheme), bytes(245), scheme)
    assert RSA.verify(key.public_key(), RSA.sign(key, b"", scheme), b"", scheme)


def test_a_scheme_that_has_no_signatures_verifies_none(key: Any) -> None:
    for scheme, why in ((Scheme(rsa_scheme="x"), "unsupported rsa"), (Scheme(salt_length=223), "salt length 223")):
        with pytest.raises(BadRequest, match=why):
            RSA.verify(key.public_key(), b"", MESSAGE, scheme)


def test_ciphertexts_of_real_servers_decrypt(key: Any) -> None:
    text = VECTOR["ciphertext_of_quick_brown"].rpartition(":")[2]

    assert rsa.decrypt(key, b64decode(text)) == MESSAGE
    for message in (b"", bytes(190)):
        assert rsa.decrypt(key, rsa.encrypt(key.public_key(), message)) == message
    with pytest.raises(BadRequest, match=VECTOR["err_enc_long"]):
        rsa.encrypt(key.public_key(), bytes(191))
    for wrong in (b"", bytes(255), bytes(256), b"\xff" * 256, bytes(257)):
        with pytest.raises(BadRequest, match=VECTOR["err_dec_bad"]):
            rsa.decrypt(key, wrong)


def test_a_pair_is_made_of_what_was_drawn(entropy: Any) -> None:
    for bits in (2_048, 3_072, 4_096):
        private, public = Rsa(bits).make(entropy)
        loaded = Rsa(bits).private_key(private)
        assert loaded.key_size == bits
        assert loaded.public_key() == Rsa(bits).public_key(public)
        assert Rsa(bits).make(entropy) != (private, public)
        assert Rsa(bits).public_text(public).startswith("-----BEGIN PUBLIC KEY-----\nMII")
