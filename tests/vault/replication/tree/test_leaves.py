"""Leaves: bucket and digest of a key."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labkit.vault.replication.tree import leaves
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
