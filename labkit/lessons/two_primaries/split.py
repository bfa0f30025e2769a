"""Split: labs of a pair whose line is cut, and what each cluster of them answers to a write."""

from __future__ import annotations

from typing import Any

from labkit.front.lab import Lab
from labkit.service.silence import Silence

PAIR = ("paris", "tokyo")
PROBE = "secret/data/probe"


def pair_with_orders(seed: int) -> Lab:
    """Return a pair that replicates and holds orders 1 to 3, after five calm seconds."""
    lab = Lab.pair(seed=seed)
    lab.replicate("paris", "tokyo")
    for number in (1, 2, 3):
        lab["paris"].post(f"secret/data/orders/{number}", {"data": {"item": f"rope {number}"}})
    lab.run("5s")
    return lab


def answer_to_write(lab: Lab, cluster: str) -> str:
    """Write to a cluster of a branch; return the status, or silence: also where its operator only would get through."""
    if lab.queries.site_of(cluster) in lab.queries.reach().fenced:
        return "silence"
    try:
        return str(lab[cluster].post(PROBE, {"data": {"asked": cluster}}, timeout="5s").status)
    except Silence:
        return "silence"


def takers(lab: Lab) -> list[str]:
    """Return which clusters of a branch take a write now."""
    return [name for name in PAIR if answer_to_write(lab, name) == "200"]


def modes(lab: Lab) -> dict[str, str]:
    """Return the replication mode of each cluster."""
    return {name: lab[name].mode for name in PAIR}


def since_s(lab: Lab, event: Any) -> str:
    """Return how long ago an event was, in seconds of lab time."""
    return f"{(lab.now - event.at_ns) / 1e9:.1f} s"
