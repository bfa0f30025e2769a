"""The line: what is on it is the rate times one way."""

from __future__ import annotations

import pytest

from labkit.lessons.distance.line import calm_pair, measured, since, write_orders


@pytest.mark.parametrize(
    ("gap_s", "one_way_s", "found"),
    [(0.01, 0.08, 8), (0.005, 0.08, 16), (0.05, 0.08, 1), pytest.param(0.01, 0.24, 24, marks=pytest.mark.slow)],
)
def test_what_is_on_the_line(gap_s, one_way_s, found):
    assert measured(gap_s, one_way_s, 400) == found


def test_orders_are_written_at_an_even_pace():
    lab = calm_pair(seed=4)
    begun = lab.now
    write_orders(lab, 0.5, 3)

    assert (lab.now - begun) / 1e9 == pytest.approx(1.5)
    assert lab["paris"].list("secret/metadata/orders").data["keys"] == ["0", "1", "2"]


def test_only_what_happened_since_is_returned():
    begun, lab = calm_pair(seed=4), calm_pair(seed=4)
    lab.heal()

    assert [event.verb for event in since(lab, begun, "fault")] == ["heal"]
    assert since(lab, begun, "mode") == []
