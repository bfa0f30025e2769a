"""sign/<name>: one input, batches, and who may sign with what."""

from __future__ import annotations

from typing import Any

from labkit import Vault
from labkit.service.encoding import to_base64

INPUT = to_base64(b"the quick brown fox")


def test_a_batch_signs_each_item_and_names_the_ones_that_failed(service: Any) -> None:
    service.post("transit/keys/k", {"type": "ed25519"})
    items = [{"input": INPUT, "reference": "a"}, {"input": ""}]

    made = service.post("transit/sign/k/sha2-512", {"batch_input": items, "input": "*", "context": "*"})

    assert made.status == 200
    assert [sorted(item) for item in made.data["batch_results"]] == [["key_version", "reference", "signature"]] * 2
    assert [item["reference"] for item in made.data["batch_results"]] == ["a", ""]
    mixed = service.post("transit/sign/k", {"batch_input": [*items, {}, {"input": None}, {"input": "*"}]})
    assert mixed.status == 400
    assert mixed.data["batch_results"][:2] == made.data["batch_results"]
    assert mixed.data["batch_results"][2:] == [
        {"key_version": 0, "error": "missing input", "reference": ""},
        {"key_version": 0, "error": "missing input", "reference": ""},
        {
            "key_version": 0,
            "error": "unable to decode input as base64: illegal base64 data at input byte 0",
            "reference": "",
        },
    ]
    late = service.post("transit/sign/k", {"batch_input": items, "key_version": 9})
    assert late.status == 400
    assert late.data["batch_results"][0]["error"] == (
        "requested version for signing is higher than the latest key version"
    )


def test_a_policy_can_block_sha1(service: Any) -> None:
    service.post("transit/keys/k", {"type": "ed25519"})
    rules = """
        path "transit/sign/*" { capabilities = ["update"] denied_parameters = { "hash_algorithm" = ["sha1"] } }
        path "transit/sign/k/sha1" { capabilities = ["deny"] }
    """
    service.put("sys/policies/acl/signer", {"policy": rules})
    token = service.post("auth/token/create", {"policies": ["signer"]}).auth["client_token"]

    assert service.post("transit/sign/k", {"input": INPUT}, token=token).status == 200
    assert service.post("transit/sign/k/sha2-256", {"input": INPUT}, token=token).status == 200
    assert service.post("transit/sign/k/sha1", {"input": INPUT}, token=token).status == 403
    assert service.post("transit/sign/k", {"input": INPUT, "hash_algorithm": "sha1"}, token=token).status == 403
    assert service.post("transit/sign/k/sha1", {"input": INPUT}).status == 200


def test_fips_mode_has_no_ed25519_and_no_third_hash_family() -> None:
    vault = Vault.dev(fips=True)

    refused = vault.post("transit/keys/k", {"type": "ed25519"})
    assert refused.status == 400
    assert "FIPS 140-2" in refused.errors[0]
    refused = vault.post("transit/sign/k", {"input": INPUT, "hash_algorithm": "sha3-256"})
    assert "FIPS 140-2" in refused.errors[0]
