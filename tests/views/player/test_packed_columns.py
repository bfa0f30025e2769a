"""Packed columns: the script reads the numbers that were packed, and spells out what its page has as it was."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from labkit import Lab
from labkit.views.player.data import data_of
from labkit.views.player.packed_columns import LAST, MORE, SIGNS, packed, text_of, with_sign
from labkit.views.player.recorded.recording import recording_of
from labkit.views.player.stage import stage_of
from tests.views.player.scripts import asked


def read(text: str) -> list[int]:
    """What a script reads, in Python."""
    found, value, scale = [], 0, 1
    for sign in text:
        place = SIGNS.index(sign)
        value, scale = value + place % LAST * scale, scale * MORE
        if place < LAST:
            found.append(value)
            value, scale = 0, 1
    return found


@given(st.lists(st.integers(0, 2**53)))
def test_numbers_are_read_again(numbers: list[int]) -> None:
    assert read(text_of(numbers)) == numbers


def test_signs_need_no_escape_in_a_script_of_a_page() -> None:
    assert not set("\"'<\\") & set(SIGNS)
    assert (len(SIGNS), LAST, MORE) == (90, 70, 20)
    assert [with_sign(number) for number in (0, -1, 1, -2)] == [0, 1, 2, 3]


def test_the_script_spells_out_what_was_packed(tmp_path: Path) -> None:
    lab = Lab.pair(seed=7)
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"a": "1"}})
    lab.corrupt("tokyo")
    lab.partition("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"a": "2"}})
    recording = recording_of(lab.queries, lab.invariants, None, lab._pictures)
    plain = data_of(recording, stage_of(recording))
    short = packed(plain)

    assert (
        type(short["messages"]["sent"]) is type(short["trees"]["apart"]["pages"]) is type(short["interesting"]) is str
    )
    found = asked(tmp_path, [plain, short], "data.map((one) => { spellOut(one); return one; })")
    assert found is None or found[0] == found[1]
    numbers = [0, 69, 70, 1399, 1400, 10**12]
    assert asked(tmp_path, [text_of(numbers)], "numbersOf(data[0])") in (None, numbers)
