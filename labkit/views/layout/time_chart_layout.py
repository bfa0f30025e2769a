"""Time chart layout: where panels, columns, marks and their list stand in a chart over time.

1. All panels share one axis from the start to now; each has its own height scale, from zero to its highest column.
2. A panel's words stand beside its name.  A limit is drawn where it is not far above the highest column.
3. A column whose value is not known has the whole height, and a look of its own.
4. Every mark is a line in each panel, with a number above and its words in the list below; no line crosses words.
5. Beside a panel stand its scale's ends: zero, and what its whole height is, with the unit.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from labkit.service.durations import in_seconds
from labkit.views.boxes import Box, flow, width_of
from labkit.views.layout.chart_words import INSIDE, LINE, MARGIN, WIDTH, ChartWords, heading, shortened, wrapped
from labkit.views.picture import NORMAL, SMALL
from labkit.views.time_axis import numbered, ticks

PLOT, GAP, NUMBERS = 56, 12, 20
LEAST_WIDTH, LEAST_HEIGHT = 1.5, 2.0
APART, MAX_MARKS = 48, 60
LIMIT_SHARE = 2.0
NAME_SHARE = 0.4
PREFIXES = ((999.5e6, 1e9, "G"), (999.5e3, 1e6, "M"), (99_999.5, 1e3, "k"))
"""From what value of a scale on in what size, and what stands before the unit then."""
AXIS = 62
"""The room beside the panels for the ends of their scales."""


class TimeColumn(NamedTuple):
    """A stretch of time and what was counted in it: kinds of parts with their values, from below."""

    from_ns: int
    to_ns: int
    parts: tuple[tuple[str, float], ...]


class TimePanel(NamedTuple):
    """One panel: its name, what it shows in words, its columns, and a limit with its name."""

    name: str
    words: str
    columns: tuple[TimeColumn, ...]
    limit: tuple[float, str] | None = None
    unit: str = ""


class TimeChart(NamedTuple):
    """Everything that a chart over time says; a mark is an instant and its words."""

    title: str
    finding: str
    end_ns: int
    panels: tuple[TimePanel, ...]
    marks: tuple[tuple[int, str], ...]


class PlacedColumn(NamedTuple):
    """A part of a column, or of several beside each other that are equal, and where it stands."""

    panel: str
    what: str
    box: Box


class PlacedLimit(NamedTuple):
    """The line of a limit, and its name."""

    words: str
    y: float


class TimeChartLayout(NamedTuple):
    """Everything that a chart over time shows, and where; ``plots`` are the panels' areas."""

    chart: TimeChart
    height: int
    words: tuple[ChartWords, ...]
    plots: tuple[Box, ...]
    columns: tuple[PlacedColumn, ...]
    limits: tuple[PlacedLimit, ...]
    marks: tuple[float, ...]
    ticks: tuple[float, ...]


def layout(chart: TimeChart) -> TimeChartLayout:
    """Place everything that a chart over time says."""
    words, y = heading(chart.title, chart.finding)
    marks = [_x(chart, at_ns) for at_ns, _ in chart.marks] if chart.panels else []
    for x, number in numbered(marks, APART):
        words.append(ChartWords(number, min(x, WIDTH - MARGIN - width_of(number, SMALL)), y + SMALL, SMALL, "ink"))
    y += NUMBERS if marks else 0
    plots, columns, limits = [], [], []
    for panel in chart.panels:
        head, y = _head(panel, y)
        plot = Box(MARGIN + AXIS, y, INSIDE - AXIS, PLOT)
        peak = _peak(panel)
        words += [*head, *_scale(panel, plot, peak)]
        plots.append(plot)
        columns += _columns(chart, panel, plot, peak)
        if panel.limit is not None and panel.limit[0] <= peak:
            limits.append(PlacedLimit(panel.limit[1], plot.bottom - PLOT * panel.limit[0] / peak))
        y = plot.bottom + GAP
    axis = ticks(0, chart.end_ns) if chart.panels and chart.end_ns else []
    words += [ChartWords(label, *_below(chart, at_ns, label, y), SMALL, "faint") for at_ns, label in axis]
    y += LINE if axis else 0
    listed = _listed(chart)
    boxes, y = flow(listed, SMALL, WIDTH, y + 6)
    words += [
        ChartWords(entry, box.x, box.bottom - 5, SMALL, "faint") for entry, box in zip(listed, boxes, strict=True)
    ]
    at = tuple([_x(chart, at_ns) for at_ns, _ in axis])
    placed = (tuple(words), tuple(plots), tuple(columns), tuple(limits))
    return TimeChartLayout(chart, int(y) + GAP, *placed, tuple(marks), at)


