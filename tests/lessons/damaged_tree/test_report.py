"""Exercise report: where the damage is that its ways name, and what can be handed in."""

from __future__ import annotations

import pytest

from labkit.lessons.damaged_tree.orders import DamagedPlace
from labkit.lessons.damaged_tree.report import REPORT, TREE, by_requests, by_the_verb, look, start


def test_three_places_are_damaged():
    lab, found = by_the_verb(start())
    seen = look(lab, found)

    assert seen.damaged == {
        DamagedPlace("tokyo", TREE, 190, None),
        DamagedPlace("tokyo", TREE, 223, 111),
        DamagedPlace("paris", TREE, 239, 249),
    }
    assert sorted(map(str, found)) == sorted(map(str, by_requests(start())[1]))
    assert lab["paris"].root == lab["tokyo"].root, "equal roots over three damaged places"


@pytest.mark.parametrize(
    "handed", [7, "page 190", {"tokyo": 190}, [["tokyo", TREE, "190", None]], [("tokyo", 190)], [None]]
)
def test_what_is_no_list_of_places_is_said_and_not_read(handed):
    seen = look(start(), handed)

    assert seen.given == ()
    assert len(seen.unread) == 1
    assert seen.left_out == 3


def test_a_tuple_a_set_and_a_list_are_read_too():
    row = ("tokyo", TREE, 190, None)

    assert look(start(), (row,)).given == look(start(), {row}).given == (DamagedPlace(*row),)
    assert look(start(), [list(row)]).given == (DamagedPlace(*row),)


def test_a_number_as_a_text_is_named_and_a_long_list_is_cut():
    places, sound = (next(one for one in REPORT.conditions if one.name == name) for name in ("places", "sound ones"))
    rows = [("paris", TREE, page, None) for page in range(200)]

    assert "whose page is a text" in places.says(look(start(), [("tokyo", TREE, "190", None)]))
    assert sound.says(look(start(), rows)).endswith("page 3 of paris and 196 more")
