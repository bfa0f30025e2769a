"""Bar chart layout: where the names, words and parts of a chart of bars stand.

1. A bar has two lines: its name and, in words, each of its parts from left to right; below them the parts themselves.
   Words that do not fit beside the name go on in lines of their own.  Names too long for half a line are shortened.
   A part is named inside as well where its words have that name and there is room.
2. All bars have one scale: the longest is as wide as the picture.
3. A part with anything in it can be seen, however small it is: each has a few pixels first, the rest is in proportion.
"""

from __future__ import annotations

from typing import NamedTuple

from labkit.views.boxes import Box, width_of
from labkit.views.layout.chart_words import INSIDE, LINE, MARGIN, ChartWords, heading, shortened, wrapped
from labkit.views.picture import NORMAL, SMALL

GROUP_ROOM, BAR, GAP = 26, 16, 10
LEAST = 3.0
NAME_SHARE = 0.5
DOT = " · "


class BarPart(NamedTuple):
    """One part of a bar: what it is, how much, and the same in words."""

    what: str
    value: float
    words: str


class Bar(NamedTuple):
    """One bar: the heading that it stands below, its name and its parts."""

    group: str
    name: str
    parts: tuple[BarPart, ...]


class BarChart(NamedTuple):
    """Everything that a chart of bars says: what it is of, what was found, and the bars in order."""

    title: str
    finding: str
    bars: tuple[Bar, ...]


class PlacedPart(NamedTuple):
    """A part of a bar and where it stands; ``inside`` is what is written in it, empty where room is lacking."""

    part: BarPart
    bar: str
    box: Box
    inside: str


class BarChartLayout(NamedTuple):
    """Everything that a chart of bars shows, and where."""

    chart: BarChart
    height: int
    words: tuple[ChartWords, ...]
    parts: tuple[PlacedPart, ...]


def layout(chart: BarChart) -> BarChartLayout:
    """Place everything that a chart of bars says."""
    words, y = heading(chart.title, chart.finding)
    scale = max((sum(part.value for part in bar.parts) for bar in chart.bars), default=0) or 1
    parts: list[PlacedPart] = []
    group = ""
    for bar in chart.bars:
        if bar.group != group:
            group = bar.group
            y += GROUP_ROOM
            words.append(ChartWords(group, MARGIN, y - 4, NORMAL, "ink"))
        lines, y = _head(bar, y)
        words += lines
        parts += _parts(bar, y, scale)
        y += BAR + GAP
    return BarChartLayout(chart, int(y) + GAP, tuple(words), tuple(parts))


def _head(bar: Bar, y: float) -> tuple[list[ChartWords], float]:
    """Write a bar's name and parts; return the lines, and where they end."""
    name = shortened(bar.name, NORMAL, INSIDE * NAME_SHARE)
    said = DOT.join(part.words for part in bar.parts if part.words)
    lines = [ChartWords(name, MARGIN, y + LINE - 4, NORMAL, "ink")]
    used = width_of(name, NORMAL) + 16
    if used + width_of(said, SMALL) <= INSIDE:
        return [*lines, ChartWords(said, MARGIN + used, y + LINE - 4, SMALL, "faint")] if said else lines, y + LINE
    for line in wrapped([part.words for part in bar.parts if part.words], SMALL, INSIDE, DOT):
        y += LINE
        lines.append(ChartWords(line, MARGIN, y + LINE - 4, SMALL, "faint"))
    return lines, y + LINE


def _parts(bar: Bar, y: float, scale: float) -> list[PlacedPart]:
    placed = []
    x, shown = float(MARGIN), [part for part in bar.parts if part.value]
    total, least = sum(part.value for part in shown), LEAST * len(shown)
    length = max(least, INSIDE * total / scale)
    for part in shown:
        width = LEAST + (length - least) * part.value / total
        inside = part.what if part.what in part.words and width_of(part.what, SMALL) + 8 <= width else ""
        placed.append(PlacedPart(part, bar.name, Box(x, y, width, BAR), inside))
        x += width
    return placed


def describe(chart: BarChart) -> str:
    """Return a chart in words: the finding, then each bar."""
    sentences = [chart.finding]
    for group in dict.fromkeys(bar.group for bar in chart.bars):
        bars = [
            f"{bar.name}: {', '.join(part.words for part in bar.parts if part.words)}"
            for bar in chart.bars
            if bar.group == group
        ]
        sentences.append(f"{group}{' – ' if group else ''}{'; '.join(bars)}.")
    return " ".join(sentences)
