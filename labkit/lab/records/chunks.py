"""Chunks: a list that only grows, and hands its rows over in sealed chunks that snapshots share (R3).

Rows are kept as they were appended; of plain tuples, typed rows are made on reading.  The garbage collector looks at a
tuple of texts and numbers only once, at a named tuple again and again.

What only pictures and explanations need is recorded without end beside a trace; without one, the newest rows are kept.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

Row = TypeVar("Row")

NEWEST_ROWS = 10_000
"""How many of the newest rows of each such record a lab without a trace keeps at least; it never has twice as many."""


class GrowingRows(Sequence[Row], Generic[Row]):
    """A sequence of rows that only grows; ``_at`` returns that of a place from 0 on."""

    __slots__ = ()

    @abstractmethod
    def _at(self, place: int) -> Row: ...

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self) | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # it grows

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        if isinstance(place, slice):
            return list(self)[place]
        wanted = place + len(self) if place < 0 else place
        if not 0 <= wanted < len(self):
            raise IndexError(f"row {place} of {len(self)}")
        return self._at(wanted)


class Chunks(GrowingRows[Row]):
    """A sequence of immutable rows; ``state`` seals what is open, and a sealed chunk never changes.

    ``read`` makes a row of what was appended; without it the two are the same.  With ``newest``, at least so many of
    the newest rows are kept, and less than twice as many; without, all.
    """

    __slots__ = ("_count", "_newest", "_open", "_read", "_sealed", "append")

    append: Callable[[Any], None]

    def __init__(
        self, sealed: tuple[tuple[Any, ...], ...] = (), read: Callable[[Any], Row] | None = None, newest: int = 0
    ) -> None:
        self._sealed: list[tuple[Any, ...]] = list(sealed)
        self._open: list[Any] = []
        self._read: Callable[[Any], Row] = read or _as_it_is
        self._count = sum(map(len, sealed))  # rows that are sealed
        # The list is emptied in place when a chunk is sealed, so this bound append stays valid.
        self.append = self._append_and_forget if newest else self._open.append
        self._newest = newest

    def __repr__(self) -> str:
        return f"Chunks({len(self)} rows)"

    def __len__(self) -> int:
        return self._count + len(self._open)

    def __iter__(self) -> Iterator[Row]:
        for chunk in (*self._sealed, self._open):
            yield from map(self._read, chunk)

    def __reversed__(self) -> Iterator[Row]:
        for chunk in (self._open, *reversed(self._sealed)):
            yield from map(self._read, reversed(chunk))

    def _at(self, place: int) -> Row:
        chunks = iter((*self._sealed, self._open))
        chunk = next(chunks)
        while place >= len(chunk):
            place -= len(chunk)
            chunk = next(chunks)
        return self._read(chunk[place])

    def state(self) -> tuple[tuple[Any, ...], ...]:
        """Return all rows in sealed chunks: few, as a chunk takes in those before it that are not longer."""
        if self._open:
            chunk = tuple(self._open)
            self._count += len(chunk)
            self._open.clear()
            while self._sealed and len(self._sealed[-1]) <= len(chunk):
                chunk = self._sealed.pop() + chunk
            self._sealed.append(chunk)
        return tuple(self._sealed)

    def _append_and_forget(self, row: Any) -> None:
        self._open.append(row)
        if len(self) >= 2 * self._newest:
            rows = [row for chunk in (*self._sealed, self._open) for row in chunk]
            self._sealed, self._count = [tuple(rows[-self._newest :])], self._newest
            self._open.clear()


def _as_it_is(row: Any) -> Any:
    return row
