"""Simulated time: whole nanoseconds, and a queue of plain items that fall due.

Rules kept here:

1. Nothing else uses simpy.  What waits is a plain tuple `(verb, host, payload)`, not a process or a closure.
2. Time is always an int: one float would make every later time a float.
3. Items for the same time fire in the order in which they were put in; a restored clock keeps that order.
4. A run processes all that is due up to and including its end; then the time is that end, and no event of its own
   is left in the queue.
5. After an exception in the dispatch the simulation is half changed: the clock is closed and stays closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappush
from typing import Any, NoReturn, TypeAlias

import simpy

Item: TypeAlias = tuple[str, str, Any]
Pending: TypeAlias = tuple[tuple[int, Item], ...]

_ITEM = simpy.events.NORMAL
_END = simpy.events.EventPriority(_ITEM + 1)  # fires after every item of the same time
_NEVER = 1 << 256


class Clock:
    """Gives each item to `dispatch(item)` when it falls due.

    `Clock(dispatch, *clock.state())` goes on exactly where the saved one stopped.
    """

    __slots__ = ("_running", "_timeline", "at", "now")

    now: int
    """Simulated time in ns; only the clock sets it."""

    at: Callable[[int, Item], None]
    """`at(when_ns, item)` schedules an item; ValueError for a time in the past, TypeError for any type but int."""

    def __init__(
        self, dispatch: Callable[[Item], object], now_ns: int = 0, pending: Iterable[tuple[int, Item]] = ()
    ) -> None:
        self.now = _whole("the clock's start", now_ns)
        self._timeline = timeline = _Timeline(now_ns)
        self._running = False

        def fire(due: Any) -> None:
            self.now = timeline._now
            dispatch(due.item)

        self.at = timeline.filler([fire])
        for when_ns, item in pending:
            self.at(when_ns, item)

    def after(self, delay_ns: int, item: Item) -> None:
        """Schedule an item `delay_ns` from now; errors as for `at`."""
        self.at(self.now + _whole("a delay", delay_ns), item)

    def step(self) -> bool:
        """Process the next item; False when nothing is pending."""
        self._enter()
        try:
            return self._advance(once=True)
        finally:
            self._running = False

    def run(self, until_ns: int | None = None, stop: Callable[[], object] | None = None) -> bool:
        """Process items until `until_ns` (inclusive), or until `stop()`, asked after each item, is true.

        Without an end it goes on until nothing is pending.  It returns True when `stop` ended it; the time is then
        that of the last item.  ValueError for an end in the past.
        """
        self._enter()
        try:
            if until_ns is not None and _whole("the end of a run", until_ns) < self.now:
                raise ValueError(f"a run cannot end at {until_ns} ns: it is {self.now} ns already")
            if stop is not None and self._stopped(stop, until_ns):
                return True
            if until_ns is not None:
                self._timeline.end_at(until_ns)
            self._advance(once=False)
            return False
        finally:
            self._running = False

    def pending(self) -> Pending:
        """What waits, as (when_ns, item), in the order in which it will fire."""
        self._timeline.refuse_closed()
        return self._timeline.items()

    @property
    def waiting(self) -> int:
        """How many items wait."""
        return len(self._timeline.waiting)

    @property
    def next_ns(self) -> int | None:
        """When the next item falls due; None when nothing is pending."""
        waiting = self._timeline.waiting
        return waiting[0][0] if waiting else None

    def state(self) -> tuple[int, Pending]:
        """Now and what is pending: plain values, and the constructor's arguments after `dispatch`."""
        return self.now, self.pending()

    def __repr__(self) -> str:
        closed = "" if self._timeline.cause is None else ", closed"
        return f"<Clock at {self.now} ns, {len(self._timeline.waiting)} pending{closed}>"

    def _stopped(self, stop: Callable[[], object], until_ns: int | None) -> bool:
        """Process items one by one while there are any up to the end; True as soon as `stop()` is.

        The loop does what `_advance` does: a frame less per item is 2 % of the joins of a star.
        """
        timeline = self._timeline
        waiting, step = timeline.waiting, timeline.step
        while waiting and (until_ns is None or waiting[0][0] <= until_ns):
            try:
                step()
            except BaseException as cause:
                timeline.close(cause)
                raise
            if stop():
                return True
        return False

    def _advance(self, *, once: bool) -> bool:
        """Process one item, or all up to the end of the run; False when nothing is pending."""
        step = self._timeline.step
        try:
            if once:
                step()
                return True
            while True:
                step()
        except simpy.core.EmptySchedule:
            return False
        except _Ended:
            self.now = self._timeline._now
            return True
        except BaseException as cause:
            self._timeline.close(cause)
            raise

    def refuse_running(self) -> None:
        """Raise RuntimeError while a run goes on, or when the clock is closed."""
        self._timeline.refuse_closed()
        if self._running:
            raise RuntimeError("the clock is running: what it dispatches may schedule items, not run it")

    def _enter(self) -> None:
        self.refuse_running()
        self._running = True


class _Due(simpy.Event):
    """An event that carries an item and is triggered when made; it has slots, as there is one per message."""

    __slots__ = ("callbacks", "item")
    item: Item
    _ok = True
    _value = None


class _Ended(Exception):
    """The end of a run, raised by its own event.  simpy's way to stop would put the event back."""


class _Timeline(simpy.Environment):
    """simpy's environment with items in it: its queue is read and filled here only."""

    _now: int
    cause: BaseException | None = None

    @property
    def waiting(self) -> list[Any]:
        """simpy's heap of (time, priority, number, event)."""
        return self._queue

    def filler(self, callbacks: list[Callable[[Any], None]]) -> Callable[[int, Item], None]:
        """`Clock.at`: simpy's schedule for an absolute time; a closure, as there is one call per message."""
        queue, numbers, new = self._queue, self._eid, object.__new__

        def at(when_ns: int, item: Item) -> None:
            if type(when_ns) is not int or when_ns < self._now:
                self._refuse(when_ns)
            due = new(_Due)
            due.callbacks = callbacks  # one list for all: simpy drops its reference and never changes the list
            due.item = item
            heappush(queue, (when_ns, _ITEM, next(numbers), due))

        return at

    def end_at(self, when_ns: int) -> None:
        """Put the end of a run after everything that falls due up to then."""
        end = simpy.Event(self)
        end._ok, end._value = True, None
        end.callbacks.append(_end)
        self.schedule(end, _END, when_ns - self._now)

    def items(self) -> Pending:
        """What waits, in firing order: numbers are unique, so sorting never compares two events."""
        return tuple([(entry[0], entry[3].item) for entry in sorted(self.waiting)])

    def close(self, cause: BaseException) -> None:
        """Accept no more items: from now on every time is in the past."""
        self.cause = cause
        self._now = _NEVER

    def refuse_closed(self) -> None:
        """Raise RuntimeError that names the first cause, when there is one."""
        if self.cause is not None:
            what = f"{type(self.cause).__name__}: {self.cause}"
            text = f"the clock was closed by {what}; go back to a snapshot or build a new lab"
            raise RuntimeError(text) from self.cause

    def _refuse(self, when_ns: int) -> NoReturn:
        self.refuse_closed()
        _whole("the time of an item", when_ns)
        raise ValueError(f"nothing can be scheduled for {when_ns} ns: it is {self._now} ns already")


def _end(event: simpy.Event) -> None:
    raise _Ended


def _whole(what: str, time_ns: int) -> int:
    if type(time_ns) is not int:
        raise TypeError(f"{what} must be an int of nanoseconds, not {time_ns!r} ({type(time_ns).__name__})")
    return time_ns
