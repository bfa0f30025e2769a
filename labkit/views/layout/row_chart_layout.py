"""Row chart layout: a table of which each row ends in a bar: where names, figures and bars stand.

1. Figures of one column stand below one another, right-aligned below the heading of the column.
2. Every bar begins at the same place, so lengths are compared with each other and not with an axis of time.
3. All bars have one scale.  A part with anything in it can be seen, however small it is.
4. Names that are too long for their column are shortened; the table and the description have them whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from labkit.views.boxes import Box, width_of
from labkit.views.layout.bar_chart_layout import BarPart
from labkit.views.layout.chart_words import INSIDE, MARGIN, ChartWords, heading, shortened
from labkit.views.picture import NORMAL, SMALL

ROW, BAR, GROUP_ROOM = 20, 12, 28
LEAST = 3.0
NAME_SHARE, MIN_BAR = 0.34, 110.0
APART = 14.0


class FigureRow(NamedTuple):
    """One row: the heading that it stands below, its name, its figures, and the parts of its bar."""

    group: str
    name: str
    figures: tuple[str, ...]
    parts: tuple[BarPart, ...]


class RowChart(NamedTuple):
    """Everything that a chart of rows says: what it is of, what was found, what its columns are, and the rows.

    ``key`` stands above the bars, and says what a pattern in them means.
    """

    title: str
    finding: str
    columns: tuple[str, ...]
    rows: tuple[FigureRow, ...]
    key: str = ""


class RowPart(NamedTuple):
    """A part of a bar, and where it stands."""

    part: BarPart
    row: str
    box: Box


class RowChartLayout(NamedTuple):
    """Everything that a chart of rows shows, and where; ``figures`` end at their place, other words begin there."""

    chart: RowChart
    height: int
    words: tuple[ChartWords, ...]
    figures: tuple[ChartWords, ...]
    parts: tuple[RowPart, ...]


def layout(chart: RowChart) -> RowChartLayout:
    """Place everything that a chart of rows says."""
    words, y = heading(chart.title, chart.finding)
    edges = _edges(chart)
    left = edges[-1] + APART
    scale = max((sum(part.value for part in row.parts) for row in chart.rows), default=0) or 1
    figures: list[ChartWords] = []
    parts: list[RowPart] = []
    group = ""
    if chart.rows:
        y += ROW
        words.append(ChartWords(chart.key, left, y - 6, SMALL, "faint"))
        figures = [
            ChartWords(column, x, y - 6, SMALL, "faint") for column, x in zip(chart.columns, edges[1:], strict=True)
        ]
    for row in chart.rows:
        if row.group != group:
            group = row.group
            y += GROUP_ROOM
            words.append(ChartWords(shortened(group, NORMAL, INSIDE), MARGIN, y - 8, NORMAL, "ink"))
        name = shortened(row.name, SMALL, edges[0] - MARGIN)
        words.append(ChartWords(name, MARGIN, y + ROW - 6, SMALL, "ink"))
        figures += [
            ChartWords(figure, x, y + ROW - 6, SMALL, "faint") for figure, x in zip(row.figures, edges[1:], strict=True)
        ]
        parts += _parts(row, Box(left, y + (ROW - BAR) / 2, MARGIN + INSIDE - left, BAR), scale)
        y += ROW
    return RowChartLayout(chart, int(y) + ROW, tuple(words), tuple(figures), tuple(parts))


def _edges(chart: RowChart) -> list[float]:
    """Return where the column of names and those of figures end."""
    widths = [
        max(width_of(words, SMALL) for words in (column, *[row.figures[place] for row in chart.rows])) + APART
        for place, column in enumerate(chart.columns)
    ]
    longest = max((width_of(row.name, SMALL) for row in chart.rows), default=0.0) + 2
    room = INSIDE - sum(widths) - APART - MIN_BAR
    edges = [MARGIN + min(longest, INSIDE * NAME_SHARE, room)]
    for width in widths:
        edges.append(edges[-1] + width)
    return edges


def _parts(row: FigureRow, room: Box, scale: float) -> Sequence[RowPart]:
    placed, x = [], room.x
    shown = [part for part in row.parts if part.value]
    total, least = sum(part.value for part in shown), LEAST * len(shown)
    length = max(least, room.width * total / scale)
    for part in shown:
        width = LEAST + (length - least) * part.value / total
        placed.append(RowPart(part, row.name, room._replace(x=x, width=width)))
        x += width
    return placed


def describe(chart: RowChart) -> str:
    """Return a chart in words: the finding, then each group with its rows."""
    sentences = [chart.finding]
    for group in dict.fromkeys(row.group for row in chart.rows):
        rows = [row for row in chart.rows if row.group == group]
        said = "; ".join(f"{row.name}: {', '.join(part.words for part in row.parts if part.words)}" for row in rows)
        sentences.append(f"{group}{' – ' if group else ''}{said}.")
    return " ".join(sentences)
