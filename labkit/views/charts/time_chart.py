"""Time chart: draws a chart over time; ``time_chart_layout`` says where.  Kinds of parts differ by pattern."""

from __future__ import annotations

from labkit.views.boxes import Box, width_of
from labkit.views.layout.chart_words import MARGIN, WIDTH
from labkit.views.layout.time_chart_layout import (
    AXIS,
    PlacedColumn,
    PlacedLimit,
    TimeChart,
    TimeChartLayout,
    describe,
    layout,
)
from labkit.views.looks import LOOKS, OTHER, SOLID, patterned, written
from labkit.views.picture import SMALL, Picture, blocks, line, text

TICK = 5


def draw(chart: TimeChart) -> Picture:
    """Draw a chart over time."""
    placed = layout(chart)
    elements = [written(words) for words in placed.words]  # first: a halo reaches into the columns below its words
    elements += _draw_columns(placed.columns)
    for plot in placed.plots:
        elements.append(line((plot.x, plot.bottom, plot.right, plot.bottom), colour="ink"))
        elements.append(line((plot.x, plot.y, plot.x, plot.bottom), colour="ink"))
    elements += _draw_lines(placed)
    for limit in placed.limits:
        elements += _draw_limit(limit)
    return Picture(WIDTH, placed.height, chart.title, describe(chart), tuple(elements))


def _draw_columns(columns: tuple[PlacedColumn, ...]) -> list[str]:
    """Draw solid columns of one kind as one shape, all others by themselves."""
    elements: list[str] = []
    solid: dict[str, list[Box]] = {}
    for column in columns:
        look = LOOKS.get(column.what, OTHER)
        if look.pattern == SOLID:
            solid.setdefault(look.colour, []).append(column.box)
        else:
            elements += patterned(column.box, look, f"{column.panel}: {column.what}")
    return [*(blocks(boxes, fill=colour) for colour, boxes in solid.items()), *elements]


def _draw_lines(placed: TimeChartLayout) -> list[str]:
    if not placed.plots:
        return []
    bottom = placed.plots[-1].bottom
    marks = [
        line((x, plot.y, x, plot.bottom), colour="faint", dash="3 4") for plot in placed.plots for x in placed.marks
    ]
    return marks + [line((x, bottom, x, bottom + TICK), colour="ink") for x in placed.ticks]


def _draw_limit(limit: PlacedLimit) -> list[str]:
    start = WIDTH - MARGIN - width_of(limit.words, SMALL)
    return [
        line((MARGIN + AXIS, limit.y, WIDTH - MARGIN, limit.y), colour="down", dash="8 4"),
        text(start, limit.y + SMALL, limit.words, size=SMALL, colour="down"),
    ]
