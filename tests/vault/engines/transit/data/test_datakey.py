"""``datakey``: keys for the caller's own use, and who may see them in the clear."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from labkit import Vault
from labkit.vault.engines.transit.keyring import Keyring

CONTEXT = "Y29udGV4dC0x"
NONCE = "b25ldHdvdGhyZWVl"


def test_the_key_is_what_the_ciphertext_decrypts_to(service: Any) -> None:
    for key_type in ("aes128-gcm96", "aes256-gcm96", "chacha20-poly1305", "rsa-2048"):
        service.post(f"transit/keys/{key_type}", {"type": key_type})
        for body, size in (({}, 32), ({"bits": 128}, 16), ({"bits": "256"}, 32), ({"bits": 512}, 64)):
            made = service.post(f"transit/datakey/plaintext/{key_type}", body).data
            opened = service.post(f"transit/decrypt/{key_type}", {"ciphertext": made["ciphertext"]}).data
            assert len(base64.b64decode(made["plaintext"])) == size
            assert opened == {"plaintext": made["plaintext"]}
            assert made["key_version"] == 1
            wrapped = service.post(f"transit/datakey/wrapped/{key_type}", body).data
            assert sorted(wrapped) == ["ciphertext", "key_version"]
            opened = service.post(f"transit/decrypt/{key_type}", {"ciphertext": wrapped["ciphertext"]}).data
            assert len(base64.b64decode(opened["plaintext"])) == size


def test_a_policy_allows_the_wrapped_form_and_refuses_the_plain_one(service: Any) -> None:
    service.post("transit/keys/k")
    service.post("transit/datakey/plaintext/k")
    rules = 'path "transit/datakey/wrapped/*" { capabilities = ["update"] }'
    service.post("sys/policies/acl/wrapped", {"policy": rules})
    token = service.post("auth/token/create", {"policies": ["wrapped"], "no_default_policy": True}).auth["client_token"]

    assert service.post("transit/datakey/wrapped/k", token=token).ok
    refused = service.post("transit/datakey/plaintext/k", token=token)
    assert (refused.status, refused.data) == (403, None)
    assert service.post("transit/datakey/plaintext/k").ok


def test_contexts_nonces_and_versions_are_those_of_encrypt(
    service: Any, keyring_of: Callable[..., Keyring], put_keyring: Callable[[str, Keyring], None]
) -> None:
    first_kind = {"derived": True, "kdf": 1, "convergent_encryption": True, "convergent_version": 1}
    put_keyring("old", keyring_of("aes256-gcm96", bytes(32), b"\x01" * 32, **first_kind))
    sent = {"context": CONTEXT, "nonce": NONCE}

    made = service.post("transit/datakey/plaintext/old", {**sent, "key_version": 1}).data

    assert made["key_version"] == 1
    opened = service.post("transit/decrypt/old", {"ciphertext": made["ciphertext"], **sent}).data
    assert opened == {"plaintext": made["plaintext"]}
    service.post("transit/keys/conv", {"derived": True, "convergent_encryption": True})
    made = service.post("transit/datakey/plaintext/conv", {"context": CONTEXT}).data
    same = service.post("transit/encrypt/conv", {"plaintext": made["plaintext"], "context": CONTEXT}).data
    assert same["ciphertext"] == made["ciphertext"]


def test_each_refusal_in_its_order(
    service: Any, keyring_of: Callable[..., Keyring], put_keyring: Callable[[str, Keyring], None]
) -> None:
    service.post("transit/keys/k")
    service.post("transit/keys/derived", {"derived": True})
    service.post("transit/keys/mac", {"type": "hmac"})
    first_kind = {"derived": True, "kdf": 1, "convergent_encryption": True, "convergent_version": 1}
    put_keyring("old", keyring_of("aes256-gcm96", bytes(32), **first_kind))
    wrong = {"context": "*", "nonce": "*", "bits": 100}
    for path, body, text in (
        ("other/none", wrong, "Invalid path, must be 'plaintext' or 'wrapped'"),
        ("plaintext/none", wrong, "failed to base64-decode context"),
        ("plaintext/none", wrong | {"context": CONTEXT}, "failed to base64-decode nonce"),
        ("wrapped/none", {"bits": 100}, "encryption key not found"),
        ("plaintext/k", {"bits": 100, "nonce": NONCE}, "invalid bit length"),
        ("plaintext/k", {"bits": 0}, "invalid bit length"),
        ("plaintext/k", {"nonce": NONCE}, "nonce provided when not allowed"),
        ("plaintext/k", {"key_version": 2}, "requested version for encryption is higher than the latest key version"),
        ("plaintext/k", {"key_version": -1}, "requested version for encryption is negative"),
        ("plaintext/mac", {}, "message encryption not supported for key type hmac"),
        (
            "wrapped/old",
            {"context": CONTEXT, "nonce": "YQ=="},
            "base64-decoded nonce must be 12 bytes long when using convergent encryption with this key",
        ),
    ):
        refused = service.post(f"transit/datakey/{path}", body)
        assert (refused.status, refused.errors) == (400, [text])
    refused = service.post("transit/datakey/wrapped/derived")
    assert refused.errors[0].startswith("missing 'context' for key derivation")
    assert service.get("transit/keys/none").status == 404


def test_of_a_seed_they_are_the_same_each_time() -> None:
    made = []
    for _ in range(2):
        vault = Vault.dev(seed=7)
        vault.post("transit/keys/k")
        made.append([vault.post("transit/datakey/plaintext/k").data for _ in range(2)])
    assert made[0] == made[1]
    assert made[0][0] != made[0][1]
