"""decrypt/<name>: single and batch, real servers' ciphertexts, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labkit import Vault
from labkit.service.encoding import to_base64
from labkit.vault.engines.transit.keyring import Keyring, KeyVersion
from labkit.vault.engines.transit.pairs.rsa import Rsa

VECTORS = json.loads((Path(__file__).parents[4] / "vectors" / "transit_symmetric.json").read_text())["vectors"]
OTHERS = [vector for vector in VECTORS if not vector["case"].startswith("convergent")]

HELLO = to_base64(b"hello world")
CONTEXT = to_base64(b"context one")


@pytest.mark.parametrize("vector", OTHERS, ids=lambda vector: f"{vector['type']}-{vector['case']}")
def test_a_real_servers_ciphertext_decrypts(
    service: Any,
    keyring_of: Callable[..., Keyring],
    put_keyring: Callable[[str, Keyring], None],
    vector: dict[str, str],
) -> None:
    derived = vector["case"].startswith("derived")
    kdf = 1 if vector["case"] == "derived-hkdf" else 0
    put_keyring("old", keyring_of(vector["type"], bytes.fromhex(vector["key_hex"]), derived=derived, kdf=kdf))

    opened = service.post(
        "transit/decrypt/old",
        {
            "ciphertext": vector["ciphertext"],
            "context": vector.get("context_b64"),
            "associated_data": vector.get("aad_b64"),
        },
    )

    assert (opened.status, opened.data) == (200, {"plaintext": vector["plaintext_b64"]})


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({}, "missing ciphertext to decrypt"),
        ({"ciphertext": ""}, "missing ciphertext to decrypt"),
        ({"ciphertext": None}, "missing ciphertext to decrypt"),
        ({"ciphertext": 7}, "invalid ciphertext: no prefix"),
        ({"ciphertext": "vault:v1:"}, "invalid ciphertext length"),
        ({"ciphertext": "vault:v0:aGVsbG8gd29ybGQ="}, "invalid ciphertext length"),
        ({"ciphertext": "vault:v9:aGVsbG8gd29ybGQ="}, "invalid ciphertext: version is too new"),
        ({"ciphertext": "vault:vx:aGVsbG8gd29ybGQ="}, "invalid ciphertext: version number could not be decoded"),
        ({"ciphertext": "v1:aGVsbG8gd29ybGQ="}, "invalid ciphertext: no prefix"),
        ({"ciphertext": "vault:v1:***"}, "invalid ciphertext: could not decode base64"),
        ({"ciphertext": "vault:v1:" + "A" * 80}, "cipher: message authentication failed"),
        ({"ciphertext": "vault:v1:" + "A" * 80, "context": "*"}, "illegal base64 data at input byte 0"),
        ({"batch_input": []}, "missing batch input to process"),
        (
            {"batch_input": [{"ciphertext": 1}]},
            "1 error occurred:\n\t* failed to parse batch input: '[0].ciphertext' expected type 'string', "
            "got unconvertible type 'json.Number'\n\n",
        ),
    ],
)
def test_bad_input_is_refused(service: Any, body: dict[str, Any], why: str) -> None:
    service.post("transit/keys/k")

    refused = service.post("transit/decrypt/k", body)

    assert (refused.status, refused.errors) == (400, [why])


@pytest.mark.parametrize("body", [{"ciphertext": "vault:v1:AAAA"}, {"batch_input": [{"ciphertext": "vault:v1:AAAA"}]}])
def test_a_key_that_is_missing_is_not_made(service: Any, body: dict[str, Any]) -> None:
    refused = service.post("transit/decrypt/none", body)

    assert (refused.status, refused.errors) == (400, ["encryption key not found"])
    assert service.get("transit/keys/none").status == 404


@pytest.mark.parametrize(
    ("body", "why"),
    [({}, "missing ciphertext to decrypt"), ({"batch_input": []}, "missing batch input to process")],
)
def test_what_is_missing_in_the_request_is_told_before_a_missing_key(
    service: Any, body: dict[str, Any], why: str
) -> None:
    assert service.post("transit/decrypt/none", body).errors == [why]


def test_a_batch_tells_each_items_outcome(service: Any) -> None:
    service.post("transit/keys/k")
    text = service.post("transit/encrypt/k", {"plaintext": HELLO}).data["ciphertext"]
    items = [
        {"ciphertext": text, "reference": "good"},
        {"ciphertext": "vault:v1:AAAA"},
        {"ciphertext": "bad"},
        {"reference": "none"},
    ]

    opened = service.post("transit/decrypt/k", {"batch_input": items})

    assert opened.status == 400
    assert opened.data["batch_results"] == [
        {"plaintext": HELLO, "reference": "good"},
        {"plaintext": "", "error": "invalid ciphertext length", "reference": ""},
        {"plaintext": "", "error": "invalid ciphertext: no prefix", "reference": ""},
        {"plaintext": "", "error": "missing ciphertext to decrypt", "reference": "none"},
    ]


# One bad of one, one bad of two, the same with 202 chosen, both bad with 202 chosen.
@pytest.mark.parametrize(
    ("good", "chosen", "status"), [(0, None, 400), (1, None, 400), (1, 202, 202), (0, 202, 400), (2, 202, 200)]
)
def test_the_status_of_a_batch(service: Any, good: int, chosen: int | None, status: int) -> None:
    service.post("transit/keys/k")
    text = service.post("transit/encrypt/k", {"plaintext": HELLO}).data["ciphertext"]
    items = [{"ciphertext": text}] * good + [{"ciphertext": "bad"}] * (2 - good)
    body: dict[str, Any] = {"batch_input": items}
    if chosen:
        body["partial_failure_response_code"] = chosen

    assert service.post("transit/decrypt/k", body).status == status


def test_contexts_are_in_all_items_or_in_none(service: Any) -> None:
    service.post("transit/keys/k", {"derived": True})
    text = service.post("transit/encrypt/k", {"plaintext": HELLO, "context": CONTEXT}).data["ciphertext"]

    refused = service.post(
        "transit/decrypt/k", {"batch_input": [{"ciphertext": text, "context": CONTEXT}, {"ciphertext": text}]}
    )

    assert refused.errors == ["context should be set either in all the request blocks or in none"]


def test_an_old_version_decrypts_down_to_the_minimum(service: Any) -> None:
    service.post("transit/keys/k")
    text = service.post("transit/encrypt/k", {"plaintext": HELLO}).data["ciphertext"]
    service.post("transit/keys/k/rotate")
    assert service.post("transit/decrypt/k", {"ciphertext": text}).data == {"plaintext": HELLO}

    service.post("transit/keys/k/config", {"min_decryption_version": 2})
    refused = service.post("transit/decrypt/k", {"ciphertext": text})
    assert refused.errors == ["ciphertext or signature version is disallowed by policy (too old)"]

    service.post("transit/keys/k/config", {"min_decryption_version": 1})
    assert service.post("transit/decrypt/k", {"ciphertext": text}).data == {"plaintext": HELLO}


def test_another_keys_ciphertext_does_not_decrypt(service: Any) -> None:
    text = service.post("transit/encrypt/a", {"plaintext": HELLO, "type": "chacha20-poly1305"}).data["ciphertext"]
    service.post("transit/keys/b", {"type": "chacha20-poly1305"})

    refused = service.post("transit/decrypt/b", {"ciphertext": text})

    assert refused.errors == ["chacha20poly1305: message authentication failed"]


def test_an_rsa_key_encrypts_decrypts_and_rewraps() -> None:
    vault = Vault.dev(seed=1)
    for name in ("rsa-2048", "rsa-3072", "rsa-4096"):
        vault.post(f"transit/keys/{name}", {"type": name})
        made = vault.post(f"transit/encrypt/{name}", {"plaintext": HELLO}).data
        assert vault.post(f"transit/decrypt/{name}", {"ciphertext": made["ciphertext"]}).data == {"plaintext": HELLO}
        vault.post(f"transit/keys/{name}/rotate")
        moved = vault.post(f"transit/rewrap/{name}", {"ciphertext": made["ciphertext"]}).data
        assert (made["key_version"], moved["key_version"]) == (1, 2)
        items = [{"ciphertext": text} for text in (moved["ciphertext"], made["ciphertext"], "vault:v1:AAAA")]
        answered = vault.post(f"transit/decrypt/{name}", {"batch_input": items})
        results = answered.data["batch_results"]
        assert answered.status == 400
        assert [result["plaintext"] for result in results] == [HELLO, HELLO, ""]
        assert results[2]["error"] == "failed to RSA decrypt the ciphertext: crypto/rsa: decryption error"
        vault.post(f"transit/keys/{name}/config", {"min_decryption_version": 2})
        refused = vault.post(f"transit/decrypt/{name}", {"ciphertext": made["ciphertext"]})
        assert refused.errors == ["ciphertext or signature version is disallowed by policy (too old)"]


def test_what_an_rsa_key_cannot_do_is_refused(
    put_keyring: Callable[[str, Keyring], None], service: Any, entropy: Any
) -> None:
    private, public = Rsa(2_048).make(entropy)
    put_keyring("k", Keyring("rsa-2048", (KeyVersion(private, bytes(32), 0, public=public),)))
    put_keyring("public", Keyring("rsa-2048", (KeyVersion(b"", bytes(32), 0, public=public),), imported=True))
    sealed = service.post("transit/encrypt/public", {"plaintext": HELLO}).data["ciphertext"]
    no_aead = "'[{}].associated_data' provided for non-AEAD cipher suite rsa-2048"
    listed = "1 error occurred:\n\t* {}\n\n"

    assert service.post("transit/decrypt/k", {"ciphertext": sealed}).data == {"plaintext": HELLO}
    no_private = "cannot decrypt ciphertext, key version does not have a private counterpart"
    assert service.post("transit/decrypt/public", {"ciphertext": sealed}).errors == [listed.format(no_private)]
    too_long = "failed to RSA encrypt the plaintext: crypto/rsa: message too long for RSA key size"
    assert service.post("transit/encrypt/k", {"plaintext": to_base64(bytes(191))}).errors == [listed.format(too_long)]
    for path, sent in (("encrypt", {"plaintext": HELLO}), ("decrypt", {"ciphertext": sealed})):
        refused = service.post(f"transit/{path}/k", {**sent, "associated_data": HELLO})
        assert (refused.status, refused.errors) == (400, [no_aead.format(0)])
        answered = service.post(f"transit/{path}/k", {"batch_input": [sent, {**sent, "associated_data": HELLO}]})
        assert answered.data["batch_results"][1]["error"] == no_aead.format(1)
        assert "error" not in answered.data["batch_results"][0]
    refused = service.post("transit/encrypt/k", {"plaintext": HELLO, "nonce": to_base64(bytes(12))})
    assert refused.errors == ["provided nonce not allowed for this key"]
    for name in ("ed25519", "ecdsa-p256"):
        service.post(f"transit/keys/{name}", {"type": name})
        refused = service.post(f"transit/decrypt/{name}", {"ciphertext": sealed})
        assert refused.errors == [f"message decryption not supported for key type {name}"]
