"""PGP: messages to keys that GnuPG made are read with their secret keys; any other key is refused in one line."""

from __future__ import annotations

import json
import sys
from base64 import b64decode, b64encode
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysequoia import Tsk, decrypt

from labkit.service.errors import BadRequest
from labkit.vault.sealing import pgp
from tests.examples import examples

KEYS = {row["name"]: row for row in json.loads((Path(__file__).parents[2] / "vectors/pgp.json").read_text())["vectors"]}


def opened(name: str, message: bytes) -> bytes:
    """What a message holds, for the owner of a key."""
    return decrypt(message, decryptor=Tsk.from_bytes(b64decode(KEYS[name]["secret"])).decryptor()).bytes or b""


@pytest.mark.parametrize("name", ["rsa", "curve25519"])
def test_only_the_owner_of_a_key_reads_what_is_encrypted_to_it(name):
    message = pgp.encrypt(KEYS[name]["public"], "hvs.canary é")

    assert opened(name, message) == "hvs.canary é".encode()
    assert b"canary" not in message
    other = "rsa" if name == "curve25519" else "curve25519"
    with pytest.raises(RuntimeError):
        opened(other, message)


@pytest.mark.parametrize("name", ["rsa", "curve25519"])
def test_messages_to_a_key_differ_but_not_in_size(name):
    messages = {pgp.encrypt(KEYS[name]["public"], "hvs.canary") for _ in range(200)}

    assert len(messages) == 200
    assert len({len(message) for message in messages}) == 1


@pytest.mark.parametrize("name", ["rsa", "curve25519"])
def test_a_key_is_shown_as_its_fingerprint(name):
    assert pgp.fingerprint(KEYS[name]["public"]) == KEYS[name]["fingerprint"]


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("", "No data"),
        ("a", "base64 of its binary form"),
        ("é", "base64 of its binary form"),
        ("bm8ga2V5", "EOF"),
        (KEYS["rsa"]["public"][:-400], "EOF|Malformed|Additional"),
        (KEYS["rsa"]["secret"], "this is a secret key; send the public one"),
        (KEYS["sign-only"]["public"], "No suitable encryption subkey"),
    ],
)
def test_what_nothing_can_be_encrypted_to_is_refused_in_one_line(key, why):
    for use in (pgp.fingerprint, lambda key: pgp.encrypt(key, "canary")):
        with pytest.raises(BadRequest, match=f"^error parsing PGP key: .*({why})") as refused:
            use(key)
        assert "\n" not in str(refused.value)
        assert "canary" not in str(refused.value)


@settings(max_examples=examples(100))
@given(st.binary(max_size=300), st.integers(0, 1_000))
def test_any_bytes_and_any_cut_of_a_key_are_read_or_refused(noise, cut):
    key = b64decode(KEYS["curve25519"]["public"])
    for sent in (noise, key[: cut % len(key)], key[:cut] + noise):
        try:
            read = pgp.fingerprint(b64encode(sent).decode())
        except BadRequest as refused:
            read = str(refused)
        assert read == KEYS["curve25519"]["fingerprint"] or read.startswith("error parsing PGP key: ")


def test_without_the_library_the_refusal_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pysequoia", None)
    with pytest.raises(BadRequest, match=r"pip install '\.\[pgp\]'"):
        pgp.fingerprint(KEYS["rsa"]["public"])
