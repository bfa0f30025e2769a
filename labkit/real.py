"""The wall clock and the operating system's entropy: the one place that reads either.

1. Nothing else in labkit asks the system for time or chance; who needs them is handed such a function.
2. A simulated world is handed its own instead, so that the same seed gives the same bytes.
"""

from __future__ import annotations

import os
import time


def now() -> int:
    """The wall clock: integer nanoseconds since 1970-01-01T00:00:00Z."""
    return time.time_ns()


def entropy(size_bytes: int) -> bytes:
    """Fresh random bytes, as many as asked for, from the operating system's cryptographic source."""
    return os.urandom(size_bytes)
