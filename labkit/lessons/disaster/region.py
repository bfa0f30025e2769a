"""Region: pairs whose primary is lost while it takes orders, and what the survivor answers."""

from __future__ import annotations

from labkit.front.lab import Lab
from labkit.service.silence import Silence

PATH = "secret/data/orders"
GAP_S, ORDERS = 0.01, 100


def calm_pair(seed: int) -> Lab:
    """Return a pair that replicates, after five calm seconds."""
    lab = Lab.pair(seed=seed)
    lab.replicate("paris", "tokyo")
    lab.run("5s")
    return lab


def take_orders(lab: Lab, count: int = ORDERS) -> None:
    """Write so many orders at paris, one each ten milliseconds."""
    for number in range(count):
        next_s = lab.now / 1e9 + GAP_S
        lab["paris"].post(f"{PATH}/{number}", {"data": {"n": number}})
        lab.run(until=next_s)


def takes_writes(lab: Lab, cluster: str) -> bool:
    """Whether a cluster of a branch takes a write."""
    try:
        return lab[cluster].post(f"{PATH}/probe", {"data": {}}, timeout="5s").ok
    except Silence:
        return False
