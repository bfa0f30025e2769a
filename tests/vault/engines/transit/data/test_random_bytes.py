"""``random``: how many bytes, in which encoding, from which source."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from labkit import Vault
from labkit.vault.engines.transit.data.random_bytes import NO_SEAL_ENTROPY

COUNTS: tuple[tuple[str, dict[str, Any], int], ...] = (
    *(("", {}, 32), ("", {"bytes": 5}, 5), ("", {"bytes": "7", "source": "all"}, 7), ("/9", {"bytes": 5}, 9)),
    *(("/seal", {}, 32), ("/all", {"bytes": 3}, 3), ("/platform/131072", {}, 131_072), ("/+4", {}, 4)),
)
REFUSED: tuple[tuple[str, dict[str, Any], str], ...] = (
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
)


@pytest.mark.parametrize("place", ["transit", "sys/tools"])
def test_as_many_bytes_as_are_asked_for(service, place):
    for path, body, count in COUNTS:
        for encoding, decode in (("hex", bytes.fromhex), ("base64", base64.b64decode)):
            answer = service.post(f"{place}/random{path}", body | {"format": encoding})
            assert len(decode(answer.data["random_bytes"])) == count, path
            assert (NO_SEAL_ENTROPY in answer.warnings) == (path == "/seal"), path
        plain = service.post(f"{place}/random{path}", body).data["random_bytes"]
        assert len(base64.b64decode(plain, validate=True)) == count, path
        assert service.post(f"{place}/random{path}", body).data["random_bytes"] != plain, path


@pytest.mark.parametrize("place", ["transit", "sys/tools"])
def test_bytes_that_are_not_drawn(service, place):
    for path, body, text in REFUSED:
        refused = service.post(f"{place}/random{path}", body)
        assert (refused.status, refused.errors) == (400, [text]), path


def test_entropy_of_the_seal_is_a_part_of_the_enterprise_edition():
    community = Vault.dev(seed=7, edition="community")

    for path, body in (("random/seal", {}), ("random/seal/8", {}), ("random", {"source": "seal"})):
        for place in ("transit", "sys/tools"):
            refused = community.post(f"{place}/{path}", body)
            assert (refused.status, refused.errors) == (400, ["enterprise-only feature"])
    assert community.post("transit/random/all").ok
    assert not community.post("transit/random/platform").warnings


def test_of_a_seed_they_are_the_same_each_time():
    drawn = [Vault.dev(seed=7).post("transit/random").data for _ in range(2)]
    assert drawn[0] == drawn[1] != Vault.dev(seed=8).post("transit/random").data
