"""Patience: how long an operator goes on looking at a cluster that is not yet as wanted: as long as there is progress.

1. Progress is what changes a cluster's contents or index, or brings it nearer to them: entries, fetched keys, roots,
   stages of a reindex.
2. While the connection to its upstream is ready, what does not arrive is slow, not lost.  Then patience lasts as long
   as the largest value takes over the slowest link; otherwise as long as the step says.
3. Who has waited long on a ready connection looks less often.
4. A comparison in vain does not count as progress, whatever it fetched: after ``MAX_COMPARISONS`` in a row patience
   lasts as long as the step says, from the first of them on.
5. A connection that comes back is given the time of the step again, but without progress no more than ``MAX_RETURNS``
   times: one over a line that flaps is ready now and then for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.service.durations import MILLISECOND_NS, SECOND_NS

POLL_NS = 250 * MILLISECOND_NS
MAX_POLL_NS = 10 * SECOND_NS
POLLS_PER_WAIT = 32
MAX_COMPARISONS = 10
MAX_RETURNS = 10

MAX_VALUE_BYTES, MIN_LINK_BPS = 32 << 20, 64_000
MAX_CROSSING_NS = 2 * 8 * MAX_VALUE_BYTES * SECOND_NS // MIN_LINK_BPS
"""How long the largest value may take on the slowest link, when half of what it carries is something else."""

REINDEX = ("reindex_stage", "reindex_building_progress")
PROGRESS = ("mode", "last_remote_wal", "merkle_root", "merkle_sync_progress", *REINDEX)


class Patience:
    """How long one step still waits; it remembers what the cluster's status was and for how long."""

    __slots__ = ("_apart_ns", "_comparisons", "_idle_ns", "_limit_ns", "_looping_ns", "_returns", "_seen")

    def __init__(self, limit_ns: int) -> None:
        self._limit_ns = limit_ns
        self._seen: tuple[Any, ...] | None = None
        self._idle_ns = self._apart_ns = self._looping_ns = self._comparisons = self._returns = 0

    @property
    def why(self) -> str:
        """What was waited for in vain, as part of a sentence."""
        if self._is_looping:
            return (
                f"compared {self._comparisons} times in a row in vain: more is written during a comparison than its "
                "primary's backlog holds (write less, or enlarge it), or a value there is damaged (reindex it)"
            )
        return f"made no progress for {self.idle_s} s"

    @property
    def idle_s(self) -> int:
        """For how many seconds there was no progress."""
        return self._idle_ns // SECOND_NS

    def pause_ns(self, status: Mapping[str, Any]) -> int:
        """Return how long to wait before the next look, by the status just seen; 0 when patience is over."""
        seen = tuple([str(status.get(name)) for name in PROGRESS])
        ready = status.get("connection_state") == "ready"
        if seen != self._seen:
            self._seen, self._idle_ns, self._apart_ns, self._returns = seen, 0, 0, 0
        elif ready and self._apart_ns and self._returns < MAX_RETURNS:
            self._apart_ns, self._returns = 0, self._returns + 1
        self._comparisons = int(status.get("merkle_comparisons", 0))
        if not self._comparisons:
            self._looping_ns = 0
        if self._apart_ns >= self._limit_ns or self._idle_ns >= MAX_CROSSING_NS or self._is_looping:
            return 0
        pause_ns = min(max(POLL_NS, self._idle_ns // POLLS_PER_WAIT), MAX_POLL_NS) if ready else POLL_NS
        self._idle_ns += pause_ns
        if self._comparisons:
            self._looping_ns += pause_ns
        if not ready:
            self._apart_ns += pause_ns
        return pause_ns

    @property
    def _is_looping(self) -> bool:
        return self._comparisons >= MAX_COMPARISONS and self._looping_ns >= self._limit_ns
