"""A list that only grows: as a list is, and saved in few chunks that are shared."""

from __future__ import annotations

from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.lab.records.chunks import Chunks


@given(steps=st.lists(st.one_of(st.integers(0, 99), st.just("save"), st.just("restore")), max_size=60))
def test_it_is_the_list_of_what_was_appended(steps):
    rows: Chunks[int] = Chunks()
    expected: list[int] = []
    for step in steps:
        if step == "save":
            rows.state()
        elif step == "restore":
            rows = Chunks(rows.state())
        else:
            rows.append(step)
            expected.append(step)

    assert rows == expected
    assert (list(rows), list(reversed(rows)), len(rows)) == (expected, expected[::-1], len(expected))
    assert [rows[place] for place in range(-len(expected), len(expected))] == expected * 2
    assert rows[1:4] == expected[1:4]


@given(steps=st.lists(st.one_of(st.integers(0, 99), st.just("save"), st.just("restore")), max_size=60))
def test_with_a_limit_it_is_the_end_of_that_list(steps):
    rows: Chunks[int] = Chunks(newest=4)
    expected: list[int] = []
    for step in steps:
        if step == "save":
            saved = rows.state()
            assert sum(map(len, saved)) == len(rows)
        elif step == "restore":
            rows = Chunks(rows.state(), newest=4)
        else:
            rows.append(step)
            expected.append(step)
        assert min(4, len(expected)) <= len(rows) < 8

    assert list(rows) == expected[-len(rows) :] if expected else not rows
    assert [rows[place] for place in range(-len(rows), len(rows))] == list(rows) * 2


def test_what_was_saved_is_not_changed_by_what_is_forgotten():
    rows: Chunks[int] = Chunks(newest=4)
    for row in range(6):
        rows.append(row)
    saved = rows.state()
    for row in range(6, 20):
        rows.append(row)

    assert saved == ((0, 1, 2, 3, 4, 5),)
    assert rows[-4:] == [16, 17, 18, 19]


def test_what_was_saved_never_changes_and_is_shared():
    rows: Chunks[tuple[object]] = Chunks()
    for row in range(100):
        rows.append((row,))
    saved = rows.state()
    rows.append((100,))
    again: Chunks[tuple[object]] = Chunks(saved)
    again.append(("other",))

    assert sum(map(len, saved)) == 100
    assert rows.state()[0] is again.state()[0] is saved[0]
    assert (rows[-1], again[-1]) == ((100,), ("other",))


def test_rows_are_made_of_what_was_appended_when_they_are_read():
    rows: Chunks[str] = Chunks((((1, "a"),),), lambda row: "-".join(map(str, row)))
    rows.append((2, "b"))

    assert (list(rows), list(reversed(rows))) == (["1-a", "2-b"], ["2-b", "1-a"])
    assert (rows[0], rows[-1], rows[:1]) == ("1-a", "2-b", ["1-a"])
    assert rows.state() == (((1, "a"), (2, "b")),)


def test_chunks_stay_few():
    rows: Chunks[int] = Chunks()
    for row in range(1000):
        rows.append(row)
        rows.state()

    assert len(rows.state()) <= 10


def test_it_knows_what_it_has_and_what_it_is_not():
    rows: Chunks[int] = Chunks(((1, 2),))

    with pytest.raises(IndexError, match="row 2 of 2"):
        rows[2]
    assert rows != "12"
    assert rows == ANY, "what it does not know may know it"
    assert rows != [1, 3]
    assert repr(rows) == "Chunks(2 rows)"
