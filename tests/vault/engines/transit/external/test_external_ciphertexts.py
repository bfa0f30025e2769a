"""Encrypting and decrypting with external keys: an IV for AES, none for RSA; alone and in batches."""

from __future__ import annotations

from typing import Any

import pytest

NONCE, OTHER = "AAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAB"


@pytest.mark.parametrize(
    ("name", "extra"), [("aes", {"nonce": NONCE}), ("aes", {"nonce": NONCE, "associated_data": "YQ=="}), ("oaep", {})]
)
def test_what_goes_in_comes_out(managed: Any, name: str, extra: dict[str, str]) -> None:
    made = managed.post(f"transit/encrypt/{name}", {"plaintext": "aGk=", **extra})

    assert made.data["key_version"] == 1
    assert made.data["ciphertext"].startswith("vault:v1:")
    opened = managed.post(f"transit/decrypt/{name}", {"ciphertext": made.data["ciphertext"], **extra})
    assert opened.data == {"plaintext": "aGk="}


REFUSED_TO_ENCRYPT: list[Any] = [
    ("aes", {"plaintext": "aGk="}, "mechanism CKM_AES_GCM needs an IV of 12 bytes for each message"),
    ("aes", {"plaintext": "aGk=", "nonce": "YQ=="}, "got 1 bytes"),
    ("aes", {"plaintext": "aGk=", "nonce": "?"}, "illegal base64 data at input byte 0"),
    ("aes", {"plaintext": "?", "nonce": NONCE}, "illegal base64 data at input byte 0"),
    ("aes", {"nonce": NONCE}, "missing plaintext to encrypt"),
    ("aes", {"plaintext": "aGk=", "nonce": NONCE, "key_version": 2}, "higher than the latest"),
    ("oaep", {"plaintext": "aGk=", "nonce": NONCE}, "provided nonce not allowed for this key"),
    ("oaep", {"plaintext": "aGk=", "associated_data": "YQ=="}, "associated_data provided"),
    ("oaep", {"plaintext": "A" * 400}, "too long for this key"),
    ("ec", {"plaintext": "aGk="}, "the managed key ec is used to sign and verify, not to encrypt"),
]


def test_what_encrypt_refuses(managed: Any) -> None:
    for name, sent, why in REFUSED_TO_ENCRYPT:
        refused = managed.post(f"transit/encrypt/{name}", sent)

        assert (refused.status, why in refused.errors[0]) == (400, True), (sent, why, refused.errors)


REFUSED_TO_DECRYPT: list[Any] = [
    ({"nonce": NONCE}, "missing ciphertext to decrypt"),
    ({"ciphertext": "v1:AAAA", "nonce": NONCE}, "no prefix"),
    ({"ciphertext": "vault:v2:AAAA", "nonce": NONCE}, "version is too new"),
    ({"ciphertext": "vault:v1:A", "nonce": NONCE}, "could not decode base64"),
    ({"ciphertext": "vault:v1:AAAA"}, "needs an IV of 12 bytes"),
    ({"ciphertext": "vault:v1:AAAA", "nonce": NONCE}, "message authentication failed"),
]


def test_what_decrypt_refuses(managed: Any) -> None:
    for sent, why in REFUSED_TO_DECRYPT:
        refused = managed.post("transit/decrypt/aes", sent)

        assert (refused.status, why in refused.errors[0]) == (400, True), (sent, why, refused.errors)


def test_a_batch_keeps_order_and_references_and_the_callers_status(managed: Any) -> None:
    items = [
        {"plaintext": "aGk=", "nonce": NONCE, "reference": "a"},
        {"plaintext": "aGk=", "reference": "b"},
        {"plaintext": "aG8=", "nonce": OTHER},
    ]

    made = managed.post("transit/encrypt/aes", {"batch_input": items, "partial_failure_response_code": 202})

    assert made.status == 202
    results = made.data["batch_results"]
    assert [result["reference"] for result in results] == ["a", "b", ""]
    assert "needs an IV" in results[1]["error"]
    storeds = [{"ciphertext": results[place]["ciphertext"], "nonce": items[place]["nonce"]} for place in (2, 0)]
    opened = managed.post("transit/decrypt/aes", {"batch_input": storeds})
    assert [result["plaintext"] for result in opened.data["batch_results"]] == ["aG8=", "aGk="]
    assert managed.post("transit/decrypt/aes", {"batch_input": []}).status == 400


def test_each_version_is_decrypted_by_the_managed_key_that_made_it(managed: Any) -> None:
    sent = {"plaintext": "aGk=", "nonce": NONCE}
    old = managed.post("transit/encrypt/aes", sent).data["ciphertext"]
    managed.post("sys/managed-keys/pkcs11/next", {"key_label": "n", "mechanism": "0x1087", "allow_generate_key": True})
    managed.post("transit/keys/aes/rotate", {"managed_key_name": "next"}).raise_for_status()
    new = managed.post("transit/encrypt/aes", sent).data

    assert new["key_version"] == 2
    for ciphertext in (old, new["ciphertext"]):
        assert managed.post("transit/decrypt/aes", {"ciphertext": ciphertext, "nonce": NONCE}).ok
    assert managed.post("transit/encrypt/aes", {**sent, "key_version": 1}).data["ciphertext"] == old
    managed.post("transit/keys/aes/config", {"min_decryption_version": 2})
    refused = managed.post("transit/decrypt/aes", {"ciphertext": old, "nonce": NONCE})
    assert "too old" in refused.errors[0]
