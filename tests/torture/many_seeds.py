"""Many seeds: how the scripts of this folder play them, in several processes."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import Pool

EACH = 50


def played(tried: Callable[[int], str], seeds: int = 1_000, first: int = 0, processes: int = 2) -> bool:
    """Play seeds; print what is wrong with any, and how many are after each fifty; return whether any is.

    ``tried`` returns what is wrong with a seed, empty for nothing.
    """
    failed = 0
    with Pool(processes) as pool:
        for number, wrong in enumerate(pool.imap(tried, range(first, first + seeds)), start=1):
            if wrong:
                failed += 1
                print(wrong, flush=True)
            if number % EACH == 0 or number == seeds:
                print(f"{number} seeds, {failed} not as they should be", flush=True)
    return failed > 0
