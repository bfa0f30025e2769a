"""Seal keys: one writer of the keys, what sealed ones refuse, and their state."""

from __future__ import annotations

import ast

import pytest

from labkit.real import entropy
from labkit.service.errors import Unavailable
from labkit.vault.seal_keys import SealKeys
from labkit.vault.storage.barrier import new_keyring


def other_keys():
    """The keys of another replication set, open."""
    return SealKeys.opened(entropy(32), new_keyring(entropy, 0))


@pytest.mark.slow
def test_only_the_keys_part_assigns_keyring_and_root_key(checkout):
    parts = ("barrier", "root_key", "progress")
    assigned = {
        path.name
        for path in (checkout / "labkit" / "vault").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in parts
    }

    assert assigned == {"seal_keys.py"}


def test_sealed_keys_neither_encrypt_nor_decrypt():
    keys = other_keys()
    stored = keys.encrypt("a", b"1", entropy)
    keys.drop()

    assert keys.sealed
    assert keys.root_key is None
    with pytest.raises(Unavailable):
        keys.decrypt("a", stored)
    with pytest.raises(Unavailable):
        keys.encrypt("a", b"1", entropy)


def test_keys_come_back_from_their_state():
    keys = other_keys()
    again = SealKeys.from_state(keys.state())

    assert again.decrypt("a", keys.encrypt("a", b"1", entropy)) == b"1"
    assert again.fingerprint() == keys.fingerprint() != other_keys().fingerprint()
    assert SealKeys.from_state(SealKeys(None, (b"share",), "n").state()).progress == (b"share",)


def test_no_representation_shows_a_key():
    keys = other_keys()

    assert keys.root_key.hex() not in repr(keys)
    assert repr(keys.root_key) not in repr(keys)
    assert repr(keys) == "SealKeys(unsealed, progress=0)"
