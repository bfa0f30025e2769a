"""Flapping: a line between two sites goes down and comes up by itself, again and again, until it is steady."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from labkit.lab.wire.messages import FlapTimer
from labkit.lab.wire.reports import ReachChanged
from labkit.sim.clock import Clock
from labkit.sim.network_faults import Faults


class Flapping(NamedTuple):
    """A line between two sites that flaps: for how long it is down and up, and whether it is down now.

    One that is steady again is kept for its serial: what was scheduled for it is ignored.
    """

    down_ns: int
    up_ns: int
    serial: int
    is_down: bool = False

    @property
    def flaps(self) -> bool:
        """Whether it still does."""
        return self.down_ns > 0


class FlappingLines:
    """What lets the lines of a lab flap; ``rows`` are the lab's, by the pair of sites."""

    __slots__ = ("_clock", "_emit", "_network_faults", "_rows")

    def __init__(
        self,
        rows: dict[tuple[str, ...], Flapping],
        network_faults: Faults,
        clock: Clock,
        emit: Callable[[Any], None],
    ) -> None:
        self._rows, self._network_faults, self._clock, self._emit = rows, network_faults, clock, emit

    def __repr__(self) -> str:
        return f"FlappingLines({sum(row.flaps for row in self._rows.values())} flap)"

    def among(self, sites: set[str]) -> list[tuple[str, ...]]:
        """Return the pairs whose line flaps, and that have all of these sites."""
        return [pair for pair, row in self._rows.items() if row.flaps and sites <= set(pair)]

    def begin(self, pair: tuple[str, str], down_ns: int, up_ns: int) -> None:
        """Let a line flap: up for a while, then down for a while, and so on; in place of how it flapped before."""
        before = self._rows.get(pair)
        serial = before.serial + 1 if before is not None else 1
        self._rows[pair] = Flapping(down_ns, up_ns, serial)
        if before is not None:
            self._come_up(pair, before)
        self._schedule(up_ns, FlapTimer(pair[0], pair[1], serial))

    def end(self, pair: tuple[str, ...]) -> None:
        """Let a line flap no more; it is up, unless another fault cuts it."""
        row = self._rows[pair]
        self._rows[pair] = Flapping(0, 0, row.serial)
        self._come_up(pair, row)

    def on_timer(self, timer: FlapTimer) -> None:
        """A flapping line goes down, or comes up; one that is steady by now does nothing."""
        pair = (timer.a, timer.b)
        row = self._rows.get(pair)
        if row is None or row.serial != timer.serial or not row.flaps:
            return
        self._rows[pair] = row._replace(is_down=not row.is_down)
        if row.is_down:
            self._come_up(pair, row)
        else:
            self._network_faults.go_down(*pair)
            self._emit(ReachChanged(self._clock.now))
        self._schedule(row.up_ns if row.is_down else row.down_ns, timer)

    def _come_up(self, pair: tuple[str, ...], row: Flapping) -> None:
        if row.is_down:
            self._network_faults.come_up(*pair)
            self._emit(ReachChanged(self._clock.now))

    def _schedule(self, delay_ns: int, timer: FlapTimer) -> None:
        self._clock.after(delay_ns, ("fault", "", timer))
