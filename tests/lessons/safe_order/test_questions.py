"""Both predictions of lesson 08: what is measured, what is missing before, and what the replies claim."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lessons.disaster.region import calm_pair, take_orders
from labkit.lessons.safe_order.questions import AT_ONCE, ORDERS, PATIENT, came_meanwhile, pause_ms


@pytest.fixture(scope="module")
def busy() -> Lab:
    lab = calm_pair(seed=8)
    take_orders(lab, ORDERS)
    return lab


def moved(busy: Lab, wait: str) -> Lab:
    """Return a branch in which the primary moved, so long after paris stepped down."""
    lab = busy.branch(f"after {wait}")
    lab["paris"].demote()
    lab.run(wait)
    lab["tokyo"].promote()
    return lab.run("1s")


@pytest.mark.slow
def test_a_plan_alone_loses_what_was_on_the_line(busy):
    lab = moved(busy, "0s")

    assert (AT_ONCE.needs(lab), AT_ONCE.measure(lab)) == ("", 7)
    assert sorted(write.path for write in lab.ledger.lost()) == [f"secret/data/orders/{n}" for n in range(93, 100)]
    assert "promoted 2.4 ms after" in AT_ONCE.why(lab)
    assert "1 more stream message of paris arrived in that time, and 7 acknowledged orders had" in AT_ONCE.why(lab)
    assert came_meanwhile(lab) + 7 == 8  # the rate, times one way
    assert "`planned failover loses nothing` is broken" in AT_ONCE.why(lab)
    assert "promoted 2 ms after paris stepped down: hand in the other one" in PATIENT.needs(lab)
    assert "Player" in repr(AT_ONCE.draw(lab))


@pytest.mark.slow
def test_a_demoted_cluster_takes_nothing_and_still_sends(busy):
    lab = moved(busy, "200ms")

    assert (PATIENT.needs(lab), PATIENT.measure(lab)) == ("", 0)
    assert pause_ms(lab) > 200
    assert came_meanwhile(lab) >= 8
    assert "0 acknowledged orders are lost" in PATIENT.why(lab)
    assert "` holds" in AT_ONCE.why(lab)
    assert not busy.branch("refuses").run("0s")["tokyo"].post("secret/data/x", {"data": {}}).ok
    lab = busy.branch("refuses writes")
    lab["paris"].demote()
    assert lab["paris"].post("secret/data/x", {"data": {}}).status == 400


@pytest.mark.slow
def test_what_the_replies_compare_with(busy):
    dark = busy.branch("dark")
    dark.crash("paris")
    dark.run("5s")
    dark["tokyo"].promote()

    assert dark.ledger.rpo().writes == 8  # the reply to 8: what a disaster loses
    assert "a node lost power" in AT_ONCE.needs(dark)


def test_what_is_missing_before_it_can_be_counted():
    calm = calm_pair(seed=8)
    assert "paris has not stepped down yet" in AT_ONCE.needs(calm)
    calm["paris"].demote()
    assert "tokyo is not promoted yet" in AT_ONCE.needs(calm)
    assert PATIENT.needs(calm) == AT_ONCE.needs(calm)
