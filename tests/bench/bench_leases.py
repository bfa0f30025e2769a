"""What questions about leases cost, by how many there are: the ratio to the same question with a hundredth of them.

    python tests/bench/bench_leases.py [rounds]

Both vaults are measured by turns, in time of the processor, and the median of the rounds is printed.  The list and the
derivation of the index grow with the leases; the goal is what growing with them means.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time_ns

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Vault
from labkit.vault.token_record import digest_of
from tests.bench.bench_scheduled_work import FEW, MANY, filled

Ask = Callable[[Vault], object]


def look_up(vault: Vault) -> None:
    """Look one lease up by its id."""
    assert vault.put("sys/leases/lookup", {"lease_id": vault.lease_id}).ok  # type: ignore[attr-defined]  # main sets it


def count(vault: Vault) -> None:
    """Count the leases."""
    assert vault.get("sys/leases/count").ok


def create_and_revoke(vault: Vault) -> None:
    """Make a token and revoke it by its lease's id, then count: the index takes both over."""
    made = vault.post("auth/token/create", {"ttl": "1h"}).auth["client_token"]
    vault.put("sys/leases/revoke", {"lease_id": f"auth/token/create/h{digest_of(made)}"})
    count(vault)


def list_all(vault: Vault) -> None:
    """List the leases of one path."""
    assert vault.list("sys/leases/lookup/auth/token/create").ok


def derive(vault: Vault) -> None:
    """Derive the index."""
    vault.core.caches.leases = None
    count(vault)


GOALS: dict[Ask, tuple[int, float]] = {
    look_up: (200, 1.5),
    count: (200, 1.5),
    create_and_revoke: (50, 1.5),
    list_all: (1, 150),
    derive: (1, 150),
}
"""{question: how often it is asked in a round, and the most that a hundred times the leases may make of its cost}."""


def timed(ask: Ask, vault: Vault, times: int) -> float:
    """Return the nanoseconds of one question."""
    started = process_time_ns()
    for _ in range(times):
        ask(vault)
    return (process_time_ns() - started) / times


def main(rounds: int = 5) -> None:
    """Measure, and print a line per figure."""
    vaults = []
    for total in (FEW, MANY):
        vault = filled(total)
        made = vault.post("auth/token/create", {"ttl": "1h"}).auth["client_token"]
        vault.lease_id = f"auth/token/create/h{digest_of(made)}"  # type: ignore[attr-defined]  # what look_up asks for
        count(vault)
        vaults.append(vault)
    print(f"{'medians of ' + str(rounds) + ' rounds':30} {'few, µs':>12} {'many, µs':>12} {'ratio':>8} {'goal':>6}")
    for ask, (times, goal) in GOALS.items():
        rows = [[timed(ask, vault, times) for vault in vaults] for _ in range(rounds)]
        few, many = (median(figures) for figures in zip(*rows, strict=True))
        print(f"{ask.__name__:30} {few / 1e3:12.2f} {many / 1e3:12.2f} {many / few:8.2f} {goal:6g}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
