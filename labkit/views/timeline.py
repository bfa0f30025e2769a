"""Timeline: modes, nodes, lag and the outcomes of operations along time; ``timeline_layout`` says where all stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.lab.measures.state_spans import Span
from labkit.service.arguments import duration_ns
from labkit.service.durations import SECOND_NS, in_seconds
from labkit.views.boxes import Box, width_of
from labkit.views.contents.timeline_contents import (
    Column,
    Records,
    TimelineFact,
    Window,
    contents_of,
    describe,
    facts_of,
)
from labkit.views.layout.chart_words import shortened
from labkit.views.layout.timeline_layout import (
    BAR,
    NAME_GAP,
    NODE,
    OPERATIONS,
    RIGHT,
    STRIPES,
    SWATCH,
    WIDTH,
    Lost,
    TimelineLayout,
    label_of,
    layout,
)
from labkit.views.looks import LOOKS, OTHER, SOLID, patterned
from labkit.views.picture import NORMAL, SMALL, Picture, hatch, line, rectangle, text
from labkit.views.state_words import MODES, STATES, out_of_service

if TYPE_CHECKING:
    from labkit.lab.queries import Queries

STROKES = {
    "fault": ("down", "", 1),
    "undoing": ("faint", "9 4", 1),
    "step": ("ink", "2 4", 1),
    "role": ("primary", "", 1.5),
    "rule": ("down", "", 2.5),
    "note": ("faint", "1 5", 1),
}
NODE_LINES = {
    "active": ("ink", "", 5.0),
    "standby": ("faint", "", 1.5),
    "sealed": ("sealed", "2 4", 3.0),
    "paused": ("faint", "1 6", 3.0),
}
SWATCH_HEIGHT = 11
OUTCOMES = (("answered", "primary"), ("refused", "sealed"), ("in_doubt", "down"))

Instant = str | int | float | None


def window_of(now_ns: int, start: Instant = None, end: Instant = None) -> Window:
    """Return the stretch between two instants (durations since the lab was built); all time by default."""
    start_ns = 0 if start is None else duration_ns("start", start, seconds=True)
    end_ns = max(now_ns, 1) if end is None else min(duration_ns("end", end, seconds=True), max(now_ns, 1))
    if not 0 <= start_ns < end_ns:
        now = f"{in_seconds(now_ns)} s"
        raise ValueError(
            f"a timeline goes from an earlier instant to a later one up to now ({now}), such as start='5s', end='20s'; "
            f"not from {start_ns / SECOND_NS:g} s to {end_ns / SECOND_NS:g} s"
        )
    return Window(start_ns, end_ns)


def of_lab(queries: Queries, start: Instant = None, end: Instant = None) -> Picture:
    """Draw the timeline of a lab up to now, or between two instants."""
    return draw(layout_of_lab(queries, start, end))


def layout_of_lab(queries: Queries, start: Instant = None, end: Instant = None) -> TimelineLayout:
    """Place the timeline of a lab up to now, or between two instants; ValueError where it keeps no trace."""
    parts = queries.parts
    if not parts.trace.enabled:
        raise ValueError("timeline: expected a lab that keeps a trace, got one with trace=False")
    nodes = {plan.name: plan.node_names for plan in parts.blueprint.clusters}
    records = Records(parts.trace, parts.ledger, nodes, queries.lags)
    return layout(contents_of(records, window_of(parts.now, start, end)))


def of(records: tuple[Any, ...], window: Window) -> Picture:
    """Draw the timeline of a stretch of time; ``records`` are the fields of a Records."""
    return draw(layout(contents_of(Records(*records), window)))


def draw(marks: TimelineLayout) -> Picture:
    """Draw a timeline."""
    contents = marks.contents
    elements = [*_draw_axis(marks), *_draw_marks(marks)]
    for row in marks.rows:
        size, down = (SMALL, 13) if row.is_node else (NORMAL, 18)
        colour = "faint" if row.is_node else "ink"
        name = shortened(row.name, size, marks.left - NAME_GAP)
        elements.append(text(marks.left - 10, row.y + down, name, size=size, colour=colour, anchor="end"))
    places = {(row.name, row.is_node): row.y for row in marks.rows}
    for span in contents.nodes:
        elements += _draw_node(marks, span, places[span.row, True])
    for span in contents.spans:
        elements += _draw_bar(marks, span, places[span.row, False])
    for span in contents.lags:
        x = marks.x(span.from_ns)
        box = (x, places[span.row, False] + BAR - STRIPES, marks.x(span.to_ns) - x, STRIPES)
        elements.append(hatch(box, colour="on"))
    for label in marks.lag_labels:
        elements.append(text(label.box.x + 4, label.box.bottom - 4, label.words, size=SMALL, colour="down"))
    for column in contents.columns:
        elements += _draw_column(marks, column)
    for lost in marks.lost:
        elements += _draw_lost(marks, lost)
    for entry in marks.listed:
        elements.append(text(entry.box.x, entry.box.bottom - 5, entry.words, size=SMALL, colour="faint"))
    elements += _draw_legend(marks)
    start, end = (f"{at_ns / SECOND_NS:.1f} s" for at_ns in contents.window)
    span_words = f"up to {end}" if contents.window.start_ns == 0 else f"from {start} to {end}"
    title, rows = f"Timeline of the lab {span_words}", tuple(facts_of(contents))
    return Picture(WIDTH, marks.height, title, describe(contents), tuple(elements), TimelineFact._fields, rows)


def _draw_legend(marks: TimelineLayout) -> list[str]:
    """Write the legend: a tone has its sign before its name."""
    elements = []
    for entry in marks.legend:
        x, y = entry.box.x, entry.box.bottom - 5
        if entry.what:
            elements += patterned(Box(x, y - SWATCH_HEIGHT, SWATCH - 5, SWATCH_HEIGHT), LOOKS[entry.what], entry.words)
            x += SWATCH
        elements.append(text(x, y, entry.words, size=SMALL, colour="faint"))
    return elements


def _draw_axis(marks: TimelineLayout) -> list[str]:
    y = marks.operations_y
    highest, slice_s = _highest(marks), marks.contents.slice_ns / SECOND_NS
    elements = [
        line((marks.left, y, WIDTH - RIGHT, y), colour="ink"),
        text(marks.left - 10, y - OPERATIONS + 16, "operations", anchor="end"),
        text(
            marks.left - 10,
            y - OPERATIONS + 33,
            f"≤ {highest} in {slice_s:g} s" if highest else "none",
            size=SMALL,
            colour="faint",
            anchor="end",
        ),
    ]
    for x, words in marks.ticks:
        elements.append(line((x, y, x, y + 5), colour="ink"))
        elements.append(text(x, y + 32, words, size=SMALL, colour="faint", anchor="middle"))
    return elements


def _draw_marks(marks: TimelineLayout) -> list[str]:
    """Draw a line for each mark from its label, or its number, down to the axis."""
    lines, words = [], []
    for placed in marks.marks:
        colour, dash, width = STROKES[placed.mark.what]
        top = marks.top - 4
        if placed.label is not None:
            top = placed.label.y + 3
            on_the_left = placed.label.x < placed.x
            x, anchor = (placed.x - 4, "end") if on_the_left else (placed.x + 4, "start")
            label = label_of(placed.mark)
            words.append(text(x, placed.label.bottom - 5, label, size=SMALL, colour=colour, anchor=anchor))
        for start, end in marks.falls(placed.x, top):
            lines.append(line((placed.x, start, placed.x, end), colour=colour, dash=dash, width=width))
    for number in marks.numbers:
        words.append(rectangle(number.box.grown(-1), fill="panel", border="ink", rounded=4))
        x, _ = number.box.centre
        words.append(text(x, number.box.bottom - 5, number.words, size=SMALL, anchor="middle"))
    return [*lines, *words]


def _draw_node(marks: TimelineLayout, span: Span, y: float) -> list[str]:
    """Draw what a node was: a thick, thin or dotted line, or none with a cross where it went down."""
    x, to_x, middle = marks.x(span.from_ns), marks.x(span.to_ns), y + NODE / 2
    if span.what == "down":
        return [text(x + 1, middle + 5, "×", size=SMALL, colour="down")]
    colour, dash, width = NODE_LINES[span.what]
    return [line((x, middle, to_x, middle), colour=colour, dash=dash, width=width)]


def _draw_bar(marks: TimelineLayout, span: Span, y: float) -> list[str]:
    x = marks.x(span.from_ns)
    box = Box(x, y, marks.x(span.to_ns) - x, BAR)
    look = LOOKS.get(span.what, OTHER)
    mode, detail = out_of_service(MODES.get(span.what, span.what), STATES.get(span.detail, span.detail))
    words = f"{mode} · {detail}" if detail else mode
    elements = patterned(box, look, f"{span.row}: {words}")
    for shown in (words, mode):
        if box.width > width_of(shown, SMALL) + 8:
            if look.pattern == SOLID:
                return [*elements, text(x + 5, y + 15, shown, size=SMALL, colour="on")]
            ground = rectangle((x + 2, y + 3, width_of(shown, SMALL) + 5, SMALL + 3), fill="paper")
            return [*elements, ground, text(x + 5, y + 15, shown, size=SMALL)]
    return elements


def _draw_column(marks: TimelineLayout, column: Column) -> list[str]:
    """Draw the outcomes of one slice: answered full, refused striped, in doubt hollow."""
    contents = marks.contents
    x = max(marks.left, marks.x(column.from_ns))
    to_x = min(WIDTH - RIGHT, marks.x(column.from_ns + contents.slice_ns))
    y, elements = marks.operations_y, []
    for name, colour in OUTCOMES:
        count = getattr(column, name)
        if not count:
            continue
        height = (OPERATIONS - 4) * count / _highest(marks)
        y -= height
        box = Box(x + 0.5, y, max(1.0, to_x - x - 1), height)
        note = f"{count} {name.replace('_', ' ')} from {column.from_ns / SECOND_NS:g} s"
        hollow = name == "in_doubt"
        elements.append(rectangle(box, fill="paper" if hollow else colour, border=colour, note=note))
        if name == "refused":
            elements.append(hatch(box, colour="on"))
    return elements


def _draw_lost(marks: TimelineLayout, lost: Lost) -> list[str]:
    """Draw a line below the axis from the first to the last lost write, and a dagger with their number."""
    y = marks.operations_y + 4
    x = min(max((lost.x + lost.to_x) / 2, marks.left), WIDTH - RIGHT - 10)
    words = text(x, y + 14, f"† {lost.writes}", size=SMALL, colour="down", anchor="middle")
    return [line((lost.x, y, max(lost.to_x, lost.x + 2), y), colour="down", width=3), words]


def _highest(marks: TimelineLayout) -> int:
    columns = marks.contents.columns
    return max((column.answered + column.refused + column.in_doubt for column in columns), default=0)
