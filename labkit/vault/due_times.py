"""Due times: when each stored record falls due; the earliest is at hand, however many there are.

1. A record has one time, the one noted last; an earlier note of it is skipped when its turn comes.
2. It is derived from storage at unseal, takeover and promotion, and kept up by what is written (R5).  It is saved, so
   that a restored node reads nothing again that may have been damaged since.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from labkit.service.durations import SECOND_NS

MIN_REBUILD = 64

RETRY_NS = 10 * SECOND_NS
"""How long after a failed write it is tried again."""


class DueTimes:
    """Storage keys by the time at which something in their records falls due, in nanoseconds since the epoch."""

    __slots__ = ("_heap", "_times")

    def __init__(self, times: Mapping[str, int] | None = None) -> None:
        self._times: dict[str, int] = dict(times or {})
        self._rebuild()

    def __len__(self) -> int:
        return len(self._times)

    def __repr__(self) -> str:
        return f"DueTimes({len(self)} records)"

    def note(self, key: str, when_ns: int, first_ns: int | None = None) -> bool:
        """Set when a record falls due; return whether something else than ``first_ns`` may be the earliest now."""
        before_ns = self._times.get(key)
        may_differ = not first_ns or when_ns < first_ns or before_ns == first_ns
        if before_ns == when_ns:
            return may_differ
        self._times[key] = when_ns
        _heaps().heappush(self._heap, (when_ns, key))
        if len(self._heap) > 2 * len(self._times) + MIN_REBUILD:
            self._rebuild()
        return may_differ

    def earliest(self) -> tuple[int, str] | None:
        """Return the earliest time and its record's key; None when nothing falls due."""
        heap = self._heap
        while heap:
            when_ns, key = heap[0]
            if self._times.get(key) == when_ns:
                return when_ns, key
            _heaps().heappop(heap)
        return None

    def remove(self, key: str) -> None:
        """Take a record out."""
        self._times.pop(key, None)

    def state(self) -> dict[str, int]:
        """Return what the constructor takes."""
        return dict(self._times)

    def _rebuild(self) -> None:
        self._heap: list[tuple[int, str]] = [(due_ns, known) for known, due_ns in self._times.items()]
        if self._heap:
            _heaps().heapify(self._heap)


@cache
def _heaps() -> Any:
    """Return Python's own C module, which the first record loads that falls due (R24)."""
    import _heapq

    return _heapq
