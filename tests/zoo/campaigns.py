"""Campaigns: every mistake is found within its pinned size, controls and the clean build are quiet: ``make zoo``.

    python -m tests.zoo.campaigns [--long]

1. A mistake that a campaign finds is played until its rule breaks, in at most its pinned number of schedules.
2. A control is played to the end of its number: nothing breaks.  With ``--long`` that is 2,000, and first the table of
   rates is brought to 300 schedules a mistake.
3. Seeds are played in as many processes as there are cores.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from typing import Any

from tests.zoo import measuring
from tests.zoo.mistakes import CONTROLS, ZOO
from tests.zoo.planting import EXPLORE

QUIET, QUIET_LONG, RATES_LONG = 500, 2_000, 300
BATCH = 20


def found_in(name: str, pinned: int, jobs: int) -> int:
    """Return within how many schedules a mistake is found; 0 when it is not within so many."""
    rule = ZOO[name].rule
    for begin in range(0, pinned, BATCH):
        seeds = range(begin, min(pinned, begin + BATCH))
        results = measuring.in_processes(partial(measuring.play, name=name), jobs, seeds)
        for seed, result in zip(seeds, results, strict=True):
            if rule in result.broken:
                return seed + 1
    return 0


def broken_in(name: str, seeds: int, jobs: int) -> list[str]:
    """Return what a control breaks in so many schedules: seed and rules."""
    results = measuring.in_processes(partial(measuring.play, name=name), jobs, range(seeds))
    return [f"seed {seed}: {', '.join(result.broken)}" for seed, result in enumerate(results) if result.broken]


def main(arguments: list[str]) -> int:
    """Play all campaigns; print a line each, and return how many were not as they should be."""
    is_long, jobs, wrong = "--long" in arguments, os.cpu_count() or 1, 0
    if is_long:
        measuring.main([str(RATES_LONG), str(jobs)])
    table: dict[str, dict[str, Any]] = json.loads(measuring.TABLE.read_text())
    for name, mistake in ZOO.items():
        pinned = table[name]["pinned"] if mistake.finder == EXPLORE and name in table else 0
        if pinned:
            found = found_in(name, pinned, jobs)
            wrong += not found
            print(f"{name}: {f'found in {found}' if found else 'NOT FOUND in'} of {pinned} schedules", flush=True)
    for name in CONTROLS:
        seeds = QUIET_LONG if is_long else QUIET
        broken = broken_in(name, seeds, jobs)
        wrong += bool(broken)
        print(f"{name}: {'; '.join(broken) or f'nothing in {seeds} schedules'}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
