"""Row chart: draws a table of which each row ends in a bar; ``row_chart_layout`` says where everything stands."""

from __future__ import annotations

from labkit.views.layout.chart_words import WIDTH
from labkit.views.layout.row_chart_layout import RowChart, describe, layout
from labkit.views.looks import LOOKS, OTHER, patterned, written
from labkit.views.picture import Picture, text


def draw(chart: RowChart) -> Picture:
    """Draw a chart of rows."""
    placed = layout(chart)
    elements = [written(words) for words in placed.words]
    for figure in placed.figures:
        elements.append(text(figure.x, figure.y, figure.words, size=figure.size, colour=figure.colour, anchor="end"))
    for part in placed.parts:
        note = f"{part.row}: {part.part.words}"
        elements += patterned(part.box, LOOKS.get(part.part.what, OTHER), note)
    return Picture(WIDTH, placed.height, chart.title, describe(chart), tuple(elements))
