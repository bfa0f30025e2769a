"""ECDSA: keys and signatures of real servers, deterministic signing, digests of any length, both forms."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_der_private_key, load_pem_public_key

from labkit.service.encoding import from_base64url
from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.hash_algorithms import KEYED_ALGORITHMS
from labkit.vault.engines.transit.pairs.ecdsa import P256, P384, P521, Ecdsa, check_der
from labkit.vault.engines.transit.pairs.key_pairs import Scheme

VECTORS = {
    vector["case"]: vector
    for vector in json.loads((Path(__file__).parents[4] / "vectors" / "transit_pairs.json").read_text())["vectors"]
}
TYPES = {"ecdsa-p256": P256, "ecdsa-p384": P384, "ecdsa-p521": P521}


def halves(name: str) -> tuple[Ecdsa, bytes, bytes]:
    """A type with the key that a real server had of it."""
    key = load_der_private_key(b64decode(VECTORS[name]["sec1_der_b64"]), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return TYPES[name], *TYPES[name].pair_of(key.private_numbers().private_value)


@pytest.mark.parametrize("name", TYPES)
def test_signatures_of_real_servers_are_valid_in_both_forms(name: str) -> None:
    pair, _, public = halves(name)
    vector = VECTORS[name]
    message, key = vector["input"].encode(), pair.public_key(public)
    der = b64decode(vector["sig_asn1_sha2_256"].rpartition(":")[2])
    jws = from_base64url(vector["sig_jws_sha2_256"].rpartition(":")[2])

    assert pair.public_text(public) == vector["public_pem"]
    assert pair.verify(key, der, message, Scheme())
    assert pair.verify(key, jws, message, Scheme(jws=True))
    for wrong in (
        jws[:-1],
        jws[1:-1],
        jws + b"\0",
        jws[: pair.size_bytes] + b"\0" + jws[pair.size_bytes :],
        b"",
        bytes(len(jws)),
        b"\xff" * len(jws),
        jws[::-1],
    ):
        assert not pair.verify(key, wrong, message, Scheme(jws=True)), wrong
    r, s = decode_dss_signature(der)
    for numbers in ((r, s + 1), (s, r), (0, 0), (2**600, 1)):
        assert not pair.verify(key, encode_dss_signature(*numbers), message, Scheme())
    assert not pair.verify(key, der, message + b"x", Scheme())
    assert not pair.verify(key, der, message, Scheme("sha2-512"))


# RFC 6979, A.2.5 to A.2.7: scalar, and r and s of the message "sample".
RFC_6979: list[tuple[Any, ...]] = [
    (
        P256,
        "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
        "sha2-256",
        "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
        "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
    ),
    (
        P256,
        "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
        "sha1",
        "61340c88c3aaebeb4f6d667f672ca9759a6ccaa9fa8811313039ee4a35471d32"
        "6d7f147dac089441bb2e2fe8f7a3fa264b9c475098fdcf6e00d7c996e1b8b7eb",
    ),
    (
        P384,
        "6b9d3dad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d896d5724e4c70a825f872c9ea60d2edf5",
        "sha2-384",
        "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c81a648152e44acf96e36dd1e80fabe46"
        "99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94fa329c145786e679e7b82c71a38628ac8",
    ),
    (
        P521,
        "00fad06daa62ba3b25d2fb40133da757205de67f5bb0018fee8c86e1b68c7e75caa896eb32f1f47c70855836a6d16fcc1466f6d8"
        "fbec67db89ec0c08b0e996b83538",
        "sha2-512",
        "00c328fafcbd79dd77850370c46325d987cb525569fb63c5d3bc53950e6d4c5f174e25a1ee9017b5d450606add152b534931d7d4"
        "e8455cc91f9b15bf05ec36e377fa00617cce7cf5064806c467f678d3b4080d6f1cc50af26ca209417308281b68af282623eaa63e"
        "5b5c0723d8b8c37ff0777b1a20f8ccb1dccc43997f1ee0e44da4a67a",
    ),
]


@pytest.mark.parametrize("vector", RFC_6979, ids=lambda vector: f"{vector[0].shown_name} {vector[2]}")
def test_the_same_key_and_message_give_the_published_signature(vector: tuple[Any, ...]) -> None:
    pair, scalar, hash_name, signature = vector
    private, public = pair.pair_of(int(scalar, 16))
    key = pair.private_key(private)

    assert pair.sign(key, b"sample", Scheme(hash_name, jws=True)).hex() == signature
    der = pair.sign(key, b"sample", Scheme(hash_name))
    assert decode_dss_signature(der)[0] == int(signature[: len(signature) // 2], 16)
    assert pair.verify(pair.public_key(public), der, b"sample", Scheme(hash_name))


def test_every_hash_signs_and_a_digest_signs_like_its_message(entropy: Any) -> None:
    for pair in TYPES.values():
        private, public = pair.make(entropy)
        key, shown = pair.private_key(private), pair.public_key(public)
        for name, library_name in KEYED_ALGORITHMS.items():
            made = pair.sign(key, b"message", Scheme(name))
            digest = hashlib.new(library_name.lower(), b"message").digest()
            assert pair.verify(shown, made, b"message", Scheme(name)), name
            assert pair.verify(shown, made, digest, Scheme(name, prehashed=True)), name
            assert pair.verify(shown, pair.sign(key, digest, Scheme("none", prehashed=True)), b"message", Scheme(name))


def test_a_digest_may_have_any_length(entropy: Any) -> None:
    for pair in TYPES.values():
        private, public = pair.make(entropy)
        key, shown = pair.private_key(private), pair.public_key(public)
        for length in (0, 1, 19, 20, 31, 33, 47, 49, 63, 64):
            digest = bytes(range(1, length + 1))
            made = pair.sign(key, digest, Scheme(prehashed=True))
            assert pair.verify(shown, made, digest, Scheme(prehashed=True)), (pair, length)
            counting = digest[: pair.size_bytes]  # the bits behind these do not count
            assert pair.verify(shown, made, counting, Scheme(prehashed=True)), (pair, length)
            if len(counting) < min(pair.size_bytes, 64):
                assert pair.verify(shown, made, b"\0" + counting, Scheme(prehashed=True)), "the same number"
        if pair is P521:
            with pytest.raises(BadRequest, match="a prehashed input for P-521 has at most 64 bytes, not 65"):
                pair.sign(key, bytes(65), Scheme(prehashed=True))
        else:
            pair.sign(key, bytes(200), Scheme(prehashed=True))


class Drawn:
    """Gives the bytes of one number, as many as are asked for."""

    def __init__(self, number: int) -> None:
        self.number, self.asked = number, 0

    def entropy(self, count: int) -> bytes:
        self.asked = count
        return self.number.to_bytes(count, "big")

    def draw_once(self, kind: str, count: int) -> None:
        return None


def test_every_scalar_can_be_drawn_and_none_beyond_the_order() -> None:
    for pair in TYPES.values():
        order = pair.curve().group_order
        large = order << 32
        for number, scalar in ((0, 1), (order - 2, order - 1), (order - 1, 1), (large, large % (order - 1) + 1)):
            source = Drawn(number)
            private, _ = pair.make(source)
            assert pair.private_key(private).private_numbers().private_value == scalar
            assert source.asked * 8 >= pair.size_bits + 64


def test_a_key_is_made_of_what_was_drawn(entropy: Any) -> None:
    for pair in TYPES.values():
        made = [pair.make(entropy) for _ in range(2)]
        assert made[0] != made[1]
        assert load_pem_public_key(pair.public_text(made[0][1]).encode()) == pair.private_key(made[0][0]).public_key()


@pytest.mark.parametrize(
    ("der", "why"),
    [
        ("", "supplied signature is invalid"),
        ("00", "supplied signature is invalid"),
        ("30", "supplied signature is invalid"),
        ("3081", "supplied signature is invalid"),
        ("30060201ff020101", "supplied signature is invalid"),
        ("300702020001020101", "supplied signature is invalid"),
        ("308106020101020101", "supplied signature is invalid"),
        ("3006020101020101" + "00", "supplied signature contains extra data"),
    ],
)
def test_what_is_no_sequence_of_two_numbers_is_refused(der: str, why: str) -> None:
    with pytest.raises(BadRequest, match=f"^{why}$"):
        check_der(bytes.fromhex(der))
    check_der(bytes.fromhex("3006020101020101"))


@pytest.mark.parametrize("der", ["30060201ff020101", "3006020101020180", "30080202ff7f0202ff7f", "30060201800201ff"])
def test_a_signature_with_a_number_below_zero_is_not_valid(der: str, entropy: Any) -> None:
    _, public = P256.make(entropy)

    assert not P256.verify(P256.public_key(public), bytes.fromhex(der), b"", Scheme("sha2-256"))


@pytest.mark.parametrize(
    "der",
    [
        *("30070202ff80020101", "3005020101020101", "30060201ff02010100", "30060200020101ff", "300302 01ff"),
        *("30060301ff020101", "3009020101020101020180", "30", "3000"),
    ],
)
def test_what_is_below_zero_and_no_sequence_of_two_numbers_is_refused(der: str, entropy: Any) -> None:
    _, public = P256.make(entropy)

    with pytest.raises(BadRequest, match="supplied signature"):
        P256.verify(P256.public_key(public), bytes.fromhex(der), b"", Scheme("sha2-256"))


def test_data_behind_a_long_sequence_is_found_too() -> None:
    long = encode_dss_signature(2**1100 - 1, 1)
    check_der(long)
    with pytest.raises(BadRequest, match=r"^supplied signature contains extra data$"):
        check_der(long + b"\0")
