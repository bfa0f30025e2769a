"""Bench: what the standing rules for what nobody notices add to a run of ``first/failover``.

    python tests/bench/bench_rules.py [rounds]

Two labs, with and without these eight rules, go on by turns, a slice of simulated time each.  Of each slice counts the
least processor time of all rounds: what else the machine does rarely falls into one slice in every round.  The trace
has the same digest.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
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
LASTS_S, SLICE, SLICES_PER_S = 60, "100ms", 10


def loaded(without: tuple[str, ...]) -> Lab:
    """Return the lab of the scenario without some rules."""
    judges = {name: rule for name, rule in JUDGES.items() if name not in without}
    with patch.dict(JUDGES, judges, clear=True):
        return Lab.load(scenarios() / "first" / "failover.lab.yaml")


def least_s(without: tuple[str, ...], rounds: int) -> dict[bool, float]:
    """Return the least processor time of a run that has all rules, and of one without some."""
    least: dict[bool, list[float]] = {has: [float("inf")] * (LASTS_S * SLICES_PER_S) for has in (False, True)}
    for number in range(rounds):
        labs = {True: loaded(()), False: loaded(without)}
        gc.collect()
        for place in range(LASTS_S * SLICES_PER_S):
            for has in (False, True) if (number + place) % 2 else (True, False):
                began = process_time()
                labs[has].run(SLICE)
                least[has][place] = min(least[has][place], process_time() - began)
        assert labs[True].trace.digest() == labs[False].trace.digest(), "the trace is the same"
    return {has: sum(slices) for has, slices in least.items()}


def main(rounds: int) -> None:
    """Print the share of all eight, then of each."""
    print(f"{'rules':>36} {'without':>10} {'with':>10} {'adds':>8}   goal {GOAL:.0%}")
    for what, without in {"all eight": UNNOTICED, **{name: (name,) for name in UNNOTICED}}.items():
        took = least_s(without, rounds)
        print(f"{what:>36} {took[False]:>8.3f} s {took[True]:>8.3f} s {took[True] / took[False] - 1:>8.1%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
