"""Bounds: walks over the heads of CBOR items, before anything is made of them.

1. What passes is complete, has no more items than its bytes can hold, and no more than ``MAX_ITEMS``.
2. It has definite lengths and the kinds of items that a saved lab is written with: no other tag, no undefined value.
3. Nothing is kept on the way but how many items are still to come at each depth.
"""

from __future__ import annotations

from collections.abc import Container

from labkit.front.lab_file.errors import LabFileError, LabTooLarge

MAX_ITEMS = 16_000_000
MAX_DEPTH = 700  # a body of 300 lists inside one another, each a tag and an array, somewhere in a lab
MAX_BIG_BYTES = 2_048

BIG, BIG_NEGATIVE = 2, 3
_BYTES, _TEXT, _ARRAY, _MAP, _TAG, _SIMPLE = 2, 3, 4, 5, 6, 7
_FALSE, _NULL, _FLOAT = 20, 22, 27


def end_of_item(data: bytes, start: int, tags: Container[int]) -> int:
    """Return where the item that begins at ``start`` ends; LabFileError for one outside the bounds."""
    left, items, at, size = [1], 1, start, len(data)
    limit = 0  # what the next byte string may have at most, after the tag of a big number; 0: anything
    while left:
        if not left[-1]:
            left.pop()
            continue
        left[-1] -= 1
        kind, argument, at = _head(data, at)
        if limit and (kind != _BYTES or argument > limit):
            raise LabFileError(f"byte {at}: expected a number of at most {limit} bytes")
        limit = 0
        inside = 0
        if kind in (_BYTES, _TEXT):
            at += argument
        elif kind == _ARRAY:
            inside = argument
        elif kind == _MAP:
            inside = 2 * argument
        elif kind == _TAG:
            if argument in (BIG, BIG_NEGATIVE):
                limit = MAX_BIG_BYTES
            elif argument not in tags:
                raise LabFileError(f"byte {at}: expected a tag of the table, got {argument}")
            inside = 1
        items += inside
        if at > size or inside > size - at:
            raise LabFileError(f"byte {min(at, size)}: expected more bytes, got the end")
        if items > MAX_ITEMS:
            raise LabTooLarge(f"expected at most {MAX_ITEMS:,} items, got more")
        if inside:
            left.append(inside)
            if len(left) > MAX_DEPTH:
                raise LabFileError(f"byte {at}: expected at most {MAX_DEPTH} items inside one another")
    return at


def _head(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the kind of an item, its number, length or count, and where it goes on."""
    if at >= len(data):
        raise LabFileError(f"byte {at}: expected an item, got the end")
    first = data[at]
    kind, short = first >> 5, first & 31
    at += 1
    if kind == _SIMPLE:
        if short == _FLOAT:
            return kind, 0, at + 8
        if not _FALSE <= short <= _NULL:
            raise LabFileError(f"byte {at - 1}: expected false, true, null or a number of 64 bits")
        return kind, 0, at
    if short < 24:
        return kind, short, at
    if short > 27:
        raise LabFileError(f"byte {at - 1}: expected a definite length")
    width = 1 << (short - 24)
    if at + width > len(data):
        raise LabFileError(f"byte {at}: expected {width} bytes, got the end")
    return kind, int.from_bytes(data[at : at + width], "big"), at + width
