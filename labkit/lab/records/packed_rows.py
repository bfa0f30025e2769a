"""Packed rows: a list of plain rows that only grows and is kept for good, in few bytes a row.

1. The newest rows are kept as they were appended; each time there are enough, they become a packed chunk: one column a
   field, of whole numbers as wide as its largest, of bytes joined, of places in a table of values that stands once.
2. A name such as ``versions/app/12.data`` is a text with a number in it: the table has the text, the column the number.
3. A field may be a list of rows of its own: their columns, and how many each row has.
4. Packing loses nothing: a row that is read is equal to the one that was appended.
5. Chunks are plain bytes and never change; snapshots share them (R3).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, Final, TypeVar

from labkit.lab.records.chunks import Chunks, GrowingRows

Row = TypeVar("Row")

NUMBER: Final = "number"
BYTES: Final = "bytes"
VALUE: Final = "value"
NAME: Final = "name"

PACKED_ROWS = 256
"""How many rows make a chunk: one that is looked for is unpacked with its neighbours."""

WIDTHS = "BHIq"
MAX_DIGITS = 9

Column = tuple[Any, ...]
Shape = tuple[Any, ...]
"""The kind of each field, in order; a shape in the place of a kind is that of the rows inside a field."""


class SharedValues:
    """Values by their places, each once: equal ones are one, so those of a field are of one type."""

    __slots__ = ("_by_place", "_kept", "_places")

    def __init__(self, state: tuple[tuple[Any, ...], ...] = ()) -> None:
        self._kept: Chunks[Any] = Chunks(state)
        self._by_place: list[Any] | None = None  # made when one is first looked for: a branch seldom does
        self._places: dict[Any, int] | None = None

    def __repr__(self) -> str:
        return f"SharedValues({len(self._kept)} values)"

    def places(self, values: Iterable[Any]) -> Column:
        """Return a column of the places of values, new ones among them."""
        if self._places is None:
            self._places = {value: place for place, value in enumerate(self._all())}
        known, by_place, found = self._places, self._all(), []
        for value in values:
            place = known.get(value)
            if place is None:
                place = known[value] = len(known)
                by_place.append(value)
                self._kept.append(value)
            found.append(place)
        return _numbers(found)

    def at(self, column: Column) -> list[Any]:
        """Return the values that a column has the places of."""
        by_place = self._all()
        return [by_place[place] for place in _numbers_of(column)]

    def _all(self) -> list[Any]:
        if self._by_place is None:
            self._by_place = [*chain.from_iterable(self._kept.state())]
        return self._by_place

    def state(self) -> tuple[tuple[Any, ...], ...]:
        """Return the values in sealed chunks."""
        return self._kept.state()


class PackedRows(GrowingRows[Row]):
    """A sequence of rows of one shape; ``read`` makes a typed row of the plain tuple that was appended."""

    __slots__ = ("_open", "_packed", "_read", "_shape", "_values")

    def __init__(self, shape: Shape, read: Callable[[Any], Row], state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self._shape, self._read = shape, read
        self._values = SharedValues(state.get("values", ()))
        self._packed: Chunks[Column] = Chunks(state.get("packed", ()))
        self._open: list[Any] = list(state.get("open", ()))

    def __repr__(self) -> str:
        return f"PackedRows({len(self)} rows)"

    def __len__(self) -> int:
        return len(self._packed) * PACKED_ROWS + len(self._open)

    def __iter__(self) -> Iterator[Row]:
        for chunk in self._packed:
            yield from map(self._read, self._unpacked(chunk))
        yield from map(self._read, self._open)

    def __reversed__(self) -> Iterator[Row]:
        yield from map(self._read, reversed(self._open))
        for chunk in reversed(self._packed):
            yield from map(self._read, reversed(self._unpacked(chunk)))

    def _at(self, place: int) -> Row:
        chunk, row = divmod(place, PACKED_ROWS)
        if chunk == len(self._packed):
            return self._read(self._open[row])
        return self._read(self._unpacked(self._packed[chunk])[row])

    def append(self, row: tuple[Any, ...]) -> None:
        """Append a row of plain values."""
        self._open.append(row)
        if len(self._open) == PACKED_ROWS:
            self._packed.append(_pack_rows(self._shape, self._open, self._values))
            self._open.clear()

    def state(self) -> dict[str, Any]:
        """Return all rows as plain values; chunks are shared."""
        return {"packed": self._packed.state(), "open": tuple(self._open), "values": self._values.state()}

    def _unpacked(self, chunk: Column) -> list[tuple[Any, ...]]:
        return _rows(self._shape, chunk, self._values)


def _pack_rows(shape: Shape, rows: Sequence[Any], values: SharedValues) -> Column:
    columns = zip(*rows, strict=True) if rows else [()] * len(shape)
    return tuple([_packed(kind, column, values) for kind, column in zip(shape, columns, strict=True)])


def _rows(shape: Shape, chunk: Column, values: SharedValues) -> list[tuple[Any, ...]]:
    columns = [_field(kind, column, values) for kind, column in zip(shape, chunk, strict=True)]
    return list(zip(*columns, strict=True))


def _packed(kind: Any, column: Sequence[Any], values: SharedValues) -> Column:
    if kind == NUMBER:
        return _numbers(column)
    if kind == BYTES:
        sizes = [0 if each is None else len(each) + 1 for each in column]
        return _numbers(sizes), b"".join([each for each in column if each is not None])
    if kind == VALUE:
        return values.places(column)
    if kind == NAME:
        stems, numbers = zip(*map(_split, column), strict=True) if column else ((), ())
        return values.places(stems), _numbers(numbers)
    return _numbers([len(each) for each in column]), _pack_rows(kind, [*chain.from_iterable(column)], values)


def _field(kind: Any, column: Column, values: SharedValues) -> Sequence[Any]:
    if kind == NUMBER:
        return _numbers_of(column)
    if kind == VALUE:
        return values.at(column)
    if kind == NAME:
        named = zip(values.at(column[0]), _numbers_of(column[1]), strict=True)
        return [f"{head}{number}{tail}" if number >= 0 else head for (head, tail), number in named]
    if kind == BYTES:
        sizes = _numbers_of(column[0])
        ends = pairwise(accumulate([max(0, size - 1) for size in sizes], initial=0))
        return [column[1][begin:end] if size else None for size, (begin, end) in zip(sizes, ends, strict=True)]
    inner = _rows(kind, column[1], values)
    return [tuple(inner[begin:end]) for begin, end in pairwise(accumulate(_numbers_of(column[0]), initial=0))]


def _numbers(column: Sequence[int]) -> Column:
    """Return whole numbers as the least of them, and what each is above it as bytes; beyond 64 bits as they are."""
    least = min(column, default=0)
    for code in WIDTHS:
        try:
            return code, least, array(code, [number - least for number in column]).tobytes()
        except OverflowError:
            continue
    return "", least, tuple(column)


def _numbers_of(column: Column) -> Sequence[int]:
    code, least, packed = column
    if not code:
        return list(packed)
    numbers: array[int] = array(code)
    numbers.frombytes(packed)
    return [number + least for number in numbers] if least else numbers.tolist()


def _split(name: str) -> tuple[tuple[str, str], int]:
    """Return a name without the number at the beginning of its last part, and that number (-1: it has none)."""
    head, slash, last = name.rpartition("/")
    digits, dot, rest = last.partition(".")
    if digits.isdecimal() and digits.isascii() and len(digits) <= MAX_DIGITS and (digits[0] != "0" or digits == "0"):
        return (head + slash, dot + rest), int(digits)
    return (name, ""), -1
