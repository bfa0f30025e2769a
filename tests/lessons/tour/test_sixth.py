"""Exercise sixth: where it begins, what is said of a wait that is too short, and of a write at the survivor."""

from __future__ import annotations

import pytest

from labkit.lessons.judging import attempted, judge
from labkit.lessons.tour.sixth import ORDER, SAVE_THE_SIXTH, SIXTH, look, start, wait_before, write_at_the_survivor


def test_five_orders_are_on_both_sides_at_the_start():
    lab = start()

    assert lab["paris"].root == lab["tokyo"].root
    assert look(lab) == ("", False, "paris-1", 0.0, "secondary", None, False)


@pytest.mark.parametrize(("way", "met_none"), [(write_at_the_survivor, True), (wait_before, False)])
def test_an_order_that_met_no_disaster_is_right_and_it_is_said(way, met_none):
    lab = start()
    way(lab)

    assert look(lab).contents == {"item": "lantern"}
    assert judge(SAVE_THE_SIXTH, (lab,)).seen.startswith("Written at tokyo, it met no disaster." if met_none else "")
    assert bool(judge(SAVE_THE_SIXTH, (lab,)).seen) is met_none


@pytest.mark.parametrize(("wait", "held"), [("80ms", False), ("85ms", True)])
def test_a_crossing_takes_a_little_more_than_80_ms(wait, held):
    lab = start()
    lab["paris"].post(SIXTH, ORDER)
    lab.run(wait)
    lab.crash("paris")
    lab["tokyo"].promote()

    assert (judge(SAVE_THE_SIXTH, (lab,)).condition == "") is held
    assert held or "acknowledged it 80.0 ms before the loss" in judge(SAVE_THE_SIXTH, (lab,)).seen


def test_a_write_that_a_secondary_refused_is_an_attempt():
    lab = start()
    lab["tokyo"].post(SIXTH, ORDER)

    assert attempted(SAVE_THE_SIXTH, (lab,))
    assert judge(SAVE_THE_SIXTH, (lab,)).condition == "written"


@pytest.mark.parametrize(("fails", "said"), [(False, ""), (True, " 15s later, without anything else being done")])
def test_where_nothing_failed_no_time_is_said(fails, said):
    lab = start()
    lab["paris"].post(SIXTH, ORDER)
    leader = "paris-1"
    if fails:
        lab.crash("paris-1")
        lab["tokyo"].promote()
        lab["tokyo"].get(SIXTH)
        leader = "paris-2"

    judged = judge(SAVE_THE_SIXTH, (lab,))
    assert judged[1:3] == ("lost", f"{leader} leads paris{said}")


def test_one_that_is_deleted_again_is_called_so():
    lab = start()
    wait_before(lab)
    lab["tokyo"].delete(SIXTH)

    assert judge(SAVE_THE_SIXTH, (lab,))[1:3] == ("held", "orders/6 is deleted again")
