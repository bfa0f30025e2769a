"""Comparison: two runs that went on from one instant, and the first event in which they differ.

1. Events are compared in order, whole: what happened, when, between whom, with what result.
2. Runs without any event in common, and runs that are equal, are such cases as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

from labkit.service.durations import in_seconds
from labkit.trace import VIEWS, Trace
from labkit.views.trace_lines import line_of

MAX_NEXT = 60


class Comparison(NamedTuple):
    """How many events two runs have in common at their beginning, and the first that follows in each; None at an end.

    ``at_ns`` is when the earlier of the two happened; None for runs that are equal.  ``next_here`` and ``next_there``
    are the first few that follow.
    """

    common: int
    here: Any
    there: Any
    next_here: tuple[Any, ...] = ()
    next_there: tuple[Any, ...] = ()

    @property
    def at_ns(self) -> int | None:
        """The instant of the first difference, in nanoseconds since the labs were built."""
        return min((event.at_ns for event in (self.here, self.there) if event is not None), default=None)

    @property
    def text(self) -> str:
        """What was found, in words."""
        if self.at_ns is None:
            return f"equal: {self.common} events"
        until = f"the same {self.common} events" if self.common else "no event in common"
        parts = f"they part at {in_seconds(self.at_ns)} s"
        return f"{until}; {parts}\nhere:  {_line(self.here)}\nthere: {_line(self.there)}"

    def __repr__(self) -> str:
        return f"Comparison({self.text})"


def compare(here: Trace, there: Trace) -> Comparison:
    """Return where two runs part; ValueError where one of them keeps no trace."""
    if not (here.enabled and there.enabled):
        raise ValueError("compare: expected two labs that keep a trace, got one with trace=False")
    common = 0
    for mine, theirs in zip_longest(_rows(here), _rows(there)):
        if mine != theirs:
            first = _event(mine), _event(theirs)
            return Comparison(common, *first, _from(here, common), _from(there, common))
        common += 1
    return Comparison(common, None, None)


def _from(trace: Trace, place: int) -> tuple[Any, ...]:
    """Return the first few events from a place on."""
    return tuple([_event(row) for row in islice(_rows(trace), place, place + MAX_NEXT)])


def _rows(trace: Trace) -> Iterator[tuple[Any, ...]]:
    return chain.from_iterable(trace.state()[1])


def _event(row: tuple[Any, ...] | None) -> Any:
    return None if row is None else VIEWS[row[0]]._make(row)


def _line(event: Any) -> str:
    return "nothing more" if event is None else line_of(event).strip()
