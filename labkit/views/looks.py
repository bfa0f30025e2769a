"""Looks: the colour and pattern of each state and of each kind of part in a chart; neighbours differ by pattern too."""

from __future__ import annotations

from typing import NamedTuple

from labkit.views.boxes import Box
from labkit.views.layout.chart_words import ChartWords
from labkit.views.picture import cross_hatch, hatch, line, rectangle, text

SOLID, HATCHED, CROSSED, HOLLOW, BLANK = "solid", "hatched", "crossed", "hollow", "blank"


class Look(NamedTuple):
    """How a kind of part is drawn: its colour and pattern."""

    colour: str
    pattern: str


LOOKS = {
    "primary": Look("primary", SOLID),
    "secondary": Look("secondary", SOLID),
    "disabled": Look("faint", HOLLOW),
    "sealed": Look("sealed", HATCHED),
    "down": Look("down", CROSSED),
    "active": Look("primary", SOLID),
    "standby": Look("faint", HOLLOW),
    "paused": Look("disabled", HATCHED),
    "idle": Look("faint", HOLLOW),
    "merkle-diff": Look("primary", HATCHED),
    "merkle-sync": Look("primary", CROSSED),
    "stream-wals": Look("secondary", SOLID),
    "connecting": Look("primary", HATCHED),
    "ready": Look("secondary", SOLID),
    "transient_failure": Look("down", CROSSED),
    "shutdown": Look("faint", HOLLOW),
    "none": Look("faint", BLANK),
    "arrived": Look("primary", SOLID),
    "lost": Look("down", CROSSED),
    "survived": Look("secondary", SOLID),
    "valid again": Look("sealed", HATCHED),
    "current": Look("secondary", SOLID),
    "behind": Look("primary", SOLID),
    "no complete state": Look("faint", HATCHED),
    "stale": Look("down", CROSSED),
    "only in the first": Look("primary", SOLID),
    "only in the second": Look("secondary", HATCHED),
    "not the same": Look("down", CROSSED),
    "storage": Look("primary", SOLID),
    "engine": Look("secondary", SOLID),
    "walk": Look("sealed", HATCHED),
    "fields": Look("faint", HOLLOW),
    "entropy": Look("down", CROSSED),
    "door": Look("disabled", HATCHED),
    "request": Look("secondary", SOLID),
    "replication": Look("primary", SOLID),
    "tree": Look("primary", HATCHED),
    "records": Look("sealed", HATCHED),
    "nodes": Look("faint", HOLLOW),
    "network": Look("disabled", HATCHED),
    "clients": Look("down", CROSSED),
}
OTHER = Look("disabled", SOLID)


def written(words: ChartWords) -> str:
    """Draw a line of text."""
    return text(words.x, words.y, words.words, size=words.size, colour=words.colour)


def patterned(box: Box, look: Look, note: str) -> list[str]:
    """Draw a box in a colour and pattern; ``note`` is shown when the pointer rests on it."""
    if look.pattern == SOLID:
        return [rectangle(box, fill=look.colour, border="paper", note=note)]
    if look.pattern == BLANK:
        y = box.y + box.height / 2
        return [rectangle(box, fill="paper", note=note), line((box.x, y, box.right, y), dash="2 4")]
    elements = [rectangle(box, fill="paper", border=look.colour, note=note)]
    if look.pattern == HATCHED:
        elements.append(hatch(box, colour=look.colour))
    elif look.pattern == CROSSED:
        elements.append(cross_hatch(box, colour=look.colour))
    return elements
