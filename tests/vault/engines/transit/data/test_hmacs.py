"""hmac/<name>: published digests, which version makes them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit import Vault
from labkit.service.encoding import to_base64
from labkit.vault.engines.transit.keyring import Keyring, KeyVersion

INPUT = to_base64(b"the quick brown fox")
KEYS = (b"01234567890123456789012345678901", b"12345678901234567890123456789012")

# What real servers of this API answer for the first of the keys.
DIGESTS = {
    "sha2-224": "3p+ZWVquYDvu2dSTCa65Y3fgoMfIAc6fNaBbtg==",
    "sha2-256": "UcBvm5VskkukzZHlPgm3p5P/Yr/PV6xpuOGZISya3A4=",
    "sha2-384": "jDB9YXdPjpmr29b1JCIEJO93IydlKVfD9mA2EO9OmJtJQg3QAV5tcRRRb7IQGW9p",
    "sha2-512": "PSXLXvkvKF4CpU65e2bK1tGBZQpcpCEM32fq2iUoiTyQQCfBcGJJItQ+60tMwWXAPQrC290AzTrNJucGrr4GFA==",
    "sha3-224": "TGipmKH8LR/BkMolYpDYy0BJCIhTtGPDhV2VkQ==",
    "sha3-256": "+px9V/7QYLfdK808zPESC2T/L33uFf4Blzsn9Jy838o=",
    "sha3-384": "YGoRwN4UdTRYZeOER86jsQOB8piWenzLDzJ2wJQK/Jq59rAsY8lh7SCdqqCyFg70",
    "sha3-512": "GrNA8sU88naMPEQ7UZGj9EJl7YJhl03AFHfxcEURFrtvnobdea9ZlZHePpxAx/oCaC7R2HkrAO+Tu3uXPIl3lg==",
    "sha1": "FuC2wR0oEs8Q2taEueKCq59KyXY=",
}


@pytest.fixture
def known(service: Any, put_keyring: Callable[[str, Keyring], None]) -> Any:
    """A service with a key k of two versions."""
    entries = [KeyVersion(bytes(32), key, 0) for key in KEYS]
    put_keyring("k", Keyring("aes256-gcm96", tuple(entries[:1])))
    put_keyring("two", Keyring("aes256-gcm96", tuple(entries)))
    return service


def test_digests_are_the_published_ones(known: Any) -> None:
    for name, digest in DIGESTS.items():
        made = known.post(f"transit/hmac/k/{name}", {"input": INPUT})
        assert made.data == {"hmac": f"vault:v1:{digest}"}, name
        assert known.post("transit/hmac/k", {"input": INPUT, "algorithm": name}).data == made.data, name
        assert known.post(f"transit/verify/k/{name}", {"input": INPUT, "hmac": made.data["hmac"]}).data["valid"], name
    assert known.post("transit/hmac/k", {"input": INPUT}).data["hmac"].endswith(DIGESTS["sha2-256"])
    assert known.post("transit/hmac/k", {"input": ""}).data == {
        "hmac": "vault:v1:BCfVv6rlnRsIKpjCZCxWvh5iYwSSabRXpX9XJniuNgc="
    }
    assert known.post("transit/hmac/two", {"input": INPUT}).data == {
        "hmac": "vault:v2:Dt+mO/B93kuWUbGMMobwUNX5Wodr6dL3JH4DMfpQ0kw="
    }


def test_an_older_version_may_be_asked_for_down_to_the_minimum(known: Any) -> None:
    made = known.post("transit/hmac/two", {"input": INPUT, "key_version": 1}).data["hmac"]
    assert made == f"vault:v1:{DIGESTS['sha2-256']}"

    known.post("transit/keys/two/config", {"min_encryption_version": 2})
    refused = known.post("transit/hmac/two", {"input": INPUT, "key_version": 1})
    assert refused.errors == ["cannot generate HMAC: version is too old (disallowed by policy)"]
    assert known.post("transit/verify/two", {"input": INPUT, "hmac": made}).data == {"valid": True}

    known.post("transit/keys/two/config", {"min_decryption_version": 2})
    refused = known.post("transit/verify/two", {"input": INPUT, "hmac": made})
    assert refused.errors == ["cannot verify HMAC: version is too old (disallowed by policy)"]
    known.post("transit/keys/two/rotate")
    known.post("transit/keys/two/config", {"min_encryption_version": 0, "min_decryption_version": 3})
    assert known.post("transit/hmac/two", {"input": INPUT, "key_version": 2}).errors == ["no such key version"]


def test_every_type_has_hmac_keys_and_type_hmac_is_one(service: Any) -> None:
    for key_type in ("aes128-gcm96", "ed25519", "hmac"):
        service.post(f"transit/keys/{key_type}", {"type": key_type})
        made = service.post(f"transit/hmac/{key_type}", {"input": INPUT}).data["hmac"]
        assert service.post(f"transit/verify/{key_type}", {"input": INPUT, "hmac": made}).data == {"valid": True}


@pytest.mark.parametrize(
    ("path", "body", "why"),
    [
        ("none", {"input": INPUT}, "encryption key not found"),
        ("k", {"input": INPUT, "key_version": -1}, "key version does not exist (cannot be negative)"),
        ("k", {"input": INPUT, "key_version": 2}, "key version does not exist; latest key version is 1"),
        (
            "k",
            {"input": INPUT, "algorithm": "md5", "key_version": 2},
            "key version does not exist; latest key version is 1",
        ),
        ("k", {"input": INPUT, "algorithm": ""}, "unsupported algorithm ''"),
        ("k", {"input": INPUT, "algorithm": None}, "unsupported algorithm ''"),
        ("k", {"algorithm": "md5"}, "unsupported algorithm 'md5'"),
        ("k/none", {"input": INPUT}, "unsupported algorithm 'none'"),
        ("k", {"batch_input": []}, "missing batch input to process"),
        ("k", {}, "missing input for HMAC"),
        ("k", {"input": ":;.?"}, "unable to decode input as base64: illegal base64 data at input byte 0"),
    ],
)
def test_bad_input_is_refused_in_the_apis_order(known: Any, path: str, body: dict[str, Any], why: str) -> None:
    refused = known.post(f"transit/hmac/{path}", body)

    assert (refused.status, refused.errors) == (400, [why])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"hmac": "x", "hash_algorithm": "md5"}, "unsupported algorithm 'md5'"),
        ({"hmac": "x"}, "missing input"),
        ({"hmac": "x", "input": "*"}, "unable to decode input as base64: illegal base64 data at input byte 0"),
        ({"hmac": "x", "input": INPUT}, "invalid HMAC to verify: no prefix"),
        ({"hmac": "vault:v1", "input": INPUT}, "invalid HMAC: wrong number of fields"),
        ({"hmac": "vault:vx:AAAA", "input": INPUT}, "invalid HMAC: version number could not be decoded"),
        (
            {"hmac": "vault:v9:*", "input": INPUT},
            "unable to decode verification HMAC as base64: illegal base64 data at input byte 0",
        ),
        ({"hmac": "vault:v9:AAAA", "input": INPUT}, "invalid HMAC: version is too new"),
        ({"hmac": "vault:v0:AAAA", "input": INPUT}, "cannot verify HMAC: version is too old (disallowed by policy)"),
    ],
)
def test_what_cannot_be_read_as_an_hmac_is_refused(known: Any, body: dict[str, Any], why: str) -> None:
    refused = known.post("transit/verify/k", body)

    assert (refused.status, refused.errors) == (400, [why])


def test_an_hmac_of_other_data_or_another_length_is_not_valid(known: Any) -> None:
    for wrong in ("vault:v1:UcBvm4VskkukzZHlPgm3p5P/Yr/PV6xpuOGZISya3A4=", "vault:v1:", "vault:v1:AAAA"):
        assert known.post("transit/verify/k", {"input": INPUT, "hmac": wrong}).data == {"valid": False}
    assert known.post("transit/verify/none", {"input": INPUT, "hmac": wrong}).errors == ["encryption key not found"]


def test_a_batch_answers_each_item(known: Any) -> None:
    made = known.post("transit/hmac/k", {"batch_input": [{"input": INPUT, "reference": "a"}, {"input": ""}]})
    assert made.status == 200
    assert [item["reference"] for item in made.data["batch_results"]] == ["a", ""]

    mixed = known.post("transit/hmac/k", {"batch_input": [{"input": ":;.?"}, {}, {"input": INPUT}]})
    assert mixed.status == 400
    assert mixed.data["batch_results"] == [
        {"error": "unable to decode input as base64: illegal base64 data at input byte 0", "reference": ""},
        {"error": "missing input for HMAC", "reference": ""},
        {"hmac": f"vault:v1:{DIGESTS['sha2-256']}", "reference": ""},
    ]


def test_fips_mode_bars_the_third_family() -> None:
    vault = Vault.dev(fips=True)
    vault.post("transit/keys/k")

    for path, sent in (("hmac/k/sha3-256", {}), ("verify/k/sha3-256", {"hmac": "vault:v1:AAAA"})):
        refused = vault.post(f"transit/{path}", {"input": INPUT, **sent})
        assert refused.status == 400
        assert "FIPS 140-2" in refused.errors[0]
