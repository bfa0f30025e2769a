"""verify/<name>: which of the two is verified, and batches of either."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest

from labkit import Vault
from labkit.service.encoding import to_base64
from labkit.vault.engines.transit.hash_algorithms import KEYED_ALGORITHMS, algorithm

INPUT = to_base64(b"the quick brown fox")
OTHER = to_base64(b"another fox")


@pytest.fixture
def made(service: Any) -> tuple[str, str]:
    """A signature and an HMAC over the input, made with the key k."""
    service.post("transit/keys/k", {"type": "ed25519"})
    service.post("transit/keys/aes")
    signature = service.post("transit/sign/k", {"input": INPUT}).data["signature"]
    return signature, service.post("transit/hmac/k", {"input": INPUT}).data["hmac"]


def test_data_that_was_not_signed_is_not_valid(service: Any, made: tuple[str, str]) -> None:
    for member, text in zip(("signature", "hmac"), made, strict=True):
        assert service.post("transit/verify/k", {"input": INPUT, member: text}).data == {"valid": True}
        assert service.post("transit/verify/k", {"input": OTHER, member: text}).data == {"valid": False}


def test_which_of_the_two_is_verified_is_judged_before_the_key(service: Any, made: tuple[str, str]) -> None:
    signature, hmac = made
    both, neither = {"signature": "", "hmac": ""}, {"input": INPUT}
    refusals = [
        (both, "provide one of 'signature' or 'hmac'"),
        (neither, "neither a 'signature' nor an 'hmac' were given to verify"),
        ({"batch_input": []}, "missing batch input to process"),
        (
            {"batch_input": [{"signature": signature}, {"hmac": hmac}, {}]},
            "elements of batch_input must all provide 'signature' or all provide 'hmac'",
        ),
        ({"batch_input": [{"signature": signature}, {}]}, "some elements of batch_input are missing 'signature'"),
        ({"batch_input": [{"hmac": hmac}, {}]}, "some elements of batch_input are missing 'hmac'"),
        ({"batch_input": [{"input": INPUT}]}, "no batch_input elements have 'signature' or 'hmac'"),
        ({"signature": signature}, "signature verification key not found"),
        ({"hmac": hmac}, "encryption key not found"),
    ]
    for body, why in refusals:
        refused = service.post("transit/verify/none", body)
        assert (refused.status, refused.errors) == (400, [why]), body
    refused = service.post("transit/verify/aes", {"signature": signature})
    assert (refused.status, refused.errors) == (400, ["key type aes256-gcm96 does not support verification"])


def test_a_batch_answers_each_item(service: Any, made: tuple[str, str]) -> None:
    for member, text in zip(("signature", "hmac"), made, strict=True):
        good = {"input": INPUT, member: text, "reference": "a"}
        false = {"input": OTHER, member: text}
        answered = service.post("transit/verify/k", {"batch_input": [good, false]})
        assert answered.status == 200
        assert answered.data["batch_results"] == [
            {"valid": True, "reference": "a"},
            {"valid": False, "reference": ""},
        ]
        bad = service.post("transit/verify/k", {"batch_input": [{member: text}, good, {"input": INPUT, member: "x"}]})
        assert bad.status == 400
        errors = [item.get("error", "") for item in bad.data["batch_results"]]
        assert (errors[0], errors[1], errors[2][-9:]) == ("missing input", "", "no prefix")
        assert [item["valid"] for item in bad.data["batch_results"]] == [False, True, False]


def test_an_item_with_both_is_a_signature(service: Any, made: tuple[str, str]) -> None:
    signature, hmac = made
    item = {"input": INPUT, "signature": signature, "hmac": "vault:v1:AAAA"}

    answered = service.post("transit/verify/k", {"batch_input": [item]})

    assert answered.data["batch_results"] == [{"valid": True, "reference": ""}]
    assert hmac != signature


def schemes(key_type: str) -> Iterator[dict[str, Any]]:
    """Every way in which a type signs; the input of one that takes a digest is a digest."""
    rsa = [
        {"signature_algorithm": "pkcs1v15"},
        *({"salt_length": salt} for salt in ("auto", "hash", "1", "AUTO", "-1")),
    ]
    for hash_name in KEYED_ALGORITHMS:
        digest = to_base64(bytes(algorithm(hash_name).digest_size))
        for marshaling in ("asn1", "jws"):
            for prehashed in (False, True):
                for beside in rsa if key_type.startswith("rsa") else [{}]:
                    yield {
                        "input": digest if prehashed else INPUT,
                        "hash_algorithm": hash_name,
                        "marshaling_algorithm": marshaling,
                        "prehashed": prehashed,
                        **beside,
                    }


def test_what_is_signed_in_any_way_is_valid_in_that_way_and_for_no_other_input() -> None:
    vault = Vault.dev(seed=1)
    for key_type in ("ed25519", "ecdsa-p256", "ecdsa-p384", "ecdsa-p521", "rsa-2048"):
        vault.post(f"transit/keys/{key_type}", {"type": key_type})
        for scheme in schemes(key_type):
            made = vault.post(f"transit/sign/{key_type}", scheme).raise_for_status().data["signature"]
            other = {**scheme, "input": to_base64(b"x" + b64decode(scheme["input"])[1:])}
            assert vault.post(f"transit/verify/{key_type}", {**scheme, "signature": made}).data == {"valid": True}, (
                scheme
            )
            assert vault.post(f"transit/verify/{key_type}", {**other, "signature": made}).data == {"valid": False}, (
                scheme
            )
