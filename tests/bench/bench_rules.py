"""Bench: what the standing rules for what nobody notices add to a run of ``first/failover``.

    python tests/bench/bench_rules.py [rounds]

Processor time of runs with and without these eight rules, by turns; the share is of the medians, and the share of the
least times stands beside it.  The trace has the same digest.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from statistics import median
from time import process_time
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Lab
from labkit.lab.invariants import JUDGES
from labkit.lab.invariants.rules import (
    CARRIED_ONCE,
    CRASH_FORGETS,
    NO_NONCE_TWICE,
    REINDEX_WRITES,
    STANDBY_FORWARDS,
    TOKEN_OVER,
    VERSION_ORDER,
    WHOLE_COMMIT,
)
from labkit.places import scenarios

UNNOTICED = (
    VERSION_ORDER,
    CARRIED_ONCE,
    WHOLE_COMMIT,
    NO_NONCE_TWICE,
    CRASH_FORGETS,
    TOKEN_OVER,
    REINDEX_WRITES,
    STANDBY_FORWARDS,
)
GOAL = 0.05


def run_s(without: tuple[str, ...]) -> tuple[float, str]:
    """Return the processor time of a run without some rules, and its trace's digest."""
    judges = {name: rule for name, rule in JUDGES.items() if name not in without}
    with patch.dict(JUDGES, judges, clear=True):
        lab = Lab.load(scenarios() / "first" / "failover.lab.yaml")
    gc.collect()
    began = process_time()
    lab.run()
    return process_time() - began, lab.trace.digest()


def main(rounds: int) -> None:
    """Print the share of all eight, then of each."""
    print(f"{'rules':>30} {'without':>10} {'with':>10} {'adds':>8} {'least':>8}   goal {GOAL:.0%}")
    for what, without in {"all eight": UNNOTICED, **{name: (name,) for name in UNNOTICED}}.items():
        took: dict[bool, list[float]] = {False: [], True: []}
        for number in range(rounds + 1):
            digests = set()
            for has in (False, True) if number % 2 else (True, False):
                spent_s, digest = run_s(() if has else without)
                digests.add(digest)
                if number:  # the first round warms up
                    took[has].append(spent_s)
            assert len(digests) == 1, "the trace is the same"
        without_s, with_s = median(took[False]), median(took[True])
        least = min(took[True]) / min(took[False]) - 1
        print(f"{what:>30} {without_s:>8.3f} s {with_s:>8.3f} s {with_s / without_s - 1:>8.1%} {least:>8.1%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
