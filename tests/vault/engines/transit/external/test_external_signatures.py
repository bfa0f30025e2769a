"""Signing and verifying with external keys, by the scheme of their mechanism."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from labkit.service.encoding import to_base64

DIGEST = to_base64(sha256(b"hi").digest())


@pytest.mark.parametrize("name", ["ec", "pss"])
@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"marshaling_algorithm": "jws"},
        {"hash_algorithm": "sha2-512"},
        {"input": DIGEST, "prehashed": True},
        {"input": DIGEST, "hash_algorithm": "none"},
        {"salt_length": "hash"},
    ],
)
def test_what_was_signed_is_valid_and_nothing_else(managed: Any, name: str, extra: dict[str, Any]) -> None:
    sent = {"input": "aGk=", **extra}

    made = managed.post(f"transit/sign/{name}", sent)

    assert (made.status, made.data["key_version"]) == (200, 1)
    signature = made.data["signature"]
    verified = managed.post(f"transit/verify/{name}", {**sent, "signature": signature})
    assert verified.data == {"valid": True}
    other = to_base64(sha256(b"ho").digest()) if "input" in extra else "aG8="
    assert managed.post(f"transit/verify/{name}", {**sent, "input": other, "signature": signature}).data == {
        "valid": False
    }
    for cut in (signature[:-8], "vault:v1:"):
        assert managed.post(f"transit/verify/{name}", {**sent, "signature": cut}).data == {"valid": False}


def test_a_key_of_another_size_than_its_record_says_signs_for_jws_too(managed: Any) -> None:
    """The size is for a key that is made; one that the store has already has its own."""
    managed.keystore.generate("larger", "CKM_ECDSA", 521)
    managed.post("sys/managed-keys/pkcs11/larger", {"key_label": "larger", "mechanism": "CKM_ECDSA"})
    managed.post("transit/keys/larger", {"type": "managed_key", "managed_key_name": "larger"})
    sent = {"input": "aGk=", "marshaling_algorithm": "jws"}

    made = managed.post("transit/sign/larger", sent)

    assert (made.status, len(made.data["signature"])) == (200, len("vault:v1:") + 132 * 8 // 6)
    assert managed.post("transit/verify/larger", {**sent, **made.data}).data == {"valid": True}


REFUSED: list[Any] = [
    ("sign/ec", {}, "missing input"),
    ("sign/ec", {"input": "?"}, "unable to decode input as base64"),
    ("sign/ec", {"input": "aGk=", "hash_algorithm": "md5"}, 'invalid hash algorithm "md5"'),
    ("sign/ec", {"input": "aGk=", "hash_algorithm": "none"}, "none has 2 bytes"),
    ("sign/ec", {"input": "aGk=", "prehashed": True}, "a digest of sha2-256 has 32 bytes, got 2"),
    ("sign/ec", {"input": "aGk=", "key_version": 2}, "higher than the latest"),
    ("sign/aes", {"input": "aGk="}, "the managed key aes is used to encrypt and decrypt, not to sign"),
    ("verify/ec", {"input": "aGk=", "signature": "AAAA"}, "no prefix"),
    ("verify/ec", {"input": "aGk=", "signature": "vault:v2:AAAA"}, "version is too new"),
    ("verify/ec", {"input": "aGk=", "signature": "vault:v1:?"}, "invalid base64 signature value"),
]


def test_what_is_refused(managed: Any) -> None:
    for path, sent, why in REFUSED:
        refused = managed.post(f"transit/{path}", sent)

        assert (refused.status, why in refused.errors[0]) == (400, True), (sent, why, refused.errors)


def test_batches_keep_order_and_references(managed: Any) -> None:
    items = [{"input": "aGk=", "reference": "a"}, {"input": "?"}, {"input": "aG8="}]

    made = managed.post("transit/sign/ec/sha2-384", {"batch_input": items})

    results = made.data["batch_results"]
    assert (made.status, [sorted(result) for result in results]) == (
        400,
        [
            ["key_version", "reference", "signature"],
            ["error", "key_version", "reference"],
            ["key_version", "reference", "signature"],
        ],
    )
    signed = [{**items[place], "signature": results[place]["signature"]} for place in (0, 2)]
    signed.append({**signed[0], "input": "aG8="})
    verified = managed.post("transit/verify/ec/sha2-384", {"batch_input": signed}).data["batch_results"]
    assert [(result["valid"], result["reference"]) for result in verified] == [(True, "a"), (True, ""), (False, "a")]
