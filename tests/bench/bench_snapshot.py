"""Bench: what saving, restoring and branching a replicating lab costs, by the number of its secrets.

    python tests/bench/bench_snapshot.py [rounds]

Each figure is the median of the rounds; the goals are for stores of 10,000 and of 100,000 keys.  Then: what a simulated
minute of a pair with two clients costs with checkpoints and without, and going back to an instant of it.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Lab
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.service.message import Request

GOALS_MS = {10_000: 10, 100_000: 100}
KEYS_PER_SECRET = 3  # its record, its version's record and data
WRITES_PER_SECOND = 2_000
SHOP = ClientPlan(
    name="shop", site="lisbon", use=("paris",), workload=(WorkloadPlan(operation="put-secret", every_ns=50_000_000),)
)


def filled(keys: int) -> Lab:
    """Return a pair that replicates about so many keys."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    node, headers = lab.parts.nodes["paris-1"], {"X-Vault-Token": lab["paris"].root_token}
    for number in range(keys // KEYS_PER_SECRET):
        path = f"/v1/secret/data/team-{number % 7}/{number}"
        node.vault.handle(Request("POST", path, headers, {"data": {"number": number}}))
        if number % WRITES_PER_SECOND == 0:
            node.after_step()
            lab.run("1s")
    node.after_step()
    lab.run("5s")
    return lab


def median_ms(work: Callable[[], object], rounds: int) -> float:
    """Return the median processor time of some calls, without what the collector would have to do for others."""
    took = []
    for _ in range(rounds):
        gc.collect()
        began = process_time()
        made = work()
        took.append((process_time() - began) * 1e3)
        del made
    return median(took)


def main(rounds: int) -> None:
    """Print a row per size."""
    print(f"{'keys in a store':>16} {'snapshot':>11} {'restore':>11} {'branch':>11}   goal to restore or branch")
    for keys, goal_ms in GOALS_MS.items():
        lab = filled(keys)
        snapshot = lab.snapshot()
        figures = [
            median_ms(lab.snapshot, rounds),
            median_ms(partial(Lab.restore, snapshot), rounds),
            median_ms(partial(lab.branch, "what-if"), rounds),
        ]
        stored = len(lab.parts.stores["paris"].keys())
        print(f"{stored:>16,}", *(f"{figure:>8.2f} ms" for figure in figures), f"  {goal_ms} ms")


def checkpoints(rounds: int) -> None:
    """Print what keeping checkpoints costs while time passes, and what going back does."""
    print(f"\n{'checkpoints':>16} {'a minute':>11} {'kept':>6} {'going back':>13}")
    for every in ("", "10s", "1s", "100ms"):
        took, back, kept = [], 0.0, None
        for _ in range(rounds):
            lab = Lab(pair().with_clients(SHOP))
            if every:
                lab.keep_checkpoints(every, limit=1_000)
            began = perf_counter()
            lab.run("60s")
            took.append((perf_counter() - began) * 1e3)
            if every:
                kept = lab._passage.checkpoints
                back = median_ms(partial(lab.at, "59500ms"), 3)
        print(f"{every or 'none':>16} {median(took):>8.0f} ms {len(kept.kept) if kept else 0:>6} {back:>10.1f} ms")


if __name__ == "__main__":
    checkpoints(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
