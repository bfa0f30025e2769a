"""Draws: the random choices of one schedule; the same seed makes the same choices in every process (R10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from labkit.sim.random_streams import RandomStreams

Choice = TypeVar("Choice")

_ALL = 100


class Draws:
    """Choices under a name and a seed, one after the other."""

    __slots__ = ("_stream", "_streams")

    def __init__(self, name: str, seed: int) -> None:
        self._streams, self._stream = RandomStreams(f"hunt {name} {seed}"), "draw"

    def apart(self, stream: str) -> Draws:
        """Return choices of the same seed under a name of their own: they move none of the others."""
        found = Draws.__new__(Draws)
        found._streams, found._stream = self._streams, stream
        return found

    def below(self, count: int) -> int:
        """Return a whole number from 0 to ``count`` - 1."""
        return self._streams.below(self._stream, count)

    def one_of(self, options: Sequence[Choice]) -> Choice:
        """Return one of some options."""
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        """Return whether something happens that does so in this share of cases."""
        return self.below(_ALL) < percent

    def between(self, low: int, high: int) -> int:
        """Return a whole number within limits, both included."""
        return low + self.below(high - low + 1)

    def some_of(self, options: Sequence[Choice]) -> tuple[Choice, ...]:
        """Return those options that are on: first a share is drawn, then each with it; so few, many or all are."""
        percent = self.between(0, _ALL)
        return tuple([option for option in options if self.chance(percent)])
