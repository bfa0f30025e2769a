"""Fault effects: which fault lines and hosts are under, and how much each fault met: messages lost, slowed, and so on.

Rules kept here:

1. Each fault has a number.  It belongs to places: what is done to a direction between two sites, or to a host.
2. A count belongs to a fault: another one at the same place begins with 0, and a cut that is made twice is the first's.
3. All of it is plain state of the network, with the trace on or off.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from labkit.sim.topology import Pair

CLOSED, DOWN, SLOWER, LOSSY, DOUBLING = "closed", "down", "slower", "lossy", "doubling"
"""What is done to a direction between two sites; down is that of a line that flaps."""

KINDS = (CLOSED, SLOWER, LOSSY, DOUBLING)
"""The kinds of ``Impairment.by_kind``, in order; a line that flaps is numbered by whoever lets it."""

Place: TypeAlias = tuple[str, ...]
"""What is done, and to what: ``("closed", "paris", "tokyo")``, ``("paused", "paris-1")``."""


class LaneFaults(NamedTuple):
    """The numbers of the faults that a lane is under, by what they do to its messages."""

    lost: tuple[int, ...] = ()
    slowed: tuple[int, ...] = ()
    sent_again: tuple[int, ...] = ()
    doubled: tuple[int, ...] = ()


NO_FAULTS = LaneFaults()


class FaultEffects:
    """The faults of a lab by number: ``last`` is the newest, ``changes`` how often one, or what undoes one, changed.

    ``counts`` are what each met.  A fault may count by a meter of its host, which goes on and on: what it shows at the
    fault's beginning is taken away, what it shows at its end added.
    """

    __slots__ = ("_places", "changes", "counts", "last")

    def __init__(self, state: tuple[Any, ...] = ()) -> None:
        last, changes, places, counts = state or (0, 0, (), ())
        self.last: int = last
        self.changes: int = changes
        self._places: dict[Place, int] = dict(places)
        self.counts: dict[int, int] = dict(counts)

    def __repr__(self) -> str:
        return f"FaultEffects({self.last} faults, {len(self._places)} places)"

    def state(self) -> tuple[Any, ...]:
        """Return all of it as plain values."""
        return self.last, self.changes, tuple(sorted(self._places.items())), tuple(sorted(self.counts.items()))

    def begin(self, *places: Place, meters: Iterable[int] = ()) -> int:
        """Begin a fault at places, whose meters show so much; return its number."""
        self.last += 1
        self.counts[self.last] = 0
        for place, meter in zip(places, (*meters, *[0] * len(places)), strict=False):
            self.end(place, meter)
            self._places[place] = self.last
            self.counts[self.last] -= meter
        return self.last

    def end(self, place: Place, meter: int = 0) -> None:
        """End the fault at a place, whose meter shows so much; nothing for a place without one."""
        number = self._places.pop(place, None)
        if number is not None:
            self.counts[number] += meter

    def meet(self, numbers: Iterable[int]) -> None:
        """Count one message, or whatever it is, that faults met."""
        for number in numbers:
            self.counts[number] += 1

    def places_of(self, number: int) -> tuple[Place, ...]:
        """Return where a fault still is."""
        return tuple([place for place, made in self._places.items() if made == number])

    def on(self, pairs: Iterable[Pair], down: bool) -> LaneFaults:
        """Return the faults of these directions; a line that flaps loses messages only while it is ``down``."""
        pairs = list(pairs)
        closed = (CLOSED, DOWN) if down else (CLOSED,)
        return LaneFaults(*[self._numbers(what, pairs) for what in (closed, (SLOWER,), (LOSSY,), (DOUBLING,))])

    def _numbers(self, what: tuple[str, ...], pairs: list[Pair]) -> tuple[int, ...]:
        found = [self._places.get((kind, *pair)) for kind in what for pair in pairs]
        return tuple(dict.fromkeys([number for number in found if number is not None]))
