"""Split labs: what each cluster answers to a write."""

from __future__ import annotations

from labkit.lessons.two_primaries.fence import start
from labkit.lessons.two_primaries.split import answer_to_write, modes, pair_with_orders, takers


def test_a_pair_holds_three_orders_on_both_sides():
    lab = pair_with_orders(seed=61)

    assert lab["paris"].list("secret/metadata/orders").data["keys"] == ["1", "2", "3"]
    assert lab["paris"].root == lab["tokyo"].root


def test_a_secondary_refuses_writes_and_a_lost_cluster_is_silent():
    lab = start()

    assert (takers(lab), modes(lab)) == (["paris"], {"paris": "primary", "tokyo": "secondary"})
    assert answer_to_write(lab, "tokyo") == "400"
    lab.crash("paris")
    assert answer_to_write(lab, "paris") == "silence"
