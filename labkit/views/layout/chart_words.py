"""Chart words: the title, the finding and other lines of text of a chart, and how they fit its width."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from labkit.views.boxes import width_of
from labkit.views.picture import LARGE, NORMAL

WIDTH, MARGIN = 668, 16
INSIDE = WIDTH - 2 * MARGIN
LINE, GAP = 18, 10


class ChartWords(NamedTuple):
    """A line of text, where it begins, its size and its colour."""

    words: str
    x: float
    y: float
    size: int
    colour: str


def heading(title: str, finding: str) -> tuple[list[ChartWords], float]:
    """Write a chart's title, and below it what was found; return the lines, and where the chart begins."""
    words: list[ChartWords] = []
    y = 8.0
    for text, size, colour in ((title, LARGE, "faint"), (finding, NORMAL, "ink")):
        for line in wrapped(text.split(" "), size, INSIDE, " "):
            words.append(ChartWords(line, MARGIN, y + LINE, size, colour))
            y += LINE + 3
    return words, y + GAP


def shortened(words: str, size: int, width: float) -> str:
    """Return words that fit a width: the middle of long ones is left out, as beginning and end tell names apart."""
    if width_of(words, size) <= width:
        return words
    kept = len(words) - 1
    while kept > 2 and width_of(_without_middle(words, kept), size) > width:
        kept -= 1
    return _without_middle(words, kept)


def _without_middle(words: str, kept: int) -> str:
    return f"{words[: kept - kept // 2]}…{words[len(words) - kept // 2 :]}"


def wrapped(pieces: Iterable[str], size: int, width: float, between: str) -> list[str]:
    """Return pieces of text in as many lines as they need; one that is too long for a line has one of its own."""
    lines: list[str] = []
    for piece in pieces:
        longer = f"{lines[-1]}{between}{piece}" if lines else piece
        if lines and width_of(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(shortened(piece, size, width))
    return lines
