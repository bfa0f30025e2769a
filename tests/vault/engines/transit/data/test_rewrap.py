"""rewrap/<name>: to the latest version without showing a plaintext."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit.service.encoding import to_base64
from labkit.vault.engines.transit.keyring import Keyring

HELLO = to_base64(b"hello world")
CONTEXT = to_base64(b"context one")
NONCE = to_base64(b"onetwothreee")


def sealed(service: Any, name: str = "k", **sent: Any) -> str:
    text: str = service.post(f"transit/encrypt/{name}", {"plaintext": HELLO, **sent}).data["ciphertext"]
    return text


def test_a_ciphertext_moves_to_the_latest_version(service: Any) -> None:
    old = sealed(service)
    service.post("transit/keys/k/rotate")

    made = service.post("transit/rewrap/k", {"ciphertext": old})

    assert made.status == 200
    assert sorted(made.data) == ["ciphertext", "key_version"]
    assert made.data["key_version"] == 2
    assert made.data["ciphertext"].startswith("vault:v2:")
    assert service.post("transit/decrypt/k", {"ciphertext": made.data["ciphertext"]}).data == {"plaintext": HELLO}


def test_even_the_latest_version_gets_a_new_nonce(service: Any) -> None:
    old = sealed(service)

    assert service.post("transit/rewrap/k", {"ciphertext": old}).data["ciphertext"] != old


def test_another_version_may_be_asked_for(service: Any) -> None:
    old = sealed(service)
    service.post("transit/keys/k/rotate")

    assert service.post("transit/rewrap/k", {"ciphertext": old, "key_version": 1}).data["key_version"] == 1
    service.post("transit/keys/k/config", {"min_encryption_version": 2})
    refused = service.post("transit/rewrap/k", {"ciphertext": old, "key_version": 1})
    assert refused.errors == ["requested version for encryption is less than the minimum encryption key version"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({}, "missing ciphertext to decrypt"),
        ({"ciphertext": ""}, "missing ciphertext to decrypt"),
        ({"ciphertext": "bad"}, "invalid ciphertext: no prefix"),
        ({"ciphertext": "vault:v2:AAAA"}, "invalid ciphertext: version is too new"),
        ({"ciphertext": "bad", "nonce": NONCE}, "provided nonce not allowed for this key"),
        ({"ciphertext": "bad", "context": "*"}, "illegal base64 data at input byte 0"),
        ({"batch_input": []}, "missing batch input to process"),
        (
            {"batch_input": [{"ciphertext": "x", "key_version": "1"}]},
            "1 error occurred:\n\t* failed to parse batch input: '[0].key_version' expected type 'int', "
            "got unconvertible type 'string'\n\n",
        ),
    ],
)
def test_bad_input_is_refused(service: Any, body: dict[str, Any], why: str) -> None:
    service.post("transit/keys/k")

    refused = service.post("transit/rewrap/k", body)

    assert (refused.status, refused.errors) == (400, [why])


@pytest.mark.parametrize("body", [{"ciphertext": "vault:v1:AAAA"}, {"batch_input": [{"ciphertext": "vault:v1:AAAA"}]}])
def test_a_key_that_is_missing_is_not_made(service: Any, body: dict[str, Any]) -> None:
    refused = service.post("transit/rewrap/none", body)

    assert (refused.status, refused.errors) == (400, ["encryption key not found"])
    assert service.get("transit/keys/none").status == 404


def test_associated_data_cannot_be_rewrapped(service: Any) -> None:
    old = sealed(service, associated_data="YWFk")

    alone = service.post("transit/rewrap/k", {"ciphertext": old, "associated_data": "YWFk"})
    batch = service.post("transit/rewrap/k", {"batch_input": [{"ciphertext": old, "associated_data": "YWFk"}]})

    assert alone.errors == ["cipher: message authentication failed"]
    assert batch.data["batch_results"][0]["error"] == "cipher: message authentication failed"


@pytest.mark.parametrize(
    ("body", "why"),
    [({}, "missing ciphertext to decrypt"), ({"batch_input": []}, "missing batch input to process")],
)
def test_what_is_missing_in_the_request_is_told_before_a_missing_key(
    service: Any, body: dict[str, Any], why: str
) -> None:
    assert service.post("transit/rewrap/none", body).errors == [why]


def test_a_batch_tells_each_items_outcome(service: Any) -> None:
    old = sealed(service)
    service.post("transit/keys/k/rotate")
    items = [
        {"ciphertext": old, "reference": "a"},
        {"ciphertext": old, "key_version": 1},
        {"ciphertext": "bad", "reference": "c"},
        {"reference": "d"},
    ]

    made = service.post("transit/rewrap/k", {"batch_input": items})

    assert made.status == 400
    first, second, third, fourth = made.data["batch_results"]
    assert (first["key_version"], first["reference"]) == (2, "a")
    assert (second["key_version"], second["reference"]) == (1, "")
    assert third == {"error": "invalid ciphertext: no prefix", "reference": "c"}
    assert fourth == {"error": "missing ciphertext to decrypt", "reference": "d"}
    assert service.post("transit/decrypt/k", {"ciphertext": first["ciphertext"]}).data == {"plaintext": HELLO}


def test_a_batch_without_failures_is_200(service: Any) -> None:
    old = sealed(service)

    assert service.post("transit/rewrap/k", {"batch_input": [{"ciphertext": old}] * 3}).status == 200


def test_a_derived_key_rewraps_within_its_context(service: Any) -> None:
    service.post("transit/keys/k", {"derived": True})
    old = sealed(service, context=CONTEXT)
    service.post("transit/keys/k/rotate")

    made = service.post("transit/rewrap/k", {"ciphertext": old, "context": CONTEXT}).data

    opened = service.post("transit/decrypt/k", {"ciphertext": made["ciphertext"], "context": CONTEXT})
    assert (made["key_version"], opened.data) == (2, {"plaintext": HELLO})


def test_the_first_convergent_kind_keeps_its_nonce(
    service: Any, keyring_of: Callable[..., Keyring], put_keyring: Callable[[str, Keyring], None]
) -> None:
    settings = {"derived": True, "kdf": 1, "convergent_encryption": True, "convergent_version": 1}
    put_keyring("old", keyring_of("aes256-gcm96", bytes(32), b"\x01" * 32, **settings))
    sent = {"context": CONTEXT, "nonce": NONCE}
    first = sealed(service, "old", key_version=1, **sent)

    made = service.post("transit/rewrap/old", {"ciphertext": first, **sent}).data["ciphertext"]

    assert made == sealed(service, "old", **sent)
