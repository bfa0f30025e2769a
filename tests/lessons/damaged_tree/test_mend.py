"""Exercise mend: how it begins, and what its hints and sentences claim."""

from __future__ import annotations

import pytest

from labkit.lessons.damaged_tree.mend import MEND, join_again, look, move_first, start
from labkit.lessons.damaged_tree.orders import ORDERS
from labkit.lessons.judging import judge


@pytest.mark.slow
def test_it_begins_with_damage_on_either_side():
    lab = start()
    seen = look(start())

    assert lab["paris"].root == lab["tokyo"].root
    assert seen.damaged == ("tokyo",)
    assert (len(seen.unreadable["paris"]), seen.unreadable["tokyo"]) == (1, [])


def test_what_was_seen_is_of_the_readers_lab():
    sound, opens = (next(one for one in MEND.conditions if one.name == name) for name in ("sound index", "opens"))
    seen = look(start())

    assert sound.says(seen) == "a Merkle check still reports damage in tokyo"
    assert opens.says(seen) == "paris cannot give version 1 of orders/6"


def test_the_primary_reindexed_passes_its_rot_on_and_as_a_secondary_fetches():
    primary, secondary = start(), start()
    primary["paris"].reindex()
    primary.run("5s")
    move_first(secondary)

    assert look(primary).unreadable == {"paris": [ORDERS[5]], "tokyo": [ORDERS[5]]}
    assert look(secondary).unreadable == {"paris": [], "tokyo": []}


def test_a_secondary_that_joins_again_gets_every_value():
    lab = start()
    join_again(lab)

    assert look(lab).unreadable == {"paris": [], "tokyo": []}


def test_who_writes_an_order_again_hears_that_this_is_another_version():
    lab = start()
    lab["paris"].post(ORDERS[5], {"data": {"item": "rope 6"}})
    lab["tokyo"].reindex()
    lab.run("5s")

    assert judge(MEND, (lab,)).seen == (
        "paris cannot give version 1 of orders/6; what you wrote again is version 2, and stands beside it"
    )


def test_what_is_right_is_said_with_its_reason():
    lab = start()
    move_first(lab)

    assert "so paris had to follow tokyo first" in judge(MEND, (lab,)).seen
