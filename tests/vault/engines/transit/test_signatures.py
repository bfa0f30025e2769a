"""Signatures under a keyring: the envelope, the versions, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit.service.encoding import to_base64
from labkit.vault.engines.transit import signatures
from labkit.vault.engines.transit.keyring import Keyring, KeyVersion, rotate
from labkit.vault.engines.transit.pairs.ed25519 import pair_of
from labkit.vault.engines.transit.pairs.key_pairs import Scheme

INPUT = to_base64(b"the quick brown fox")
ASN1 = "vault:v1:OZORekOQiAkX+r0lQwgpVDF+nm4IFKGAnX15wMqffzhClKn67u/NbsuGqOqrCgYylUgQZYM2rgXPBuGAea7mDA=="
JWS = "vault:v1:OZORekOQiAkX-r0lQwgpVDF-nm4IFKGAnX15wMqffzhClKn67u_NbsuGqOqrCgYylUgQZYM2rgXPBuGAea7mDA"


def known_keyring(**settings: Any) -> Keyring:
    private, public = pair_of(bytes(range(32)))
    return Keyring("ed25519", (KeyVersion(private, bytes(32), 0, public=public),), **settings)


@pytest.fixture
def known(service: Any, put_keyring: Callable[[str, Keyring], None]) -> Any:
    """A service with a signing key k, a derived one, and one of which only the public half is known."""
    put_keyring("k", known_keyring())
    put_keyring("derived", known_keyring(derived=True, kdf=1))
    (entry,) = known_keyring().versions
    put_keyring("public", Keyring("ed25519", (entry._replace(key=b""),), imported=True))
    return service


def test_signatures_are_those_of_real_servers(known: Any) -> None:
    assert known.post("transit/sign/k", {"input": INPUT}).data == {"signature": ASN1, "key_version": 1}
    jws = {"input": INPUT, "marshaling_algorithm": "jws"}
    assert known.post("transit/sign/k", jws).data["signature"] == JWS
    assert known.post("transit/verify/k", {**jws, "signature": JWS}).data == {"valid": True}
    assert known.post("transit/verify/public", {"input": INPUT, "signature": ASN1}).data == {"valid": True}


def test_a_derived_key_signs_with_the_pair_of_the_context_and_shows_its_public_half(known: Any) -> None:
    sent = {"input": INPUT, "context": to_base64(b"context-1")}
    made = known.post("transit/sign/derived", sent).data
    public = "Bxt54DbRV32vGQJixSn6XKUVoYMqxqB5IuxAg+LdW8Q="

    assert made["public_key"] == public
    assert made["signature"].startswith("vault:v1:HaU5kavLkL1JjWZa4eiO689i347r3")
    (item,) = known.post("transit/sign/derived", {"batch_input": [sent]}).data["batch_results"]
    assert item == {**{name: made[name] for name in ("signature", "key_version")}, "publickey": public, "reference": ""}
    assert known.post("transit/verify/derived", {**sent, "signature": made["signature"]}).data == {"valid": True}
    other = {**sent, "context": to_base64(b"context-2")}
    assert known.post("transit/verify/derived", {**other, "signature": made["signature"]}).data == {"valid": False}
    shown = known.get(f"transit/keys/derived?context={sent['context']}").data["keys"]["1"]
    assert shown["public_key"] == public
    assert known.get("transit/keys/derived").data["keys"]["1"]["public_key"] == ""
    assert known.get("transit/keys/derived?context=*").errors == ["failed to base64-decode context"]


def test_a_prepared_half_is_kept_with_the_keyring_and_not_with_its_successor(entropy: Any) -> None:
    keyring = known_keyring()
    made = signatures.sign(keyring, Scheme(), INPUT, None, 0)
    again = signatures.sign(keyring, Scheme(), INPUT, None, 0)
    rotated = rotate(keyring, entropy, 5)

    assert made == again
    assert signatures.verify(keyring, Scheme(), {"input": INPUT, "signature": made["signature"]})
    assert (len(keyring.signers), len(keyring.verifiers)) == (1, 1)
    assert {*rotated.signers, *rotated.verifiers} == set()
    assert signatures.sign(rotated, Scheme(), INPUT, None, 0)["key_version"] == 2
    assert signatures.sign(rotated, Scheme(), INPUT, None, 1) == made


@pytest.mark.parametrize("unread", ["algorithm", "hash_algorithm"])
def test_long_texts_that_are_not_read_are_not_kept(known: Any, unread: str) -> None:
    path = "k/sha2-256" if unread == "hash_algorithm" else "k"
    sent = {"hash_algorithm": "sha2-256", "input": INPUT, unread: "x" * 1_000}
    assert known.post(f"transit/sign/{path}", sent).data["signature"] == ASN1

    assert max(len(str(member)) for how in signatures._schemes[False] for member in how) < 100


# In the API's order: each request has this mistake and all that are judged later.
BAD_SCHEMES = [
    ({"hash_algorithm": "x", "marshaling_algorithm": "x"}, 'invalid hash algorithm "x"'),
    ({"hash_algorithm": "", "algorithm": "md5"}, 'invalid hash algorithm "md5"'),
    ({"marshaling_algorithm": "x", "salt_length": "bar"}, 'invalid marshaling type "x"'),
    ({"salt_length": "bar"}, "salt length neither 'auto', 'hash', nor an int: bar"),
    ({"salt_length": ""}, "salt length neither 'auto', 'hash', nor an int: "),
    ({"salt_length": "-2"}, "salt length is invalid: -2"),
]
ONLY_UNHASHED = "hash_algorithm=none requires both prehashed=true and signature_algorithm=pkcs1v15"
BAD_INPUTS = [
    ({"hash_algorithm": "none", "batch_input": []}, ONLY_UNHASHED),
    ({"hash_algorithm": "none", "prehashed": True, "batch_input": []}, ONLY_UNHASHED),
    ({"context": "*"}, "missing input"),
    ({"input": "*", "context": "*"}, "unable to decode input as base64: illegal base64 data at input byte 0"),
]
LISTED = "1 error occurred:\n\t* {}\n\n"


@pytest.mark.parametrize(
    ("path", "body", "why"),
    [
        *[("none", body, why) for body, why in BAD_SCHEMES],
        ("none", {"hash_algorithm": "none"}, "signing key not found"),
        ("aes", {"hash_algorithm": "none"}, "key type aes256-gcm96 does not support signing"),
        *[("k", body, why) for body, why in BAD_INPUTS],
        ("k", {"batch_input": []}, "missing batch input to process"),
        ("k", {"input": INPUT, "context": "*", "key_version": -1}, "failed to base64-decode context"),
        ("k", {"input": INPUT, "key_version": -1}, LISTED.format("requested version for signing is negative")),
        (
            "k",
            {"input": INPUT, "key_version": 2},
            LISTED.format("requested version for signing is higher than the latest key version"),
        ),
        (
            "public",
            {"input": INPUT},
            LISTED.format("requested version for signing does not contain a private part"),
        ),
    ],
)
def test_what_cannot_be_signed_is_refused(known: Any, path: str, body: dict[str, Any], why: str) -> None:
    known.post("transit/keys/aes")

    refused = known.post(f"transit/sign/{path}", body)

    assert (refused.status, refused.errors) == (400, [why])


def test_a_derived_key_wants_a_context(known: Any) -> None:
    for path, sent in (("sign", {}), ("verify", {"signature": ASN1})):
        refused = known.post(f"transit/{path}/derived", {"input": INPUT, **sent})
        assert refused.status == 400
        assert "* error deriving key: missing 'context' for key derivation; " in refused.errors[0]


def test_minimums_hold_for_signatures(known: Any) -> None:
    known.post("transit/keys/k/rotate")
    known.post("transit/keys/k/config", {"min_encryption_version": 2})
    refused = known.post("transit/sign/k", {"input": INPUT, "key_version": 1})
    assert refused.errors == [
        LISTED.format("requested version for signing is less than the minimum encryption key version")
    ]
    assert known.post("transit/verify/k", {"input": INPUT, "signature": ASN1}).data == {"valid": True}

    known.post("transit/keys/k/config", {"min_decryption_version": 2})
    refused = known.post("transit/verify/k", {"input": INPUT, "signature": ASN1})
    assert refused.errors == ["ciphertext or signature version is disallowed by policy (too old)"]
    known.post("transit/keys/k/config", {"min_encryption_version": 0})
    refused = known.post("transit/sign/k", {"input": INPUT, "key_version": 1})
    assert refused.errors == [LISTED.format("no such key version")]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        *BAD_SCHEMES,
        *BAD_INPUTS[:2],
        ({}, "missing input"),
        ({"input": "*"}, "unable to decode input as base64: illegal base64 data at input byte 0"),
        ({"input": INPUT, "context": "*"}, "failed to base64-decode context"),
        ({"input": INPUT, "signature": ""}, "invalid signature: no prefix"),
        ({"input": INPUT, "signature": "vault:v1"}, "invalid signature: wrong number of fields"),
        ({"input": INPUT, "signature": "vault:v1.5:*"}, "invalid signature: version number could not be decoded"),
        ({"input": INPUT, "signature": "vault:v2:*"}, "invalid signature: version is too new"),
        (
            {"input": INPUT, "signature": "vault:v0:*"},
            "ciphertext or signature version is disallowed by policy (too old)",
        ),
        ({"input": INPUT, "signature": "vault:v1:*"}, "invalid base64 signature value"),
        ({"input": INPUT, "signature": JWS}, "invalid base64 signature value"),
        ({"input": INPUT, "signature": ASN1, "marshaling_algorithm": "jws"}, "invalid base64 signature value"),
    ],
)
def test_what_cannot_be_read_as_a_signature_is_refused(known: Any, body: dict[str, Any], why: str) -> None:
    refused = known.post(
        "transit/verify/k", {"signature": "x", **{k: v for k, v in body.items() if k != "batch_input"}}
    )

    assert (refused.status, refused.errors) == (400, [why])
