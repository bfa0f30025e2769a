"""Work limit: what a reader hands in may take so much processor time, so that nobody waits for a loop without an end.

Where nothing can be interrupted (in a browser, on another thread than the first) nothing limits it.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

MAX_WORK_S = 5
AGAIN_S = 1


class TookTooLong(BaseException):
    """What was handed in is at work for too long; no ``except Exception`` of a reader keeps it."""


@contextmanager
def limited(seconds: float = MAX_WORK_S) -> Iterator[None]:
    """Raise TookTooLong in whatever is done here for so long, and again each second until it ends."""
    before = _listen()
    if before is None:
        yield
        return
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _listen() -> Any:
    """Let the timer interrupt; return who listened to it before, None where it cannot."""
    if not hasattr(signal, "setitimer"):
        return None
    try:
        return signal.signal(signal.SIGVTALRM, _interrupt)
    except ValueError:  # not the first thread
        return None


def _interrupt(number: int, frame: Any) -> None:
    raise TookTooLong
