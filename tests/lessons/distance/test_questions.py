"""Both predictions of lesson 04: what is measured, what is missing before, and the numbers of the replies."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lessons.distance.line import calm_pair, write_orders
from labkit.lessons.distance.questions import FACTOR, FARTHER, ON_THE_LINE, WRITES


def lost_region(factor: int, gap_s: float = 0.01, count: int = WRITES, wait: str = "") -> Lab:
    lab = calm_pair(seed=4)
    if factor > 1:
        lab.slow("paris", "tokyo", factor=factor)
    write_orders(lab, gap_s, count)
    if wait:
        lab.run(wait)
    lab.crash("paris")
    lab.run("1s")
    lab["tokyo"].promote()
    return lab


def test_what_one_crossing_holds_is_lost():
    lab = lost_region(1)

    assert ON_THE_LINE.needs(lab) == ""
    assert ON_THE_LINE.measure(lab) == 8
    assert "100 orders were acknowledged, 8 of them are lost, the oldest 80 ms before the crash" in ON_THE_LINE.why(lab)
    assert set(ON_THE_LINE.replies) == {0, 16, 100}
    assert "as fast as before" in FARTHER.needs(lab)


def test_a_longer_line_holds_more_of_the_same_stream():
    lab = lost_region(FACTOR)

    assert FARTHER.needs(lab) == ""
    assert FARTHER.measure(lab) == 32
    assert FARTHER.why(lab).startswith("32 orders were on the line")
    assert set(FARTHER.replies) == {8, 64, 2}


@pytest.mark.parametrize("question", [ON_THE_LINE, FARTHER])
def test_nothing_is_counted_before_the_loss(question):
    lab = calm_pair(seed=4)
    lab.slow("paris", "tokyo", factor=FACTOR)
    assert "paris still runs" in question.needs(lab)
    lab.crash("paris")
    assert "not promoted yet" in question.needs(lab)


@pytest.mark.parametrize(
    ("question", "lab", "lacks"),
    [
        (ON_THE_LINE, {"factor": FACTOR}, "The line of this lab was slowed"),
        (FARTHER, {"factor": 2}, "line is slowed by factor 2, not by factor 4"),
        (ON_THE_LINE, {"factor": 1, "gap_s": 0.02}, "an order each 20.0 ms, not each 10 ms"),
        (FARTHER, {"factor": FACTOR, "count": 50}, "paris took 50 orders before the loss, not 100"),
        (ON_THE_LINE, {"factor": 1, "wait": "1s"}, "paris went down 1010 ms after the last order"),
    ],
)
def test_a_lab_of_another_case_is_not_judged(question, lab, lacks):
    assert lacks in question.needs(lost_region(**lab))


def test_unequal_roots_are_no_damage():
    lab = calm_pair(seed=4)
    write_orders(lab, 0.01, 10)
    assert lab["paris"].root != lab["tokyo"].root
    lab.run("1s")
    assert lab["paris"].root == lab["tokyo"].root
