"""Wall clock: what a node takes the time of day to be: the lab's time, wrong by an offset that may grow.

1. It tells the time to the vault only: what it issues, what expires, what falls due, certificates.  The lease and the
   time limits of messages go by the lab's time, as they go by a monotonic clock elsewhere.
2. An offset is counted from the instant at which it was set; the drift is added to it from then on.
3. It belongs to the host: a crash of the node does not set it right.
"""

from __future__ import annotations

from collections.abc import Callable

MILLION = 1_000_000


class WallClock:
    """One node's wall clock, in nanoseconds; drift in parts per million, both may be negative.

    ``decided`` says whether the node decided anything by it since it was set wrong.
    """

    __slots__ = ("_now", "changes", "decided", "drift_ppm", "offset_ns", "set_ns", "start_wall_ns")

    def __init__(
        self,
        now: Callable[[], int],
        start_wall_ns: int,
        offset_ns: int = 0,
        drift_ppm: int = 0,
        set_ns: int = 0,
        decided: bool = False,
    ) -> None:
        self._now, self.start_wall_ns = now, start_wall_ns
        self.offset_ns, self.drift_ppm, self.set_ns, self.decided = offset_ns, drift_ppm, set_ns, decided
        self.changes = 0  # how often it was set since it was made

    def __repr__(self) -> str:
        return f"WallClock({self.error_ns} ns off)"

    def now(self) -> int:
        """Return what it shows."""
        if not (self.offset_ns or self.drift_ppm):  # as most are, and asked at each step
            return self.start_wall_ns + self._now()
        now_ns = self._now()
        if self.drift_ppm:
            now_ns += (now_ns - self.set_ns) * self.drift_ppm // MILLION
        return self.start_wall_ns + self.offset_ns + now_ns

    @property
    def is_wrong(self) -> bool:
        """Whether it was set wrong."""
        return bool(self.offset_ns or self.drift_ppm)

    @property
    def error_ns(self) -> int:
        """How far it is ahead of the right time; negative behind."""
        return self.now() - self.start_wall_ns - self._now()

    def lab_ns(self, wall_ns: int) -> int:
        """Return the first instant of the lab at which it shows a time or a later one."""
        shown_ns = wall_ns - self.start_wall_ns - self.offset_ns - self.set_ns  # from when it was set, by this clock
        passed_ns = -(-shown_ns * MILLION // (MILLION + self.drift_ppm)) if self.drift_ppm else shown_ns
        return self.set_ns + passed_ns

    def set(self, offset_ns: int, drift_ppm: int) -> bool:
        """Make it wrong by an offset and a drift from now on; return whether that is a change."""
        changed = (offset_ns, drift_ppm) != (self.error_ns, self.drift_ppm)
        self.offset_ns, self.drift_ppm, self.set_ns, self.decided = offset_ns, drift_ppm, self._now(), False
        self.changes += 1
        return changed

    def state(self) -> tuple[int, int, int, bool]:
        """Return offset, drift, when they were set, and whether anything was decided by it since."""
        return self.offset_ns, self.drift_ppm, self.set_ns, self.decided
