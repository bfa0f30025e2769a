"""Derived keys and nonces, against published answers and those of real servers."""

from __future__ import annotations

import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit import derivation
from labkit.vault.engines.transit.algorithms import COUNTER_MODE, HKDF_SHA256
from labkit.vault.engines.transit.derivation import MISSING_CONTEXT, convergent_nonce, counter_mode, derive
from labkit.vault.engines.transit.refusals import ListedRefusal

VECTORS = Path(__file__).parents[3] / "vectors"


def load(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((VECTORS / name).read_text())
    return loaded


SYMMETRIC = load("transit_symmetric.json")


@pytest.mark.parametrize("vector", load("hkdf.json")["vectors"], ids=lambda vector: vector["source"])
def test_hkdf_as_published(vector: dict[str, Any]) -> None:
    made = derivation.hkdf(bytes.fromhex(vector["key"]), bytes.fromhex(vector["info"]), vector["length"])

    assert made.hex() == vector["output"]


@pytest.mark.parametrize(
    "vector", SYMMETRIC["derivations"]["vectors"], ids=lambda v: f"{v['function']}-{v['key_bytes']}"
)
def test_both_functions_as_on_real_servers(vector: dict[str, Any]) -> None:
    function = {"hkdf": HKDF_SHA256, "counter": COUNTER_MODE}[vector["function"]]

    made = derive(function, bytes(range(vector["key_bytes"])), b"context-1", vector["length"])

    assert made.hex() == vector["output_hex"]


def test_the_counter_mode_and_its_pseudo_random_function() -> None:
    whole, alone = SYMMETRIC["counter_mode"]["vectors"]

    made = counter_mode(bytes.fromhex(whole["key"]), bytes.fromhex(whole["context"]))
    assert made.hex() == whole["output"]
    made = hmac.digest(bytes.fromhex(alone["key"]), bytes.fromhex(alone["message"]), "sha256")
    assert made.hex() == alone["output"]


@pytest.mark.parametrize("function", [HKDF_SHA256, COUNTER_MODE])
def test_no_context_no_key(function: int) -> None:
    with pytest.raises(BadRequest) as caught:
        derive(function, bytes(32), b"", 32)

    assert caught.value.errors == (MISSING_CONTEXT,)


def test_the_counter_mode_gives_no_more_than_its_block() -> None:
    assert derive(COUNTER_MODE, bytes(16), b"c", 16) == counter_mode(bytes(16), b"c")[:16]
    with pytest.raises(ListedRefusal, match="length too small"):
        derive(COUNTER_MODE, bytes(16), b"c", 48)


@given(st.binary(min_size=16, max_size=64), st.binary(min_size=1), st.integers(1, 64), st.integers(1, 64))
def test_a_longer_hkdf_key_begins_with_the_shorter(key: bytes, context: bytes, one: int, other: int) -> None:
    short, long = sorted((one, other))

    assert derive(HKDF_SHA256, key, context, long).startswith(derive(HKDF_SHA256, key, context, short))


@given(st.binary(min_size=1), st.binary())
def test_a_convergent_nonce_is_twelve_bytes_of_the_plaintexts_hmac(key: bytes, plaintext: bytes) -> None:
    assert convergent_nonce(key, plaintext) == hmac.new(key, plaintext, "sha256").digest()[:12]
