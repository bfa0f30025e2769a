"""Pairs whose primary is lost: the rate at which orders are taken, and who takes a write."""

from __future__ import annotations

from labkit.lessons.disaster.region import GAP_S, calm_pair, take_orders, takes_writes


def test_orders_come_at_a_steady_rate():
    lab = calm_pair(seed=5)
    began_ns = lab.now
    take_orders(lab, 10)

    assert lab.now - began_ns == round(10 * GAP_S * 1e9)
    assert lab.lag("paris", "tokyo").entries == 8


def test_a_secondary_and_a_cluster_without_power_take_no_writes():
    lab = calm_pair(seed=5)
    assert (takes_writes(lab, "paris"), takes_writes(lab, "tokyo")) == (True, False)
    lab.crash("paris")
    assert not takes_writes(lab, "paris")
