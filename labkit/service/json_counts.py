"""JSON counts: whether a text in JSON would make more values than a body may have, before any of them is made (C22).

1. Commas, colons and opening brackets outside texts are counted; there are at least as many values as of each.
2. What is found to be no JSON on the way is left to the decoder, which stops at the same place.
3. The text is gone through in pieces, so that other threads get their turns.
"""

from __future__ import annotations

import re

from labkit.service.limits import MAX_VALUES

PIECE_BYTES = 65_536

_TEXT = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


def has_too_many_values(content: bytes, most: int = MAX_VALUES) -> bool:
    """Whether a body in JSON has certainly more values than ``most``."""
    commas = colons = lists = objects = texts = place = 0
    while 0 <= place < len(content):
        quote = content.find(b'"', place, place + PIECE_BYTES)
        end = quote if quote >= 0 else place + PIECE_BYTES
        between = content[place:end]
        if between == b",":
            commas += 1
        elif between == b":":
            colons += 1
        else:
            commas, colons = commas + between.count(b","), colons + between.count(b":")
            lists, objects = lists + between.count(b"["), objects + between.count(b"{")
        if max(commas, colons, lists - 1, objects - 1) > most:
            return True
        place = end
        if quote >= 0:
            texts += 1
            if texts > commas + colons + lists + objects + 1:
                return False  # two texts in a row: rule 2
            place = _end_of_text(content, quote + 1)
    return False


def _end_of_text(content: bytes, place: int) -> int:
    """Return where a text has ended, after its last quotation mark; -1 where it does not end."""
    end = content.find(b'"', place)
    if end < 0 or content.find(b"\\", place, end) < 0:
        return end + 1 or -1
    while place < len(content):
        found = _TEXT.match(content, place, place + PIECE_BYTES)
        assert found is not None
        if found.end() == place and content[place : place + 1] == b"\\":
            return -1  # the last byte of all
        place = found.end()
        if content[place : place + 1] == b'"':
            return place + 1
    return -1
