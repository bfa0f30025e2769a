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


def test_in_a_batch_a_number_counts_as_its_text_and_nothing_else_does(service: Any) -> None:
    service.post("transit/keys/k", {"type": "ed25519"})
    as_text = service.post("transit/sign/k", {"batch_input": [{"input": "1234", "reference": "5"}]})

    assert service.post("transit/sign/k", {"batch_input": [{"input": 1234, "reference": 5}]}).data == as_text.data
    made = as_text.data["batch_results"][0]["signature"]
    verified = service.post("transit/verify/k", {"batch_input": [{"input": 1234, "signature": made}]})
    assert verified.data["batch_results"] == [{"valid": True, "reference": ""}]
    hmac = service.post("transit/hmac/k", {"batch_input": [{"input": 1234}]}).data["batch_results"][0]["hmac"]
    assert hmac == service.post("transit/hmac/k", {"input": "1234"}).data["hmac"]
    for path in ("sign", "hmac"):
        refused = service.post(f"transit/{path}/k", {"batch_input": [{"input": True}, {"input": ["x"]}, 5]})
        assert refused.status == 400
        assert "'[0].input' expected type 'string', got unconvertible type 'bool'" in refused.errors[0]
        assert "'[1].input'" in refused.errors[0]
        assert "[2] expected a map, got 'json.Number'" in refused.errors[0]


def test_the_same_seed_gives_the_same_keys_and_signatures() -> None:
    def answers(vault: Vault) -> list[Any]:
        made = []
        for name in ALL_TYPES:
            shown = vault.post(f"transit/keys/{name}", {"type": name}).data["keys"]["1"]["public_key"]
            signed = vault.post(f"transit/sign/{name}", {"input": INPUT, "signature_algorithm": "pkcs1v15"}).data
            made.append((name, shown, signed["signature"]))
        return made

    vault = Vault.dev(seed=9)
    first = answers(vault)
    vault.reset()

    assert answers(vault) == answers(Vault.dev(seed=9)) == first
    assert {made[1] for made in answers(Vault.dev(seed=10))}.isdisjoint({made[1] for made in first})


ALL_TYPES = ("ecdsa-p256", "ecdsa-p384", "ecdsa-p521", "rsa-2048", "rsa-3072", "rsa-4096", "ed25519")


def test_every_type_signs_and_verifies_through_the_api() -> None:
    vault = Vault.dev(seed=1)
    for name in ALL_TYPES:
        shown = vault.post(f"transit/keys/{name}", {"type": name}).data
        assert (shown["supports_signing"], shown["supports_encryption"]) == (True, name.startswith("rsa")), name
        vault.post(f"transit/keys/{name}/rotate")
        for marshaling in ("asn1", "jws"):
            sent = {"input": INPUT, "marshaling_algorithm": marshaling}
            made = vault.post(f"transit/sign/{name}/sha2-512", sent).data
            assert sorted(made) == ["key_version", "signature"]
            assert made["signature"].startswith("vault:v2:"), name
            assert marshaling == "asn1" or not set("+/=") & set(made["signature"]), name
            verified = vault.post(f"transit/verify/{name}/sha2-512", {**sent, "signature": made["signature"]})
            assert verified.data == {"valid": True}, name
        old = vault.post(f"transit/sign/{name}", {"input": INPUT, "key_version": 1}).data["signature"]
        assert old.startswith("vault:v1:")
        assert vault.post(f"transit/verify/{name}", {"input": INPUT, "signature": old}).data == {"valid": True}


def test_a_scheme_that_the_key_cannot_have_is_refused() -> None:
    vault = Vault.dev(seed=1)
    vault.post("transit/keys/rsa", {"type": "rsa-2048"})
    vault.post("transit/keys/ec", {"type": "ecdsa-p521"})
    short, unhashed = to_base64(bytes(20)), {"hash_algorithm": "none", "signature_algorithm": "pkcs1v15"}
    listed: list[tuple[str, dict[str, Any], str]] = [
        ("rsa", {"signature_algorithm": "none"}, "unsupported rsa signature algorithm none"),
        ("rsa", {"salt_length": "223"}, "requested salt length 223 is invalid"),
        ("rsa", {"prehashed": True, "input": short}, "crypto/rsa: input must be hashed with given hash"),
        (
            "rsa",
            {"prehashed": True, "input": short, "signature_algorithm": "pkcs1v15"},
            "crypto/rsa: input must be hashed message",
        ),
        (
            "rsa",
            {"prehashed": True, "input": to_base64(bytes(246)), **unhashed},
            "crypto/rsa: message too long for RSA key size",
        ),
        (
            "ec",
            {"prehashed": True, "input": to_base64(bytes(65))},
            "a prehashed input for P-521 has at most 64 bytes, not 65",
        ),
    ]
    for name, sent, why in listed:
        refused = vault.post(f"transit/sign/{name}", {"input": INPUT, **sent})
        assert (refused.status, refused.errors) == (400, [f"1 error occurred:\n\t* {why}\n\n"]), sent
        (item,) = vault.post(
            f"transit/sign/{name}", {**sent, "batch_input": [{"input": sent.get("input", INPUT)}]}
        ).data["batch_results"]
        assert item["error"] == why
    verified = {"input": INPUT, "signature": "vault:v1:AAAA"}
    for sent, why in (
        ({"salt_length": "223"}, "requested salt length 223 is invalid"),
        ({"signature_algorithm": "x"}, "1 error occurred:\n\t* unsupported rsa signature algorithm x\n\n"),
    ):
        assert vault.post("transit/verify/rsa", {**verified, **sent}).errors == [why]
    assert vault.post("transit/verify/ec", verified).errors == ["supplied signature is invalid"]


