"""Exercise back: where it begins, and that a region which wakes among the others is a second primary at once."""

from __future__ import annotations

from labkit.lessons.safe_order.back import ALONE, ORDERS, look, start


def test_it_begins_with_two_orders_that_paris_never_saw():
    lab = start()

    assert (lab["paris"].active, lab["tokyo"].mode) == ("", "primary")
    assert lab.ledger.rpo().writes == 0
    assert [lab["tokyo"].get(f"secret/data/orders/{number}").ok for number in (1, 2, 3, *ALONE)] == [True] * 5
    assert look(lab).missing == [f"{ORDERS}/{number}" for number in ALONE]


def test_who_wakes_among_the_others_is_a_second_primary():
    lab = start()
    lab.restart("paris")
    assert look(lab).broken_s == 0  # it is sealed
    lab["paris"].unseal()

    seen = look(lab)
    assert seen.broken_s > 0
    assert seen.modes == {"paris": "primary", "tokyo": "primary"}
    assert seen.missing == [f"{ORDERS}/{number}" for number in ALONE]
    assert seen.powered
    assert not seen.follows
