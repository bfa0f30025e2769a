"""Round instants and lengths, and numbers for marks that crowd."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.views.time_axis import MAX_TICKS, numbered, round_slice_ns, ticks

SECOND_NS = 1_000_000_000


def test_ticks_stand_at_round_instants():
    assert ticks(0, 3 * SECOND_NS // 10)[:3] == [(0, "0 s"), (50_000_000, "0.05 s"), (100_000_000, "0.1 s")]
    assert ticks(SECOND_NS // 2, 5 * SECOND_NS)[0] == (SECOND_NS // 2, "0.5 s")
    assert ticks(0, 86_400 * SECOND_NS)[1] == (10_800 * SECOND_NS, "10800 s")


@given(st.integers(1, 10**15))
def test_there_are_never_too_many(end_ns):
    assert 1 <= len(ticks(0, end_ns)) <= MAX_TICKS + 2


@pytest.mark.parametrize(("length_ns", "wanted_ns"), [(1, 10**6), (10**9, 10**7), (60 * 10**9, 10**9), (0, 10**6)])
def test_slices_of_a_round_length(length_ns, wanted_ns):
    assert round_slice_ns(length_ns, 100) == wanted_ns


@given(st.integers(0, 10**20), st.integers(1, 200))
def test_so_many_slices_cover_the_length(length_ns, count):
    size_ns = round_slice_ns(length_ns, count)
    assert size_ns * count >= length_ns
    assert size_ns > 0


def test_marks_that_crowd_share_numbers():
    assert numbered([10, 20, 40, 100, 101], 48) == [(10, "1-3"), (100, "4-5")]
    assert numbered([], 48) == []


@given(st.lists(st.floats(0, 600), max_size=30).map(sorted))
def test_every_mark_has_a_number_and_numbers_stand_apart(places):
    found = numbered(places, 48)
    spans = [label.split("-") for _, label in found]
    assert [n for span in spans for n in range(int(span[0]), int(span[-1]) + 1)] == list(range(1, len(places) + 1))
    assert all(second[0] - first[0] >= 48 for first, second in pairwise(found))
