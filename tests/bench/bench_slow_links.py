"""Bench: how much of a slow link carries values.

    python tests/bench/bench_slow_links.py

Goodput is the values' bits over what the link could have carried until they had arrived, in simulated time: it is the
same on every machine.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Lab
from labkit.lab.plan.blueprint import pair

KBIT, MBIT, MB = 1_000, 1_000_000, 1_000_000
SECOND_NS = 1_000_000_000
GOAL = 0.5

STREAMED = ((64 * KBIT, 1, 32 * MB), (64 * KBIT, 200, 2_000), (MBIT, 1, 3 * MB), (10 * MBIT, 1, 25 * MB))
FIRST_SYNCS = ((64 * KBIT, 1, 32 * MB), (MBIT, 20, 2 * MB), (MBIT // 4, 1_500, 500), (10 * MBIT, 20, 2 * MB))


def over(bandwidth_bps: int) -> Lab:
    """Return a pair whose clusters are linked by so many bits per second."""
    blueprint = pair()
    links = tuple(replace(link, bandwidth_bps=bandwidth_bps) for link in blueprint.links)
    return Lab(replace(blueprint, links=links), seed=7)


def write(lab: Lab, count: int, size_bytes: int) -> None:
    """Write secrets of a size, an envelope less: what a request may hold at most is 32 MB."""
    for number in range(count):
        answer = lab["paris"].post(f"secret/data/{number}", {"data": {"value": "x" * (size_bytes - 100)}}, timeout="1h")
        answer.raise_for_status()


def goodput(lab: Lab, bandwidth_bps: int, held: int, began_ns: int) -> float:
    """Wait until tokyo is level; return the share of the line that the contents were, as they are stored."""
    while lab.lag("paris", "tokyo").entries or lab.queries.contents("paris") != lab.queries.contents("tokyo"):
        lab.run("1s")
    stored = sum(len(key) + len(value) for key, value in lab.queries.contents("paris").items())
    return (stored - held) * 8 * SECOND_NS / bandwidth_bps / (lab.now - began_ns)


def streamed(bandwidth_bps: int, count: int, size_bytes: int) -> float:
    """Return the goodput of values that are written while the pair replicates."""
    lab = over(bandwidth_bps)
    lab.replicate("paris", "tokyo")
    lab.run("3s")
    held = sum(len(key) + len(value) for key, value in lab.queries.contents("paris").items())
    began_ns = lab.now
    write(lab, count, size_bytes)
    return goodput(lab, bandwidth_bps, held, began_ns)


def first_synced(bandwidth_bps: int, count: int, size_bytes: int) -> float:
    """Return the goodput of a first sync."""
    lab = over(bandwidth_bps)
    write(lab, count, size_bytes)
    began_ns = lab.now
    lab.replicate("paris", "tokyo")
    return goodput(lab, bandwidth_bps, 0, began_ns)


def main() -> None:
    """Print one line per measure."""
    for what, measure, cases in (("streamed", streamed, STREAMED), ("first sync", first_synced, FIRST_SYNCS)):
        for bandwidth_bps, count, size_bytes in cases:
            share = measure(bandwidth_bps, count, size_bytes)
            verdict = "kept" if share >= GOAL else "MISSED"
            line = f"{bandwidth_bps // KBIT:6} kbit/s, {what}: {count:5} × {size_bytes / MB:g} MB"
            print(f"{share:6.0%}  {line}   goal {GOAL:.0%}: {verdict}")


if __name__ == "__main__":
    main()
