"""Line: labs in which paris takes orders at a steady rate, and how many of them tokyo does not have."""

from __future__ import annotations

from functools import cache
from typing import Any

from labkit.front.lab import Lab

ONE_WAY_S = 0.08  # between the regions of a pair
PATH = "secret/data/orders"


def calm_pair(seed: int) -> Lab:
    """Return a pair that replicates, after five calm seconds."""
    lab = Lab.pair(seed=seed)
    lab.replicate("paris", "tokyo")
    lab.run("5s")
    return lab


def write_orders(lab: Lab, gap_s: float, count: int) -> None:
    """Write so many orders at paris, one each so many seconds."""
    for number in range(count):
        next_s = lab.now / 1e9 + gap_s
        lab["paris"].post(f"{PATH}/{number}", {"data": {"n": number}})
        lab.run(until=next_s)


@cache
def measured(gap_s: float, one_way_s: float, seed: int) -> int:
    """Return how many acknowledged orders only paris has, at a rate and over a distance."""
    lab = calm_pair(seed)
    factor = round(one_way_s / ONE_WAY_S)
    if factor > 1:
        lab.slow("paris", "tokyo", factor=factor)
    write_orders(lab, gap_s, 40)
    return int(lab.lag("paris", "tokyo").entries)


def since(lab: Lab, begun: Lab, kind: str, **fields: Any) -> list[Any]:
    """Return the events of a kind that a lab has more than its start had."""
    return lab.trace.select(kind, **fields)[len(begun.trace.select(kind, **fields)) :]
