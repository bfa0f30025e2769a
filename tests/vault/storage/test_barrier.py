"""Encryption at rest: what opens, what does not, and that a ciphertext belongs to its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.real import entropy
from labkit.vault.storage.barrier import (
    Barrier,
    BarrierError,
    KeyringTerm,
    decrypt_keyring,
    encrypt_keyring,
    label_of,
    new_keyring,
    with_new_term,
)

RING = (KeyringTerm(1, bytes(32), 5), KeyringTerm(2, bytes(range(32)), 9))


@given(st.text(min_size=1, max_size=20), st.binary(max_size=64))
def test_what_is_closed_opens_again_in_its_place(key, value):
    barrier = Barrier(RING)

    assert barrier.decrypt(key, barrier.encrypt(key, value, entropy)) == value


def test_a_ciphertext_cannot_be_moved_or_altered():
    barrier = Barrier(RING)
    stored = barrier.encrypt("a", b"value", entropy)

    with pytest.raises(BarrierError, match="stored at b does not open"):
        barrier.decrypt("b", stored)
    for position in range(5, len(stored)):
        altered = stored[:position] + bytes([stored[position] ^ 1]) + stored[position + 1 :]
        with pytest.raises(BarrierError):
            barrier.decrypt("a", altered)


@given(st.text(min_size=1, max_size=20), st.binary(max_size=64), st.binary(max_size=255))
def test_a_label_is_read_without_a_key_and_its_value_opens_in_its_place(key, value, label):
    stored = Barrier(RING).encrypt_labelled(entropy(12), key, value, label)

    assert label_of(stored) == label
    assert Barrier(RING).decrypt(key, stored) == value
    assert label_of(Barrier(RING).encrypt(key, value, entropy)) is None


def test_a_labelled_value_cannot_be_moved_or_altered_or_get_another_label():
    barrier = Barrier(RING)
    stored = barrier.encrypt_labelled(entropy(12), "a", b"value", b"label")

    with pytest.raises(BarrierError, match="stored at b does not open"):
        barrier.decrypt("b", stored)
    for position in range(len(stored)):
        altered = stored[:position] + bytes([stored[position] ^ 1]) + stored[position + 1 :]
        with pytest.raises(BarrierError, match="stored at a does not open"):
            barrier.decrypt("a", altered)
    for length in range(len(stored)):
        with pytest.raises(BarrierError, match="stored at a does not open"):
            barrier.decrypt("a", stored[:length])
        assert label_of(stored[:length]) == (b"label" if length >= 11 else None)


def test_new_values_take_the_newest_term_and_old_ones_stay_readable():
    old, both = Barrier(RING[:1]), Barrier(RING)
    stored = old.encrypt("a", b"value", entropy)

    assert both.decrypt("a", stored) == b"value"
    assert both.encrypt("a", b"value", entropy)[:4] == (2).to_bytes(4, "big")
    with pytest.raises(BarrierError, match="stored at a does not open"):
        old.decrypt("a", both.encrypt("a", b"value", entropy))


def test_the_keyring_is_decrypted_with_its_root_key_only():
    root = entropy(32)
    stored = encrypt_keyring(RING, root, entropy)

    assert decrypt_keyring(stored, root) == RING
    for wrong in (entropy(32), b"short", root[:-1] + bytes([root[-1] ^ 1])):
        with pytest.raises(BarrierError, match="does not open with this root key"):
            decrypt_keyring(stored, wrong)


def test_the_same_entropy_makes_the_same_bytes():
    def drawn(count):
        return bytes(range(count))

    assert new_keyring(drawn, 3) == new_keyring(drawn, 3)
    assert Barrier(RING).encrypt("a", b"v", drawn) == Barrier(RING).encrypt("a", b"v", drawn)


def test_no_key_shows():
    assert "key=" not in repr(RING[0]).replace("KeyringTerm", "")
    assert repr(Barrier(RING)) == "Barrier(terms=[1, 2])"


def test_a_new_term_follows_the_highest():
    keyring = with_new_term(RING, entropy, 9)
    assert [(item.term, item.installed_ns) for item in keyring][-1] == (3, 9)
    assert keyring[:2] == RING
    assert with_new_term(keyring[::-1], entropy, 10)[-1].term == 4


def test_two_keys_of_one_term_are_both_tried():
    other = KeyringTerm(2, b"o" * 32, 5)
    mine, theirs = Barrier(RING), Barrier((RING[0], other))
    both = Barrier((RING[1], RING[0], other))
    for written in (mine, theirs):
        assert both.decrypt("k", written.encrypt("k", b"v", entropy)) == b"v"
        assert both.decrypt("k", written.encrypt_labelled(entropy(12), "k", b"v", b"label")) == b"v"
    with pytest.raises(BarrierError):
        theirs.decrypt("k", both.encrypt("k", b"v", entropy)[:-1])
    with pytest.raises(BarrierError):
        both.decrypt("k", mine.encrypt("k", b"v", entropy)[:-1])
    assert theirs.decrypt("k", both.encrypt("k", b"v", entropy)) == b"v"


def test_encryptions_are_counted():
    barrier = Barrier(RING, 5)
    barrier.decrypt("k", barrier.encrypt("k", b"v", entropy))
    assert (barrier.encryptions, barrier.look_at) == (6, 1_000_000)
    barrier.encrypt_labelled(entropy(12), "k", b"v", b"label")
    assert barrier.encryptions == 7
