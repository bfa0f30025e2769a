"""Tools: random bytes and hashes."""

from __future__ import annotations

import base64
import hashlib

import pytest

from labkit import Vault
from labkit.vault.system.tools import ALGORITHMS, NO_SEAL_ENTROPY


@pytest.mark.parametrize(
    ("path", "body", "count"),
    [
        *(("", {}, 32), ("", {"bytes": 5}, 5), ("", {"bytes": "7", "source": "all"}, 7), ("/9", {"bytes": 5}, 9)),
        *(("/seal", {}, 32), ("/all", {"bytes": 3}, 3), ("/platform/131072", {}, 131_072), ("/+4", {}, 4)),
    ],
)
def test_as_many_bytes_as_are_asked_for(service, path, body, count):
    for encoding, decode in (("hex", bytes.fromhex), ("base64", base64.b64decode)):
        answer = service.post(f"sys/tools/random{path}", body | {"format": encoding})
        assert len(decode(answer.data["random_bytes"])) == count
        assert (NO_SEAL_ENTROPY in answer.warnings) == (path == "/seal")
    plain = service.post(f"sys/tools/random{path}", body).data["random_bytes"]
    assert len(base64.b64decode(plain, validate=True)) == count
    assert service.post(f"sys/tools/random{path}", body).data["random_bytes"] != plain


@pytest.mark.parametrize(
    ("path", "body", "text"),
    [
        ("", {"bytes": 0}, '"bytes" cannot be less than 1'),
        ("/-1", {}, '"bytes" cannot be less than 1'),
        ("/-" + "9" * 400, {}, '"bytes" cannot be less than 1'),
        ("", {"bytes": 131_073}, '"bytes" should be less than 131072'),
        ("/" + "9" * 4_000, {}, '"bytes" should be less than 131072'),
        ("/abc", {}, 'error parsing url-set byte count: strconv.Atoi: parsing "abc": invalid syntax'),
        ("/all/1e3", {}, 'error parsing url-set byte count: strconv.Atoi: parsing "1e3": invalid syntax'),
        ("/--1", {}, 'error parsing url-set byte count: strconv.Atoi: parsing "--1": invalid syntax'),
        ("/²", {}, 'error parsing url-set byte count: strconv.Atoi: parsing "²": invalid syntax'),
        ("/other/5", {}, 'unsupported entropy source "other"; must be "platform" or "seal", or "all"'),
        ("", {"source": "x"}, 'unsupported entropy source "x"; must be "platform" or "seal", or "all"'),
        ("", {"format": "x"}, 'unsupported encoding format "x"; must be "hex" or "base64"'),
    ],
)
def test_bytes_that_are_not_drawn(service, path, body, text):
    refused = service.post(f"sys/tools/random{path}", body)

    assert (refused.status, refused.errors) == (400, [text])


def test_of_a_seed_they_are_the_same_each_time():
    drawn = [Vault.dev(seed=7).post("sys/tools/random").data for _ in range(2)]
    assert drawn[0] == drawn[1] != Vault.dev(seed=8).post("sys/tools/random").data


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_hash_is_what_the_standard_library_makes_of_it(service, name):
    value = b"hello world"
    wanted = hashlib.new(name.replace("sha2-", "sha").replace("-", "_"), value).digest()
    body = {"input": base64.b64encode(value).decode()}

    assert service.post(f"sys/tools/hash/{name}", body).data == {"sum": wanted.hex()}
    assert service.post("sys/tools/hash", body | {"algorithm": name}).data == {"sum": wanted.hex()}
    in_base64 = service.post(f"sys/tools/hash/{name}", body | {"format": "base64", "algorithm": "sha2-224"}).data
    assert base64.b64decode(in_base64["sum"]) == wanted


def test_nothing_has_a_hash_too(service):
    assert service.post("sys/tools/hash", {"input": ""}).data == {"sum": hashlib.sha256(b"").hexdigest()}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "input missing"),
        ({"input": "a"}, "unable to decode input as base64: illegal base64 data at input byte 0"),
        ({"input": "aGk=", "format": "x"}, 'unsupported encoding format x; must be "hex" or "base64"'),
        ({"input": "aGk=", "algorithm": "sha1"}, "unsupported algorithm sha1"),
        ({"input": "aGk=", "algorithm": "SHA2-256"}, "unsupported algorithm SHA2-256"),
    ],
)
def test_what_is_not_hashed(service, body, text):
    refused = service.post("sys/tools/hash", body)

    assert (refused.status, refused.errors) == (400, [text])


def test_fips_mode_names_itself(clock):
    fips = Vault.dev(clock=clock, fips=True)

    refused = fips.post("sys/tools/hash/sha3-256", {"input": "aGk="})
    assert refused.status == 400
    assert "FIPS 140-2 mode" in refused.errors[0]
    assert fips.post("sys/tools/hash/sha2-512", {"input": "aGk="}).ok


def test_every_token_may_hash_and_a_policy_lets_it_draw(service):
    token = service.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]

    assert service.post("sys/tools/hash/sha2-256", {"input": "aGk="}, token=token).ok
    assert service.post("sys/tools/random", token=token).status == 403
    service.post("sys/namespaces/team")
    assert service.post("sys/tools/random/4", namespace="team").ok
