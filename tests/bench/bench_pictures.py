"""Bench: what recording for pictures (``lab.keep_pictures()``) adds to a run, by its kind.

    python tests/bench/bench_pictures.py [rounds]

Processor time of runs with and without it, by turns; the share is of the medians, and the
least and the greatest share of a round stand beside it.  The trace has the same digest.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Lab
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.places import scenarios
from labkit.service.durations import SECOND_NS

GOAL = 0.10


def failover() -> Lab:
    """Return the scenario of the demo, at its beginning."""
    return Lab.load(scenarios() / "first" / "failover.lab.yaml")


def writes(every_ms: int) -> Callable[[], Lab]:
    """Return what makes a pair that replicates, and has a client that writes so often for a minute."""

    def made() -> Lab:
        work = WorkloadPlan(operation="put-secret", every_ns=every_ms * 1_000_000, keys=40, from_ns=SECOND_NS)
        shop = ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), count=1, workload=(work,))
        lab = Lab(pair().with_clients(shop))
        lab.replicate("paris", "tokyo")
        return lab

    return made


CASES: dict[str, tuple[Callable[[], Lab], str]] = {
    "first/failover": (failover, ""),
    "a minute, 5 writes a second": (writes(200), "60s"),
    "a minute, 20 writes a second": (writes(50), "60s"),
}


def run_s(made: Callable[[], Lab], until: str, keeps: bool) -> tuple[float, str]:
    """Return the processor time of a run, and its trace's digest."""
    lab = made()
    if keeps:
        lab.keep_pictures()
    gc.collect()
    began = process_time()
    if until:
        lab.run(until)
    else:
        lab.run()
    return process_time() - began, lab.trace.digest()


def main(rounds: int) -> None:
    """Print a row for each kind of run."""
    print(f"{'run':>30} {'without':>10} {'with':>10} {'adds':>8}   {'of a round':>16}   goal {GOAL:.0%}")
    for what, (made, until) in CASES.items():
        took: dict[bool, list[float]] = {False: [], True: []}
        for number in range(rounds + 1):
            digests = set()
            for keeps in (False, True) if number % 2 else (True, False):
                spent_s, digest = run_s(made, until, keeps)
                digests.add(digest)
                if number:  # the first round warms up
                    took[keeps].append(spent_s)
            assert len(digests) == 1, "the trace is the same"
        shares = [more / less - 1 for less, more in zip(took[False], took[True], strict=True)]
        without_s, with_s = median(took[False]), median(took[True])
        figures = f"{without_s:>8.3f} s {with_s:>8.3f} s {with_s / without_s - 1:>8.1%}"
        print(f"{what:>30} {figures}   {min(shares):>7.1%} {max(shares):>8.1%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 11)
