"""Where time goes is drawn, and written in characters, from the profile that is kept."""

from __future__ import annotations

import pytest

from labkit.front import speed_chart
from labkit.front.speed_chart import Profiled
from labkit.views.looks import LOOKS

ROWS = (
    Profiled("requests", "KV write", 21.6, (("storage", 704), ("walk", 291), ("fields", 5), ("door", 4))),
    Profiled("in a lab", "a write", 240.0, (("tree", 1_000),)),
)


def test_a_profile_is_read_as_it_was_written(tmp_path):
    speed_chart.write(ROWS, tmp_path / "speed.json")

    assert speed_chart.read(tmp_path / "speed.json") == ROWS


def test_the_text_has_a_bar_for_each_part_that_can_be_seen():
    assert speed_chart.as_text(ROWS).splitlines() == [
        "KV write, 22 µs",
        "  storage      70 %  ████████████████████████████",
        "  walk         29 %  ████████████",
        "  fields        1 %  █",
        "a write, 240 µs",
        "  tree        100 %  ████████████████████████████████████████",
    ]


def test_the_picture_says_the_same_in_words():
    picture = speed_chart.draw(ROWS)

    assert picture.description == (
        "No part takes more than 100 % of any of them. "
        "requests – KV write, 22 µs: storage 70 %, walk 29 %, fields 1 %. in a lab – a write, 240 µs: tree 100 %."
    )
    assert picture.svg.count(">storage</text>") == 1


def test_parts_beside_one_another_differ_by_pattern_and_all_have_one():
    for row in speed_chart.read():
        looks = [LOOKS[name] for name, _ in row.parts]
        assert len(set(looks)) == len(looks), row.name


@pytest.mark.parametrize("row", speed_chart.read(), ids=lambda row: row.name)
def test_the_kept_shares_are_a_whole(row):
    assert 990 <= sum(share for _, share in row.parts) <= 1_010
    assert row.each_us > 1
