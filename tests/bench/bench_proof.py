"""How fast replication is searched: states per second, within bounds that take some seconds.

    python tests/bench/bench_proof.py [rounds]

Time of the processor; the median of the rounds is printed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit.proof.bounds import Bounds
from labkit.proof.replication import Replication
from labkit.proof.search import search

GOAL = 8_000
SEARCHED = (Bounds(3, 2, 1), Bounds(2, 1, 1, network="late"), Bounds(2, 1, 1, network="duplicating"))


def states_per_s(bounds: Bounds) -> float:
    """Search once, and return how many states were visited per second."""
    began = process_time()
    found, _ = search(Replication(bounds))
    return found.states / (process_time() - began)


def main() -> None:
    """Print the median of some rounds for each of the bounds."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    for bounds in SEARCHED:
        speed = median([states_per_s(bounds) for _ in range(rounds)])
        print(f"{speed:8,.0f} states/s, wanted {GOAL:,}: {bounds}")


if __name__ == "__main__":
    main()
