"""Bar chart: draws a chart of bars; ``bar_chart_layout`` says where.  Each kind of part has a pattern of its own."""

from __future__ import annotations

from labkit.views.layout.bar_chart_layout import BarChart, PlacedPart, describe, layout
from labkit.views.layout.chart_words import WIDTH
from labkit.views.looks import LOOKS, OTHER, SOLID, patterned, written
from labkit.views.picture import SMALL, Picture, text


def draw(chart: BarChart) -> Picture:
    """Draw a chart of bars."""
    placed = layout(chart)
    elements = [written(words) for words in placed.words]
    for part in placed.parts:
        elements += _draw_part(part)
    return Picture(WIDTH, placed.height, chart.title, describe(chart), tuple(elements))


def _draw_part(placed: PlacedPart) -> list[str]:
    look = LOOKS.get(placed.part.what, OTHER)
    elements = patterned(placed.box, look, f"{placed.bar}: {placed.part.words}")
    if placed.inside:
        x, y = placed.box.centre
        colour = "on" if look.pattern == SOLID else "ink"
        elements.append(text(x, y + SMALL / 3, placed.inside, size=SMALL, colour=colour, anchor="middle"))
    return elements
