"""Packed columns: lists of whole numbers as text, for a page that is to be small; the script reads them again.

1. A number is a few signs, the lowest part first; the last sign of a number is one of the first half of all signs.
2. A column that may hold a number below 0 says so by its name (``SIGNED``): it then holds 2n, and for negative ones
   -2n - 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

SIGNS = "".join(chr(code) for code in range(33, 127) if chr(code) not in "\"'<\\")
HALF = len(SIGNS) // 2
COLUMNS = {
    "messages": ("at", "took", "kind", "row", "cause"),
    "operations": ("at", "how"),
}
SIGNED = {"apart": ("pair", "from", "took")}


def packed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a player with its long lists as text."""
    found = {**data, "interesting": text_of(data["interesting"])}
    for part, names in COLUMNS.items():
        found[part] = {**data[part], **{name: text_of(data[part][name]) for name in names}}
    if data["trees"] is not None:
        apart = data["trees"]["apart"]
        columns = {name: text_of(map(with_sign, apart[name])) for name in SIGNED["apart"]}
        pages = " ".join(text_of(map(with_sign, row)) for row in apart["pages"])
        found["trees"] = {**data["trees"], "apart": {**columns, "pages": pages}}
    return found


def with_sign(number: int) -> int:
    """Return a number that may be negative as one that is not."""
    return 2 * number if number >= 0 else -2 * number - 1


def text_of(numbers: Iterable[int]) -> str:
    """Return numbers from 0 up as text."""
    signs = []
    for left in numbers:
        while left >= HALF:
            signs.append(SIGNS[HALF + left % HALF])
            left //= HALF
        signs.append(SIGNS[left])
    return "".join(signs)
