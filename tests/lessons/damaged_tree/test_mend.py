"""Exercise mend: how it begins, and what its hints and sentences claim."""

from __future__ import annotations

import pytest

from labkit.lessons.damaged_tree.mend import MEND, join_again, look, start


@pytest.mark.slow
def test_it_begins_with_damage_on_either_side():
    lab = start()
    seen = look(start())

    assert lab["paris"].root == lab["tokyo"].root
    assert seen.damaged == ("paris",)
    assert (seen.unreadable["paris"], len(seen.unreadable["tokyo"])) == ([], 1)


def test_what_was_seen_is_of_the_readers_lab():
    sound, opens = (next(one for one in MEND.conditions if one.name == name) for name in ("sound index", "opens"))
    seen = look(start())

    assert sound.says(seen) == "a Merkle check still reports damage in paris"
    assert opens.says(seen) == "tokyo cannot give version 1 of orders/6"


def test_a_secondary_that_joins_again_gets_every_value():
    lab = start()
    join_again(lab)

    assert look(lab).unreadable == {"paris": [], "tokyo": []}
