"""Exercise sixth: the start has five orders on both sides, and a look leaves a promoted cluster alone."""

from __future__ import annotations

from labkit.lessons.tour.sixth import SIXTH, look, start, write_at_the_survivor


def test_five_orders_are_on_both_sides_at_the_start():
    lab = start()

    assert lab["paris"].root == lab["tokyo"].root
    assert look(lab) == (False, "secondary", False)


def test_a_write_at_the_survivor_is_held():
    lab = start()
    write_at_the_survivor(lab)

    assert look(lab) == (True, "primary", True)
    assert lab["tokyo"].get(SIXTH).ok
