"""What a tick costs, by how many tokens are stored: the ratio to the same tick with a hundredth of them.

    python tests/bench/bench_scheduled_work.py [rounds]

Both vaults are measured by turns, in time of the processor, and the median of the rounds is printed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from time import process_time_ns

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Vault
from labkit.service.durations import SECOND_NS
from labkit.service.message import Request
from labkit.vault import tokens
from labkit.vault.context import Context
from labkit.vault.token_record import Token

FEW, MANY = 1_000, 100_000
ENDING = 20
PER_COMMIT = 5_000
GOALS = {"a tick with nothing due": 1.5, "a tick that ends a token": 5.0}


def filled(count: int) -> Vault:
    """Return a vault with so many tokens, the first of which ends after an hour, each other one a second later."""
    now = [1_893_456_000 * SECOND_NS]
    vault = Vault.dev(clock=lambda: now[0])
    for start in range(0, count, PER_COMMIT):
        step = Context(vault.core, Request("", ""), now[0])
        for number in range(start, min(start + PER_COMMIT, count)):
            tokens.issue(step, Token("", ("default",), "auth/token/create", "token", ttl_s=3_600 + number))
        vault.core.commit(step.writes)
    vault.set_leadership(vault.core.leadership)
    return vault


def timed(vault: Vault, ending: int) -> float:
    """Return the nanoseconds of a tick that ends so many tokens, per token."""
    started = process_time_ns()
    done = vault.tick()
    passed = process_time_ns() - started
    assert done == ending
    return passed / max(ending, 1)


def idle(vault: Vault) -> float:
    """Return the nanoseconds of a tick with nothing due."""
    return min(sum(timed(vault, 0) for _ in range(1_000)) / 1_000 for _ in range(5))


def ended(vault: Vault) -> float:
    """Return the nanoseconds that the end of one token costs, some seconds later."""
    vault.environment.now.shift_ns += ENDING * SECOND_NS  # type: ignore[attr-defined]  # a vault alone has such a clock
    return timed(vault, ENDING)


def main(rounds: int = 11) -> None:
    """Measure, and print a line per figure."""
    vaults = []
    for count in (FEW, MANY):
        vault = filled(count)
        started = process_time_ns()
        vault.next_due()
        print(f"deriving what is due of {count:,} tokens: {(process_time_ns() - started) / 1e6:.1f} ms")
        vault.environment.now.shift_ns += 3_599 * SECOND_NS  # type: ignore[attr-defined]  # as above
        vaults.append(vault)
    print(f"{'medians of ' + str(rounds) + ' rounds':30} {'few, µs':>10} {'many, µs':>10} {'ratio':>8} {'goal':>6}")
    for (what, goal), measure in zip(GOALS.items(), (idle, ended), strict=True):
        few, many = (median(figures) for figures in zip(*([*map(measure, vaults)] for _ in range(rounds)), strict=True))
        print(f"{what:30} {few / 1e3:10.2f} {many / 1e3:10.2f} {many / few:8.2f} {goal:6g}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