def _x(chart: TimeChart, at_ns: int) -> float:
    return MARGIN + AXIS + (INSIDE - AXIS) * at_ns / max(chart.end_ns, 1)


def _scale(panel: TimePanel, plot: Box, peak: float) -> list[ChartWords]:
    """Write both ends of a panel's scale so that they end beside it."""
    found = []
    for value, y in ((peak, plot.y + SMALL - 2), (0.0, plot.bottom)):
        said = shortened(figure(value, panel.unit if value else ""), SMALL, AXIS + MARGIN - 8)
        found.append(ChartWords(said, plot.x - 6 - width_of(said, SMALL), y, SMALL, "faint"))
    return found


def figure(value: float, unit: str) -> str:
    """Return a value of a scale with its unit: in three digits, but whole from 100 up to 99,999."""
    for least, size, prefix in PREFIXES:
        if value >= least:
            return f"{value / size:,.3g} {prefix}{unit}"
    said = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
    return f"{said} {unit}" if unit else said


def _below(chart: TimeChart, at_ns: int, label: str, y: float) -> tuple[float, float]:
    """Return where the label of a tick begins: below the axis, its middle at the tick, within the picture."""
    width = width_of(label, SMALL)
    return min(max(MARGIN, _x(chart, at_ns) - width / 2), WIDTH - MARGIN - width), y + 4


def _head(panel: TimePanel, y: float) -> tuple[list[ChartWords], float]:
    """Write a panel's name and words; return the lines, and where they end."""
    name = shortened(panel.name, NORMAL, INSIDE * NAME_SHARE)
    lines = [ChartWords(name, MARGIN, y + LINE - 4, NORMAL, "ink")]
    used = width_of(name, NORMAL) + 16
    if used + width_of(panel.words, SMALL) <= INSIDE:
        return [*lines, ChartWords(panel.words, MARGIN + used, y + LINE - 4, SMALL, "faint")], y + LINE
    for line in wrapped(panel.words.split(" "), SMALL, INSIDE, " "):
        y += LINE
        lines.append(ChartWords(line, MARGIN, y + LINE - 4, SMALL, "faint"))
    return lines, y + LINE


def _peak(panel: TimePanel) -> float:
    """Return what the whole height of a panel stands for."""
    totals = [sum(value for _, value in column.parts) for column in panel.columns]
    highest = max((total for total in totals if total < inf), default=0)
    if panel.limit is not None and highest < panel.limit[0] <= highest * LIMIT_SHARE:
        return panel.limit[0]
    return highest or 1


def _columns(chart: TimeChart, panel: TimePanel, plot: Box, peak: float) -> list[PlacedColumn]:
    placed: list[PlacedColumn] = []
    for column in panel.columns:
        x, bottom = _x(chart, column.from_ns), plot.bottom
        width = max(LEAST_WIDTH, _x(chart, column.to_ns) - x)
        for what, value in column.parts:
            if not value:
                continue
            height = PLOT if value == inf else max(LEAST_HEIGHT, PLOT * value / peak)
            box = Box(min(x, plot.right - width), bottom - height, width, height)
            bottom -= height
            last = placed[-1] if placed else None
            if last is not None and last.what == what and _continues(last.box, box):
                placed[-1] = last._replace(box=last.box._replace(width=box.right - last.box.x))
            else:
                placed.append(PlacedColumn(panel.name, what, box))
    return placed


def _continues(first: Box, second: Box) -> bool:
    return abs(first.right - second.x) < 0.01 and (first.y, first.height) == (second.y, second.height)


def _listed(chart: TimeChart) -> list[str]:
    if not chart.panels:
        return []
    listed = [mark_words(number, mark) for number, mark in enumerate(chart.marks[:MAX_MARKS], 1)]
    left = len(chart.marks) - MAX_MARKS
    return [*listed, f"and {left} more"] if left > 0 else listed


def mark_words(number: int, mark: tuple[int, str]) -> str:
    """Return the entry of a mark in the list."""
    at_ns, words = mark
    return shortened(f"{number} {in_seconds(at_ns)} s {words}", SMALL, INSIDE)


def describe(chart: TimeChart) -> str:
    """Return a chart in words: the finding, each panel, then the marks."""
    parts = [f"{panel.name}: {panel.words}." for panel in chart.panels]
    if chart.marks and chart.panels:
        parts.append(f"Marks: {'; '.join(_listed(chart))}.")
    return " ".join([chart.finding, *parts])
