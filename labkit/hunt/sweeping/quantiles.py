"""Quantiles: what so many in a hundred runs stay within, with the bounds that so few runs allow.

Both bounds are values that were seen (order statistics), so nothing is assumed about how values are distributed; each
holds with 95 % certainty.  The upper one needs as many runs as make it likely that one of them is beyond the quantile.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, lgamma, log
from typing import NamedTuple

CERTAINTY = 0.95


class Quantile(NamedTuple):
    """A value below which a share of all runs is, and its bounds."""

    value: float
    low: float
    high: float


def runs_needed(percent: int) -> int:
    """Return how many runs a quantile needs for an upper bound: 299 for 99 %."""
    return ceil(log(1 - CERTAINTY) / log(percent / 100))


def quantile(ordered: Sequence[float], percent: int) -> Quantile | None:
    """Return a quantile of values in order; None where they are too few for its upper bound."""
    count = len(ordered)
    if count < runs_needed(percent):
        return None
    below = _cumulative(count, percent / 100)
    high = next(place for place in range(count) if below[place] >= CERTAINTY)
    low = next((place for place in range(count - 1, -1, -1) if 1 - below[place] >= CERTAINTY), 0)
    value = max(0, ceil(count * percent / 100) - 1)
    return Quantile(ordered[value], ordered[low], ordered[high])


def _cumulative(count: int, share: float) -> list[float]:
    """Return, for each number of values, how likely no more than so many of ``count`` are below the quantile."""
    found, total = [], 0.0
    for number in range(count):
        ways = lgamma(count + 1) - lgamma(number + 1) - lgamma(count - number + 1)
        total += exp(ways + number * log(share) + (count - number) * log(1 - share))
        found.append(total)
    return found
