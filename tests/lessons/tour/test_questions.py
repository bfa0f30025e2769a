"""Both predictions of lesson 00: what is measured, what is missing before, and the numbers of the explanations."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lessons.distance.line import calm_pair
from labkit.lessons.tour.questions import ORDERS, PATH, SECOND, SURVIVE


def lost(wait: str) -> Lab:
    lab = calm_pair(seed=7)
    assert "0 orders so far" in SURVIVE.needs(lab)
    for number in range(1, ORDERS + 1):
        lab["paris"].post(f"{PATH}/{number}", {"data": {"item": "rope"}})
    assert "paris still runs" in SURVIVE.needs(lab)
    if wait:
        lab.run(wait)
    lab.crash("paris")
    assert "not promoted yet" in SURVIVE.needs(lab)
    lab.run("20s")
    lab["tokyo"].promote()
    return lab


def test_at_once_none_survives():
    lab = lost("")

    assert SURVIVE.needs(lab) == ""
    assert SURVIVE.measure(lab) == 0
    assert "5 orders were acknowledged, and 0 are in tokyo" in SURVIVE.why(lab)
    assert "paris was lost 0.00 s after" in SURVIVE.why(lab)
    assert "right after the last order" in SECOND.needs(lab)


def test_a_second_later_all_survive():
    lab = lost("1s")

    assert SECOND.needs(lab) == ""
    assert SECOND.measure(lab) == 5
    assert "5 are in tokyo. paris was lost 1.00 s after" in SECOND.why(lab)


def test_a_message_takes_what_the_explanation_says():
    (link,) = [each for each in calm_pair(seed=7).blueprint.links if set(each.between) == {"paris", "tokyo"}]

    assert link.latency_ns / 1e9 == pytest.approx(0.08)


def test_all_orders_leave_within_one_crossing():
    """What the reply to 4 says."""
    lab = lost("")
    times = [write.at_ns for write in lab.ledger.writes]

    assert (max(times) - min(times)) / 1e9 < 0.08
