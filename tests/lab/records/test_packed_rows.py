"""Packed rows are read as they were appended, whatever they hold, and take a few bytes each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.lab.records import packed_rows
from labkit.lab.records.packed_rows import BYTES, NAME, NUMBER, PACKED_ROWS, VALUE, PackedRows

SHAPE = (NUMBER, VALUE, NAME, BYTES, (NAME, BYTES))
NAMES = (
    "",
    "a",
    "a/",
    "a/1",
    "a/1.data",
    "a/01",
    "a/0",
    "a/0.data",
    "a/12/3.data",
    "1",
    "7.x.y",
    "a/²",
    "a/\u0661",
    "a/-1",
)
DIGESTS = (None, b"", b"\x00", b"12345678901234567890")

names = st.sampled_from([*NAMES, f"a/{10**9 - 1}", f"a/{10**9}", "a/9" * 40]) | st.text(max_size=6)
digests = st.sampled_from(DIGESTS) | st.binary(max_size=4)
numbers = st.integers(-5, 300) | st.sampled_from([-1, 1 << 16, 1 << 40, (1 << 63) - 1, 1 << 63, -(1 << 70)])
values = st.sampled_from(["paris", "tokyo", (), ("data", "options"), 7])
rows = st.tuples(numbers, values, names, digests, st.lists(st.tuples(names, digests), max_size=3).map(tuple))


def packed(appended, state=None):
    made = PackedRows(SHAPE, tuple, state)
    for row in appended:
        made.append(row)
    return made


@given(st.lists(rows, max_size=40), st.integers(1, 7))
def test_rows_are_read_as_they_were_appended(appended, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_rows, "PACKED_ROWS", size)
        made = packed(appended)
        again = PackedRows(SHAPE, tuple, made.state())

        for each in (made, again):
            assert list(each) == appended
            assert list(reversed(each)) == appended[::-1]
            assert [each[place] for place in range(-len(appended), len(appended))] == appended * 2
            assert each[1:5] == appended[1:5]
            assert (len(each), each == appended) == (len(appended), True)


@given(st.lists(rows, max_size=12), st.lists(rows, max_size=12))
def test_what_a_state_was_made_of_is_gone_on_with_apart(first, more):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_rows, "PACKED_ROWS", 4)
        made = packed(first)
        state = made.state()
        one, other = packed(more, state), packed(more[::-1], state)

        assert (list(one), list(other)) == (first + more, first + more[::-1])
        assert list(made) == list(PackedRows(SHAPE, tuple, state)) == first


def test_a_state_is_plain_and_its_chunks_are_shared():
    made = packed([(number, "paris", f"a/{number}", b"x", (("b/1", None),)) for number in range(2 * PACKED_ROWS + 3)])
    first, again = made.state(), made.state()

    assert first == again
    assert all(one is other for one, other in zip(first["packed"], again["packed"], strict=True))
    assert len(first["open"]) == 3

    def plain(value):
        return isinstance(value, str | bytes | int | None) or (isinstance(value, tuple) and all(map(plain, value)))

    assert all(map(plain, first.values()))


@pytest.mark.parametrize("place", [3, -4, 1_000])
def test_a_row_that_is_not_there_is_an_error(place):
    with pytest.raises(IndexError, match=f"row {place} of 3"):
        packed([(1, "x", "a", b"", ())] * 3)[place]


def test_lists_of_other_rows_differ():
    row = (1, "x", "a", b"", ())

    assert packed([row]) != [row, row]
    assert packed([row]) != [(2, "x", "a", b"", ())]
    assert packed([row]) != "x"
    assert repr(packed([row])) == "PackedRows(1 rows)"


def test_a_number_at_the_end_of_a_name_needs_no_text_of_its_own():
    count = 40 * PACKED_ROWS
    made = packed([(number, "paris", f"versions/app/{number}.data", b"12345678", ()) for number in range(count)])
    state = made.state()

    assert sum(map(len, state["values"])) == 2
    bytes_kept = sum(len(column) for column in _bytes_of(state["packed"]))
    assert bytes_kept / count <= 20


def _bytes_of(value):
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _bytes_of(each)
