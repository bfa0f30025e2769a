"""Bench: how much faster than real time a lab runs: under load, with nothing to do, and when a region is lost.

    python tests/bench/bench_hour.py [rounds]

The load: four clients write five secrets a second each into paris, which tokyo and lima follow; trace, ledger and
invariants are on.  A virtual hour is measured by samples of a minute, of which the median is taken, in processor time.
Calls a write, of Python's functions and built-in ones, are the same on every machine.  A failover is the minute of a
new pair without clients: it replicates, the primary goes down, the other is promoted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Lab
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair, triangle
from tests.bench.bench_slow_links import IDLE_GOAL_S, idle_s
from tests.counting import calls_made

SECOND_NS = 1_000_000_000
SAMPLE_S, COUNTED_S = 60, 10
GOAL = 330
FAILOVERS_GOAL = 50


def under_load() -> Lab:
    """Return three clusters that replicate, with twenty writes a second for some seconds."""
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS // 5, keys=100)
    lab = Lab(triangle().with_clients(ClientPlan(name="app", site="lisbon", use=("paris",), count=4, workload=(work,))))
    for secondary in ("tokyo", "lima"):
        lab.replicate("paris", secondary)
    return lab.run("10s")


def sample_s(lab: Lab) -> float:
    """Return the processor time of a minute of the lab."""
    began = process_time()
    lab.run(SAMPLE_S)
    return process_time() - began


def calls_per_write(lab: Lab) -> float:
    """Return how many calls a write takes, all that follows from it and the lab's own work included."""
    before = len(lab.ledger.writes)
    calls = calls_made(lambda: lab.run(COUNTED_S))
    return calls / (len(lab.ledger.writes) - before)


def failover_s() -> float:
    """Return the processor time of a failover of a pair, its making and joining included."""
    began = process_time()
    lab = Lab(pair(), seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("18s")
    lab.crash("paris")
    lab["tokyo"].promote()
    lab.run("38s")
    return process_time() - began


def main(rounds: int = 15) -> None:
    """Print one line per measure."""
    lab = under_load()
    calls, before = calls_per_write(lab), len(lab.ledger.writes)
    took_s = median(sample_s(lab) for _ in range(rounds))
    writes = (len(lab.ledger.writes) - before) / rounds
    factor = SAMPLE_S / took_s
    verdict = "kept" if factor >= GOAL else "MISSED"
    print(f"{factor:6.0f} ×  real time, three clusters, {writes / SAMPLE_S:.0f} writes/s   goal {GOAL} ×: {verdict}")
    print(f"{took_s / writes * 1_000_000:6.0f} µs of processor time a write, everything included")
    print(f"{calls:6.0f} calls a write")
    idle = median(idle_s() for _ in range(5))
    verdict = "kept" if idle <= IDLE_GOAL_S else "MISSED"
    print(f"{idle:6.2f} s  a virtual hour of an idle pair   goal {IDLE_GOAL_S} s: {verdict}")
    rate = 1 / median(failover_s() for _ in range(4 * rounds))
    verdict = "kept" if rate >= FAILOVERS_GOAL else "MISSED"
    print(f"{rate:6.1f} failovers of 60 s a second   goal {FAILOVERS_GOAL}: {verdict}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
