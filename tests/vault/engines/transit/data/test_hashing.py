"""``hash``: every algorithm, and what is refused."""

from __future__ import annotations

import base64
import hashlib

import pytest

from labkit import Vault
from labkit.vault.engines.transit.hash_algorithms import ALGORITHMS

INPUT = {"input": "dGhlIHF1aWNrIGJyb3duIGZveA=="}
# "the quick brown fox", as the tests of real servers of this API have it
KNOWN = {
    "sha2-224": "ea074a96cabc5a61f8298a2c470f019074642631a49e1c5e2f560865",
    "sha2-256": "9ecb36561341d18eb65484e833efea61edc74b84cf5e6ae1b81c63533e25fc8f",
    "sha3-224": "ced91e69d89c837e87cff960bd64fd9b9f92325fb9add8988d33d007",
    "sha3-256": "e4bd866ec3fa52df3b7842aa97b448bc859a7606cefcdad1715847f4b82a6c93",
}
KNOWN_IN_BASE64 = {
    "sha2-512": "2dOA8puXrWodkumH2D+loCZTMB4QBt0rzVGvpZqRR+nK7a+JUhq8DwtoKtzUf7USuDQ8g0oy8yb+m+8AVCzohw==",
    "sha3-512": "98rFrYMEIqVAizamCmBiBoe+GAdlo+KJW8O9vYV8nggkbIMGTU42EvDLkn8+rSCEE6uYYkv3sGF68PA/YggJdg==",
}


@pytest.mark.parametrize("place", ["transit", "sys/tools"])
def test_a_hash_is_the_published_one(service, place):
    for name, digest in KNOWN.items():
        assert service.post(f"{place}/hash/{name}", INPUT).data == {"sum": digest}, name
    for name, digest in KNOWN_IN_BASE64.items():
        assert service.post(f"{place}/hash/{name}", INPUT | {"format": "base64"}).data == {"sum": digest}, name


@pytest.mark.parametrize("place", ["transit", "sys/tools"])
def test_a_hash_is_what_the_standard_library_makes_of_it(service, place):
    value = b"hello world"
    body = {"input": base64.b64encode(value).decode()}
    for name in ALGORITHMS:
        wanted = hashlib.new(name.replace("sha2-", "sha").replace("-", "_"), value).digest()
        assert service.post(f"{place}/hash/{name}", body).data == {"sum": wanted.hex()}, name
        assert service.post(f"{place}/hash", body | {"algorithm": name}).data == {"sum": wanted.hex()}, name
        both = body | {"format": "base64", "algorithm": "sha2-224"}
        in_base64 = service.post(f"{place}/hash/{name}", both).data
        assert base64.b64decode(in_base64["sum"]) == wanted, name


def test_nothing_has_a_hash_too(service):
    assert service.post("transit/hash", {"input": ""}).data == {"sum": hashlib.sha256(b"").hexdigest()}


def test_what_is_not_hashed(service):
    for body, text in (
        ({}, "input missing"),
        ({"input": "a"}, "unable to decode input as base64: illegal base64 data at input byte 0"),
        ({"input": "a", "format": "x"}, "unable to decode input as base64: illegal base64 data at input byte 0"),
        (INPUT | {"format": "x", "algorithm": "x"}, 'unsupported encoding format x; must be "hex" or "base64"'),
        (INPUT | {"format": ""}, 'unsupported encoding format ; must be "hex" or "base64"'),
        (INPUT | {"format": None}, 'unsupported encoding format ; must be "hex" or "base64"'),
        (INPUT | {"algorithm": None}, "unsupported algorithm "),
        (INPUT | {"algorithm": "sha1"}, "unsupported algorithm sha1"),
        (INPUT | {"algorithm": "SHA2-256"}, "unsupported algorithm SHA2-256"),
        (INPUT | {"algorithm": "none"}, "unsupported algorithm none"),
    ):
        refused = service.post("transit/hash", body)
        assert (refused.status, refused.errors) == (400, [text])


def test_fips_mode_names_itself(clock):
    fips = Vault.dev(clock=clock, fips=True)

    for path in ("transit/hash/sha3-256", "sys/tools/hash/sha3-256"):
        refused = fips.post(path, INPUT)
        assert refused.status == 400
        assert "FIPS 140-2 mode" in refused.errors[0]
    assert fips.post("transit/hash/sha2-512", INPUT).ok
