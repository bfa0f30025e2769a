"""Bench: what it takes to reset a vault between two tests, as ``labkit_session_vault`` is, by what it holds and did.

    python tests/bench/bench_reset.py [rounds]

Processor time, the median of the rounds, and the worst of them; after each reset one secret is read, as a test would.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time_ns

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Vault
from labkit.front.testing import fill

GOAL_MS = 1.0


def held(secrets: int) -> Vault:
    """Return a vault that holds so many secrets, which it comes back to."""
    vault = Vault.dev(seed=7)
    fill(vault, {f"secret/data/app-{number}": {"data": {"user": "ada"}} for number in range(secrets)})
    vault.keep_for_reset()
    return vault


def used(vault: Vault) -> None:
    """Do what a busy test does: writes, an encryption, a token, a login of a machine."""
    for number in range(20):
        vault.post(f"secret/data/new-{number}", {"data": {"user": "bob"}})
    vault.post("transit/encrypt/orders", {"plaintext": "aGVsbG8="})
    vault.post("auth/token/create", {"ttl": "1h"})
    machine = vault.cloud.vm("web-1")
    vault.post("auth/cloud/role/web", {"bound_locations": [machine.location]})
    machine.login(vault, role="web")


def unused(vault: Vault) -> None:
    """Do nothing."""


CASES: dict[str, tuple[int, Callable[[Vault], None], bool]] = {
    "nothing held, nothing done": (0, unused, False),
    "nothing held, busy": (0, used, False),
    "1,000 secrets held, busy": (1_000, used, False),
    "1,000 secrets held, busy, behind a port": (1_000, used, True),
}


def main(rounds: int = 200) -> None:
    """Measure, and print a line for each case."""
    for what, (secrets, use, is_served) in CASES.items():
        vault, took_ms, first_ms = held(secrets), list[float](), list[float]()
        with ExitStack() as stack:
            if is_served:
                stack.enter_context(vault.serve())
            for _round in range(rounds):
                use(vault)
                gc.collect()
                took_ms.append(timed(vault.reset))
                first_ms.append(timed(partial(vault.get, "secret/data/app-0")))
        kept = "kept" if median(took_ms) <= GOAL_MS else "MISSED"
        print(f"{median(took_ms):7.3f} ms, {max(took_ms):.3f} at worst  {what}   goal {GOAL_MS} ms: {kept}")
        print(f"{median(first_ms):7.3f} ms  the read after it")


def timed(work: Callable[[], object]) -> float:
    """Return the milliseconds of processor time that something takes."""
    start = process_time_ns()
    work()
    return (process_time_ns() - start) / 1e6


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
