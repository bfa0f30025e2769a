"""The wall clock and the operating system's entropy: the only module through which a vault reads either.

1. Code that needs time or entropy is passed a function for it; it never reads the system's clock or entropy itself.
2. A simulated world is passed functions of its own, so that the same seed gives the same bytes.
3. Ids of requests are made many at once: one by one they took 8 % of a request.  Each is handed out once, and a forked
   process has none of its parent's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, TypeVar

DRAWS = 64  # that are made at once

T = TypeVar("T")

_pools: list[list[Any]] = []


def now() -> int:
    """Return the wall clock: integer nanoseconds since 1970-01-01T00:00:00Z."""
    return time.time_ns()


def steady() -> int:
    """Return nanoseconds since some instant, on a clock that is never set: for what is paced by real time."""
    return time.monotonic_ns()


def entropy(size_bytes: int) -> bytes:
    """Return random bytes from the operating system's cryptographic source."""
    return os.urandom(size_bytes)


def many_at_once(make: Callable[[bytes], list[T]], size_bytes: int) -> Callable[[], T]:
    """Return a function that gives one thing at each call: ``make`` makes a list of them of random bytes (rule 3)."""
    pool: list[T] = []
    _pools.append(pool)

    def draw() -> T:
        try:
            return pool.pop()
        except IndexError:
            first, *others = make(os.urandom(size_bytes))
            pool.extend(others)
            return first

    return draw


def _forget_pools() -> None:
    for pool in _pools:
        pool.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)
