"""A lab keeps the conditions that it watches by name; what judges them is handed in from above."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.bench import Bench

SHORT = {"lag": {"at most": 2}}


@pytest.fixture
def lab() -> Lab:
    lab = Lab.pair()
    lab.watch("short lag", SHORT)
    return lab


def test_a_bench_alone_knows_no_conditions(lab: Lab) -> None:
    with pytest.raises(ValueError, match=r"conditions are judged by labkit\.Lab"):
        Bench.pair().watch("short lag", SHORT)
    with pytest.raises(ValueError, match=r"conditions are judged by labkit\.Lab"):
        Bench.restore(lab.snapshot())


def test_they_are_plain_values_by_name(lab: Lab) -> None:
    lab.watch("one mode", {"modes": {"paris": "disabled"}})
    again = Lab.restore(lab.snapshot())

    assert [name for name, _ in lab.snapshot().state["conditions"]] == ["short lag", "one mode"]
    assert again.snapshot().state["conditions"] == lab.snapshot().state["conditions"]
    assert again.invariants.applies("one mode")
    assert not again.invariants.applies("short lag")


def test_one_that_is_dropped_is_judged_no_more(lab: Lab) -> None:
    lab.watch("short lag", lambda lab: True)

    assert lab.snapshot().state["conditions"] == ()
    assert lab.invariants.conditions == {}
    assert list(lab.invariants.followers) == []
