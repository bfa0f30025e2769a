"""Quantiles: bounds hold as often as they say, and too few values have none."""

from __future__ import annotations

import pytest

from labkit.hunt.draws import Draws
from labkit.hunt.sweeping.quantiles import Quantile, quantile, runs_needed


def test_how_many_runs_a_quantile_needs():
    assert [runs_needed(percent) for percent in (50, 90, 95, 99)] == [5, 29, 59, 299]


@pytest.mark.parametrize("percent", [50, 90, 99])
def test_one_too_few_is_none_and_enough_reaches_the_largest(percent: int):
    needed = runs_needed(percent)
    found = quantile(range(needed), percent)

    assert quantile(range(needed - 1), percent) is None
    assert found is not None
    assert found.high == needed - 1
    assert found.low <= found.value <= found.high


def test_of_a_thousand_values_in_order():
    """Places of a binomial table: 473 to 526 of the median, 981 to 994 (one-sided, 95 %) of 99 in 100."""
    assert quantile(range(1, 1001), 50) == Quantile(500, 474, 527)
    assert quantile(range(1, 1001), 99) == Quantile(990, 985, 996)


@pytest.mark.parametrize("percent", [50, 90])
def test_bounds_hold_in_nearly_all_samples(percent: int):
    draws, low, high = Draws("quantiles", percent), 0, 0
    for _ in range(400):
        found = quantile(sorted(draws.below(10_000) for _ in range(60)), percent)
        assert found is not None
        low += found.low <= percent * 100
        high += found.high >= percent * 100 - 1

    assert min(low, high) >= 370
