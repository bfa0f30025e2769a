"""The wall clock and the operating system's entropy: the only module through which a vault reads either.

1. Code that needs time or entropy is passed a function for it; it never reads the system's clock or entropy itself.
2. A simulated world is passed functions of its own, so that the same seed gives the same bytes.
"""

from __future__ import annotations

import os
import time


def now() -> int:
    """Return the wall clock: integer nanoseconds since 1970-01-01T00:00:00Z."""
    return time.time_ns()


def steady() -> int:
    """Return nanoseconds since some instant, on a clock that is never set: for what is paced by real time."""
    return time.monotonic_ns()


def entropy(size_bytes: int) -> bytes:
    """Return random bytes from the operating system's cryptographic source."""
    return os.urandom(size_bytes)
