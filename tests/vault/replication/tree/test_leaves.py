"""Leaves: bucket and digest of a key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.vault.replication.tree import leaves
from labkit.vault.replication.tree.key_classes import classify
from labkit.vault.replication.tree.leaves import NothingKept


@given(
    st.tuples(st.text(max_size=4), st.binary(max_size=4)),
    st.tuples(st.text(max_size=4), st.binary(max_size=4)),
)
def test_no_two_pairs_of_key_and_value_frame_alike(one: tuple[str, bytes], two: tuple[str, bytes]) -> None:
    assert (leaves.leaf_digest(*one) == leaves.leaf_digest(*two)) == (one == two)


def test_a_bucket_is_stable() -> None:
    assert leaves.bucket("123456789") == 0x3926, "the low half of the check value of CRC-32, CBF43926"


def test_where_nothing_is_kept_nothing_is_found() -> None:
    kept = NothingKept()
    assert (kept.get("logical/a"), kept.leaf("logical/a"), kept.leaves()) == (None, None, {})


@pytest.mark.parametrize("size_bytes", [9, leaves.MAX_CACHED_BYTES + 1])
@pytest.mark.parametrize("key", ["logical/é", "token/id/a", "node/mode"])
def test_a_placed_leaf_is_the_leaf_and_where_it_is(key: str, size_bytes: int) -> None:
    stored = bytes(size_bytes)
    leaf = leaves.leaf_digest(key, stored)

    assert leaves.placed_leaf(key, stored) == (leaf, int.from_bytes(leaf, "big"), classify(key), leaves.bucket(key))
