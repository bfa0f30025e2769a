"""Counts of random nonces: as plain values and back, stored and gone on with, beside what others counted."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.vault.storage.nonce_counts import NonceCount, NonceCounts
from labkit.vault.storage.records import decode_record, encode_record

KEY = "logical/1/nonces/k"
LIMIT = 2**32


def find(counts: NonceCounts, version: int = 1, digest: str = "digest", stored: Any = None) -> NonceCount:
    """Look a version up beside stored rows."""
    return counts.find(KEY, version, digest, None if stored is None else encode_record(stored), LIMIT)


def test_they_come_back_from_plain_values() -> None:
    counts = NonceCounts()
    find(counts, 3, stored={"3": ("digest", 40)}).used += 1
    state = counts.state()

    again = NonceCounts(state)

    assert state == again.state() == {KEY: {3: ("digest", 41, 40)}}
    again.known(KEY)[3].used += 1
    assert counts.state() == state, "the two share nothing"


def test_what_is_stored_is_gone_on_with_and_written_with_the_rest() -> None:
    counts = NonceCounts()
    stored = {"1": ("a", 7), "2": ("b", 8), "12": ("c", 2**40)}
    find(counts, 2, "b", stored).used += 1

    encoded = counts.encoded(KEY, 2)

    assert encoded is not None
    assert decode_record(encoded) == {"2": ["b", 9], "12": ["c", 2**40]}
    assert (counts.encoded("another"), counts.known("another")) == (None, {})


@pytest.mark.parametrize(
    ("stored", "used"),
    [
        (None, 13),
        (9, 13),  # a write that failed, or an older one
        (10, 13),
        (13, 16),
        (100, 103),
    ],
)
def test_what_others_stored_meanwhile_is_added(stored: int | None, used: int) -> None:
    """Three were counted here since ten were stored."""
    counts = NonceCounts({KEY: {1: ("digest", 13, 10)}})

    for _ in range(2):
        found = find(counts, stored=None if stored is None else {"1": ("digest", stored)})
        assert (found.used, found.live, found.limit) == (used, True, LIMIT)


def test_other_key_material_begins_at_0() -> None:
    counts = NonceCounts({KEY: {1: ("digest", 13, 10)}})

    assert find(counts, digest="another", stored={"1": ("digest", 13)}).used == 0


def test_what_changed_is_what_is_not_stored_yet() -> None:
    counts = NonceCounts({"b": {1: ("digest", 5, 4)}, "a": {1: ("digest", 5, 4)}, "c": {1: ("digest", 5, 5)}})
    assert counts.changed() == ["a", "b"]
    counts.encoded("a")
    assert counts.changed() == ["b"]


def test_what_is_to_be_looked_up_again_is_not_live() -> None:
    counts = NonceCounts()
    first, second = find(counts), counts.find("b", 1, "digest", None, LIMIT)
    counts.forget(KEY)
    counts.forget(KEY)
    assert (first.live, second.live, counts.known(KEY)) == (False, True, {})

    counts.look_up_again()
    assert (second.live, [*counts.state()]) == (False, ["b"])
    assert counts.find("b", 1, "digest", None, LIMIT) is second


def test_no_digest_shows_in_a_repr() -> None:
    counts = NonceCounts()
    found = find(counts)
    found.used = 5

    assert (repr(counts), repr(found)) == ("NonceCounts(of 1 keys)", "NonceCount(5)")
