"""Seeded entropy and clock: the same name draws the same bytes, another name draws others, and no draw comes twice."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import seeded
from labkit.seeded import BLOCK_BYTES, DrawnOnce, SeededEntropy, WorldLabel


def test_the_same_label_draws_the_same_bytes():
    assert SeededEntropy(7, "paris", "paris-1", 0)(64) == SeededEntropy(7, "paris", "paris-1", 0)(64)


@pytest.mark.parametrize(
    "other",
    [
        (8, "", "paris", "paris-1", 0),
        (7, "/b", "paris", "paris-1", 0),
        (7, "", "paris", "paris-2", 0),
        (7, "", "paris", "paris-1", 1),
        (7, "", "tokyo", "paris-1", 0),
    ],
)
def test_another_seed_branch_node_or_incarnation_draws_others(other):
    assert SeededEntropy(7, "", "paris", "paris-1", 0)(32) != SeededEntropy(*other)(32)


def test_its_state_is_one_integer():
    first = SeededEntropy(7, "paris")
    first(12)
    first(100)
    again = SeededEntropy(7, "paris", counter=first.counter)

    assert first.counter == 3, "one for each block that was begun"
    assert again(16) == first(16)


def test_no_draw_is_repeated():
    entropy = SeededEntropy(7, "paris")
    drawn = [entropy(12) for _ in range(2_000)]

    assert len(set(drawn)) == len(drawn)


def test_nothing_is_asked_of_a_draw_of_nothing():
    assert SeededEntropy(7, "paris")(0) == b""


@given(count=st.integers(0, 5 * BLOCK_BYTES + 3))
def test_as_many_bytes_come_as_were_asked(count):
    assert len(SeededEntropy(7, "paris")(count)) == count


@given(counts=st.lists(st.integers(1, 3 * BLOCK_BYTES), min_size=2, max_size=6), cut=st.integers(0, 6))
def test_going_on_from_a_counter_is_going_on(counts, cut):
    whole = SeededEntropy(3, "x")
    drawn = [whole(count) for count in counts]
    before = SeededEntropy(3, "x")
    parts = [before(count) for count in counts[:cut]]
    after = SeededEntropy(3, "x", counter=before.counter)

    assert parts + [after(count) for count in counts[cut:]] == drawn


def test_longer_draws_are_blocks_that_differ():
    drawn = SeededEntropy(7, "paris")(4 * BLOCK_BYTES)
    blocks = {drawn[start : start + BLOCK_BYTES] for start in range(0, len(drawn), BLOCK_BYTES)}

    assert len(blocks) == 4


def test_the_clock_stands_where_those_of_labs_begin():
    assert seeded.start() == seeded.START_NS == datetime(2030, 1, 1, tzinfo=UTC).timestamp() * 1e9


def test_what_is_drawn_once_does_not_come_again_in_a_world_until_all_was_drawn():
    world = DrawnOnce()
    first, second = SeededEntropy(7, "paris", drawn_once=world), SeededEntropy(7, "tokyo", drawn_once=world)
    drawn = [(first, second)[turn % 2].draw_once("card", 52) for turn in range(52)]
    alone = SeededEntropy(7, "paris")

    assert sorted(drawn) == list(range(52))
    assert drawn != sorted(drawn)
    assert drawn[0] == alone.draw_once("card", 52)
    assert first.draw_once("card", 52) in range(52), "they begin again"
    assert [second.draw_once("die", 1) for _ in range(3)] == [0, 0, 0]


def test_what_was_drawn_once_is_state():
    entropy = SeededEntropy(7, "paris")
    before = entropy.drawn()
    drawn = [entropy.draw_once("card", 52) for _ in range(5)]
    again = SeededEntropy(7, "paris", counter=entropy.counter, drawn_once=DrawnOnce(entropy.drawn_once.state()))

    assert entropy.drawn_once.state() == {"card": tuple(drawn)}
    assert repr(entropy.drawn_once) == "DrawnOnce(card: 5)"
    given = {"card": (1, 2)}
    assert DrawnOnce(given).take("card", 52, 0) == 0
    assert given == {"card": (1, 2)}, "what a world was made of is not altered"
    assert again.draw_once("card", 52) == entropy.draw_once("card", 52)
    entropy.rewind(*before)
    assert [entropy.draw_once("card", 52) for _ in range(5)] == drawn
    assert before == (0, {})


def test_a_stream_with_another_label_goes_on_counting():
    entropy, other = SeededEntropy(7, "paris"), SeededEntropy(7, "paris/luck 3")
    entropy(8)
    other(8)
    entropy.take_label_of(SeededEntropy(7, "paris/luck 3"))

    assert (entropy(8), entropy.counter) == (other(8), 2)


def test_luck_is_in_the_label_of_keys_and_in_the_seed_of_the_network():
    label = WorldLabel('/1:"a"')
    assert label.seed_of_network(7) == 7
    label.take(3)
    first = label.branch, label.seed_of_network(7)
    label.take(3)

    assert first == ('/1:"a"/luck 3', "7 luck 3")
    assert (label.branch, label.seed_of_network(7)) == ('/1:"a"/luck 3/luck 3', "7 luck 3/3")
    assert repr(label) == "WorldLabel('/1:\"a\"/luck 3/luck 3', luck (3, 3))"


def test_a_branch_of_a_stream_is_its_own_and_the_same_every_time():
    parent = SeededEntropy(7, "vault")
    ahead = parent(8)
    one, other = parent.branched("1:a", DrawnOnce()), parent.branched("2:a", DrawnOnce())

    drawn = [ahead, parent(8), one(8), other(8), one.branched("1:a", DrawnOnce())(8)]
    assert len(set(drawn)) == 5
    assert SeededEntropy(7, "vault").branched("1:a", DrawnOnce())(8) == drawn[2]


def test_a_stream_that_takes_the_label_of_another_is_that_one() -> None:
    own, other = SeededEntropy(7, "paris"), SeededEntropy(7, "paris", "branch")
    before = own.stream
    own.take_label_of(other)

    assert own.stream == other.stream != before
