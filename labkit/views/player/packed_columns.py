"""Packed columns: lists of whole numbers as text, for a page that is to be small; the script reads them again.

1. A number is a few signs, the lowest part first; the last sign of a number is one of the first 70 of all signs, for
   most numbers have one or two: so they need fewer signs than with as many of both kinds.
2. A column that may hold a number below 0 says so by its name (``SIGNED``): it then holds 2n, and for negative ones
   -2n - 1.
3. What packs worst, how long messages took, is last: a packer's table of signs suits what is near.
4. When a message ended is not there: it follows from when its cause ended, how much later it was sent, and how long it
   took.  Of those without a cause it is how much later than the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

SIGNS = "".join(chr(code) for code in range(33, 127) if chr(code) not in "\"'<\\")
LAST = 70
"""How many signs end a number; the others are parts before its last."""
MORE = len(SIGNS) - LAST
COLUMNS = {
    "messages": ("took", "kind", "row", "cause"),
    "operations": ("by", "how", "began"),
    "silent": ("at", "took", "who", "how"),
    "asks": ("at", "how"),
    "again": ("place", "back"),
}
LISTS = ("interesting", "carried")
SIGNED = {"apart": ("pair", "from", "took")}


def packed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a player with its long lists as text."""
    found = {**data, **{name: text_of(data[name]) for name in LISTS}}
    for part, names in COLUMNS.items():
        found[part] = {**data[part], **{name: text_of(data[part][name]) for name in names}}
    found["messages"]["sent"] = text_of(map(with_sign, _sent_later(data)))
    found["messages"]["took"] = found["messages"].pop("took")
    del found["messages"]["at"]
    found["messages"] = found.pop("messages")
    if data["trees"] is not None:
        apart = data["trees"]["apart"]
        columns = {name: text_of(map(with_sign, apart[name])) for name in SIGNED["apart"]}
        pages = " ".join(text_of(map(with_sign, row)) for row in apart["pages"])
        found["trees"] = {**data["trees"], "apart": {**columns, "pages": pages}}
    return found


def _sent_later(data: Mapping[str, Any]) -> Iterator[int]:
    """Yield for each message how much later it was sent than its cause ended, or the last one without a cause began."""
    messages, kinds = data["messages"], data["kinds"]
    ends = [*accumulate(messages["at"])]
    last = 0
    for number, (end, took, kind, cause) in enumerate(
        zip(ends, messages["took"], messages["kind"], messages["cause"], strict=True)
    ):
        sent = end - took - kinds[kind][4]
        yield sent - (ends[number - cause] if cause else last)
        last = last if cause else sent


def with_sign(number: int) -> int:
    """Return a number that may be negative as one that is not."""
    return 2 * number if number >= 0 else -2 * number - 1


def text_of(numbers: Iterable[int]) -> str:
    """Return numbers from 0 up as text."""
    signs = []
    for left in numbers:
        while left >= LAST:
            signs.append(SIGNS[LAST + left % MORE])
            left //= MORE
        signs.append(SIGNS[left])
    return "".join(signs)
