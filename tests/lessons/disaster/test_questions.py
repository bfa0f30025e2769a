"""Both predictions of lesson 05: what is measured, what is missing before, and what the replies claim."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lessons.disaster.questions import HURRY, LOST, SAME, decided
from labkit.lessons.disaster.region import calm_pair, take_orders


@pytest.fixture(scope="module")
def dark() -> Lab:
    lab = calm_pair(seed=5)
    take_orders(lab)
    lab.crash("paris")
    return lab


@pytest.mark.slow
def test_what_was_on_the_line_is_lost(dark):
    lab = dark.branch("after twenty seconds")
    assert "not promoted yet" in LOST.needs(lab)
    lab.run("20s")
    lab["tokyo"].promote()
    lab["tokyo"].post("secret/data/orders/first", {"data": {}})

    assert LOST.needs(lab) == ""
    assert LOST.measure(lab) == 8
    assert "counts 8 of 100 acknowledged orders lost: those of the last 0.08 s" in LOST.why(lab)
    assert "No write was taken for 20.0 s" in LOST.why(lab)
    assert sorted(write.path for write in lab.ledger.lost()) == [f"secret/data/orders/{n}" for n in range(92, 100)]
    assert "Player" in repr(LOST.draw(lab))
    assert "promoted already" in HURRY.needs(lab)


@pytest.mark.slow
def test_hurry_changes_the_time_only(dark):
    digest = dark.trace.digest()
    assert HURRY.needs(dark) == ""
    assert HURRY.measure(dark) == SAME
    (quick, soon), (slow, late) = decided(dark, 5), decided(dark, 60)

    assert (quick, slow) == (8, 8)
    assert (round(soon, 1), round(late, 1)) == (5.0, 60.0)
    assert "after 5 s: 8 lost, 5.0 s without writes; decided after 60 s: 8 lost, 60.0 s" in HURRY.why(dark)
    assert dark.trace.digest() == digest


def test_what_is_missing_before_it_can_be_counted(dark):
    calm = calm_pair(seed=5)
    assert "still has power" in LOST.needs(calm)
    assert "still has power" in HURRY.needs(calm)
    assert "More than 5 s have passed" in HURRY.needs(dark.branch("late").run("6s"))
