"""Shared use: threads that share a cloud, or a key store, act on it one at a time.

1. A process that was forked from its own is refused before any lock: whoever held it is not there (C18).  Whether it
   was, ``is_forked`` says, which the cloud or key store is handed.
"""

from __future__ import annotations

from _thread import RLock  # threading itself is not loaded (R24)
from collections.abc import Callable
from types import TracebackType

from labkit.service.errors import Forked


class SharedUse:
    """What lets one thread in at a time, for ``with``."""

    __slots__ = ("_lock", "_what", "is_forked")

    def __init__(self, what: str = "cloud") -> None:
        self._lock, self._what = RLock(), what
        self.is_forked: Callable[[], bool] = _never

    def __repr__(self) -> str:
        return "SharedUse()"

    def __enter__(self) -> None:
        self.refuse_forked()
        self._lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lock.release()

    def refuse_forked(self) -> None:
        """Raise Forked in a process that was forked from that in which it was made."""
        if self.is_forked():
            raise self.forked()

    def forked(self) -> Forked:
        """Return that refusal."""
        return Forked(f"this {self._what} was made")


def _never() -> bool:
    return False