def test_a_policy_can_block_sha1(service: Any) -> None:
    service.post("transit/keys/k", {"type": "ed25519"})
    rules = """
        path "transit/sign/*" { capabilities = ["update"] denied_parameters = { "hash_algorithm" = ["sha1"] } }
        path "transit/sign/k/sha1" { capabilities = ["deny"] }
        path "transit/verify/*" { capabilities = ["update"] denied_parameters = { "hash_algorithm" = ["sha1"] } }
        path "transit/verify/k/sha1" { capabilities = ["deny"] }
    """
    service.put("sys/policies/acl/signer", {"policy": rules})
    token = service.post("auth/token/create", {"policies": ["signer"]}).auth["client_token"]

    assert service.post("transit/sign/k", {"input": INPUT}, token=token).status == 200
    assert service.post("transit/sign/k/sha2-256", {"input": INPUT}, token=token).status == 200
    assert service.post("transit/sign/k/sha1", {"input": INPUT}, token=token).status == 403
    assert service.post("transit/sign/k", {"input": INPUT, "hash_algorithm": "sha1"}, token=token).status == 403
    made = service.post("transit/sign/k/sha1", {"input": INPUT}).raise_for_status().data["signature"]
    asked = {"input": INPUT, "signature": made}
    assert service.post("transit/verify/k", asked, token=token).data == {"valid": True}
    assert service.post("transit/verify/k/sha1", asked, token=token).status == 403
    assert service.post("transit/verify/k", {**asked, "hash_algorithm": "sha1"}, token=token).status == 403


def test_an_algorithm_in_the_body_has_no_effect() -> None:
    vault = Vault.dev(seed=1)
    vault.post("transit/keys/k", {"type": "ecdsa-p256"})
    body = {"input": INPUT, "algorithm": "sha2-512"}
    hmac = vault.post("transit/hmac/k", body).data["hmac"]  # there it is the field's name

    signature = vault.post("transit/sign/k", body).data["signature"]

    assert signature == vault.post("transit/sign/k/sha2-256", body).data["signature"]
    assert vault.post("transit/verify/k", {**body, "signature": signature}).data == {"valid": True}
    assert vault.post("transit/verify/k", {**body, "hmac": hmac}).data == {"valid": False}
    assert vault.post("transit/verify/k", {**body, "hmac": hmac, "hash_algorithm": ""}).data == {"valid": True}
    assert vault.post("transit/sign/k", {**body, "algorithm": "md5"}).data["signature"] == signature


def test_the_hash_in_the_path_comes_before_those_in_the_body() -> None:
    vault = Vault.dev(seed=1)
    vault.post("transit/keys/k", {"type": "ecdsa-p256"})
    by_hash = {
        name: vault.post(f"transit/sign/k/{name}", {"input": INPUT}).data["signature"]
        for name in ("sha1", "sha2-256", "sha2-512")
    }
    body = {"input": INPUT, "hash_algorithm": "sha2-512", "algorithm": "sha1"}

    assert len(set(by_hash.values())) == 3
    assert vault.post("transit/sign/k", {"input": INPUT}).data["signature"] == by_hash["sha2-256"]
    assert vault.post("transit/sign/k/sha2-256", body).data["signature"] == by_hash["sha2-256"]
    assert vault.post("transit/sign/k", body).data["signature"] == by_hash["sha2-512"]
    assert vault.post("transit/sign/k", {**body, "hash_algorithm": ""}).data["signature"] == by_hash["sha1"]
    for member, key in (("signature", by_hash["sha1"]), ("hmac", vault.post("transit/hmac/k/sha1", body).data["hmac"])):
        for path, valid in (("k/sha1", True), ("k", False)):
            assert vault.post(f"transit/verify/{path}", {**body, member: key}).data == {"valid": valid}


def test_fips_mode_has_no_ed25519_and_no_third_hash_family() -> None:
    vault = Vault.dev(fips=True)

    refused = vault.post("transit/keys/k", {"type": "ed25519"})
    assert refused.status == 400
    assert "FIPS 140-2" in refused.errors[0]
    refused = vault.post("transit/sign/k", {"input": INPUT, "hash_algorithm": "sha3-256"})
    assert "FIPS 140-2" in refused.errors[0]
