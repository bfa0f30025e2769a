"""Timeline: the mode of each cluster and the outcomes of operations along simulated time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from labkit.service.durations import SECOND_NS
from labkit.views.colours import STATES
from labkit.views.picture import SMALL, Picture, line, rectangle, text

if TYPE_CHECKING:
    from labkit.lab.loss_and_outage import RecoveryLedger
    from labkit.trace import LeaderEvent, Trace

WIDTH, LEFT, RIGHT, ROW = 900, 110, 20, 34
LABEL_ROWS = 5
TOP = 14 + 13 * LABEL_ROWS
BEGUN = "begins"
COLUMNS = 120
LEGEND = "operations, from below: answered (blue), refused (amber), unknown (red) · † acknowledged write lost"


Clusters = Mapping[str, tuple[str, ...]]


class Span(NamedTuple):
    """A stretch of time in which a cluster was primary, secondary, disabled or down."""

    row: str
    from_ns: int
    to_ns: int
    what: str
    detail: str


class Column(NamedTuple):
    """The outcomes of operations in one slice of time, and the lost writes that were acknowledged in it."""

    from_ns: int
    answered: int
    refused: int
    unknown: int
    lost: int


class TimelineMark(NamedTuple):
    """Something that happened at an instant: a fault, or a step of an operator."""

    at_ns: int
    what: str
    words: str


class TimelineLayout(NamedTuple):
    """Everything that a timeline shows."""

    end_ns: int
    rows: tuple[str, ...]
    spans: tuple[Span, ...]
    columns: tuple[Column, ...]
    marks: tuple[TimelineMark, ...]


def layout(trace: Trace, ledger: RecoveryLedger, end_ns: int, clusters: Clusters) -> TimelineLayout:
    """Compute what a timeline shows, from trace and ledger only; ``clusters`` gives the nodes of each cluster."""
    end_ns = max(end_ns, 1)
    spans = tuple(span for cluster, nodes in clusters.items() for span in _spans(trace, cluster, nodes, end_ns))
    return TimelineLayout(end_ns, tuple(clusters), spans, _columns(trace, ledger, end_ns), _marks(trace))


def _spans(trace: Trace, cluster: str, nodes: tuple[str, ...], end_ns: int) -> list[Span]:
    """Cut a cluster's time where its mode changed, its nodes crashed, or a node took over."""
    changes = [(0, "disabled", "")]
    changes += [(event.at_ns, event.mode, event.state) for event in trace.select("mode", cluster=cluster)]
    leaders = trace.select("leader", cluster=cluster)
    changes += [(event.at_ns, "", event.node) for event in leaders if event.at_ns]
    changes += _outages(trace, nodes, leaders)
    spans: list[Span] = []
    mode = "disabled"
    ordered = sorted(changes, key=lambda change: change[0])
    for number, (at_ns, what, detail) in enumerate(ordered):
        mode = what if what not in ("", "down") else mode
        until_ns = ordered[number + 1][0] if number + 1 < len(ordered) else end_ns
        if until_ns > at_ns:
            spans.append(Span(cluster, at_ns, until_ns, what or mode, detail))
    return spans


def _outages(trace: Trace, nodes: tuple[str, ...], leaders: list[LeaderEvent]) -> list[tuple[int, str, str]]:
    """Find the instants at which the node that led crashed, and how many nodes of its cluster were down then."""
    faults = [event for event in trace.select("fault") if event.target in nodes]
    crashes: dict[int, None] = {}
    for event in faults:
        led = next((leader.node for leader in reversed(leaders) if leader.at_ns <= event.at_ns), "")
        if event.verb == "crash" and event.target == led:
            crashes[event.at_ns] = None
    found = []
    for at_ns in crashes:
        last_verbs = {event.target: event.verb for event in faults if event.at_ns <= at_ns}
        count = sum(verb == "crash" for verb in last_verbs.values())
        found.append((at_ns, "down", f"{count} node{'s' if count != 1 else ''} down"))
    return found


def _columns(trace: Trace, ledger: RecoveryLedger, end_ns: int) -> tuple[Column, ...]:
    width_ns = max(1, -(-end_ns // COLUMNS))
    counts = [[0, 0, 0, 0] for _ in range(COLUMNS)]
    kinds = {"answered": 0, "refused": 1, "unknown": 2}
    for event in trace.select("outcome"):
        counts[min(event.at_ns // width_ns, COLUMNS - 1)][kinds[event.outcome]] += 1
    for write in ledger.lost():
        counts[min(write.at_ns // width_ns, COLUMNS - 1)][3] += 1
    return tuple(Column(number * width_ns, *count) for number, count in enumerate(counts))


def _marks(trace: Trace) -> tuple[TimelineMark, ...]:
    marks: list[TimelineMark] = []
    seen: set[tuple[int, str]] = set()
    for event in trace.select("fault"):
        words = f"{event.verb} {event.target}".rstrip()
        if event.verb in ("crash", "restart"):
            words = f"{event.verb} {event.target.rpartition('-')[0]}"
        if (event.at_ns, words) not in seen:
            seen.add((event.at_ns, words))
            marks.append(TimelineMark(event.at_ns, "fault", words))
    for step in trace.select("step", status=BEGUN):
        if (step.at_ns, step.text) not in seen:
            marks.append(TimelineMark(step.at_ns, "step", step.text))
    return tuple(sorted(marks))


def of(trace: Trace, ledger: RecoveryLedger, now_ns: int, clusters: Clusters) -> Picture:
    """Draw the timeline up to now."""
    return draw(layout(trace, ledger, now_ns, clusters))


def draw(contents: TimelineLayout) -> Picture:
    """Draw a timeline: a row per cluster, below them the outcomes of operations, and marks for faults and steps."""
    scale = (WIDTH - LEFT - RIGHT) / contents.end_ns
    bottom = TOP + ROW * len(contents.rows)
    elements = [*_axis(contents, scale, bottom + 74)]
    elements += _draw_marks(contents, scale, bottom)
    for number, row in enumerate(contents.rows):
        elements.append(text(LEFT - 10, TOP + ROW * number + 20, row, anchor="end"))
    for span in contents.spans:
        y = TOP + ROW * contents.rows.index(span.row) + 5
        x, width = LEFT + span.from_ns * scale, (span.to_ns - span.from_ns) * scale
        note = f"{span.row}: {span.what} {span.detail}".strip()
        elements.append(
            rectangle((x, y, width, ROW - 12), fill=span.what if span.what in STATES else "faint", note=note)
        )
        words = span.what if span.what != "secondary" or not span.detail else f"{span.what} · {span.detail}"
        if width > 8 * len(words):
            elements.append(text(x + 5, y + 15, words, size=SMALL, colour="on"))
    elements += _draw_columns(contents, scale, bottom)
    title = f"Timeline of the lab up to {contents.end_ns / SECOND_NS:.1f} s"
    return Picture(WIDTH, bottom + 110, title, describe(contents), tuple(elements))


def _axis(contents: TimelineLayout, scale: float, y: float) -> list[str]:
    seconds = contents.end_ns / SECOND_NS
    step = next((step for step in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 3600) if seconds / step <= 12), 0)
    step = step or 3_600 * -(-int(seconds) // (12 * 3_600))
    elements = [line((LEFT, y, WIDTH - RIGHT, y), colour="ink")]
    for number in range(int(seconds // step) + 1):
        x = LEFT + number * step * SECOND_NS * scale
        elements.append(line((x, y, x, y + 5), colour="ink"))
        elements.append(text(x, y + 18, f"{number * step} s", size=SMALL, colour="faint", anchor="middle"))
    return elements


def _draw_columns(contents: TimelineLayout, scale: float, bottom: float) -> list[str]:
    """Draw the outcomes of operations as stacked columns, with a dagger below each that has lost writes."""
    highest = max((column.answered + column.refused + column.unknown for column in contents.columns), default=0) or 1
    width = contents.columns[1].from_ns * scale if len(contents.columns) > 1 else 1
    base = bottom + 62
    elements = [
        text(LEFT - 10, bottom + 42, "operations", anchor="end"),
        text(WIDTH - RIGHT, bottom + 106, LEGEND, size=SMALL, colour="faint", anchor="end"),
    ]
    shades = (("answered", "primary"), ("refused", "sealed"), ("unknown", "down"))
    for column in contents.columns:
        y, x = base, LEFT + column.from_ns * scale
        for name, colour in shades:
            count = getattr(column, name)
            if count:
                height = 48 * count / highest
                y -= height
                note = f"{count} {name} from {column.from_ns / SECOND_NS:.1f} s"
                elements.append(rectangle((x, y, width * 0.86, height), fill=colour, note=note))
        if column.lost:
            elements.append(text(x, base + 11, "†", size=SMALL, colour="down"))
    return elements


def _draw_marks(contents: TimelineLayout, scale: float, bottom: float) -> list[str]:
    """Draw a line per mark, and its words in the first row above that has room for them.

    Words that would cross the right edge are on the left of their line.
    """
    lines, words = [], []
    free_from = [0.0] * LABEL_ROWS
    for mark in contents.marks:
        x = LEFT + mark.at_ns * scale
        colour = "down" if mark.what == "fault" else "ink"
        width = 8 * len(mark.words) + 10
        on_the_left = x + width > WIDTH
        start = x - width if on_the_left else x
        row = next((row for row, free in enumerate(free_from) if start >= free), None)
        top = TOP - 4
        if row is not None:
            free_from[row] = start + width
            top = 14 + 13 * row
            where, anchor = (x - 3, "end") if on_the_left else (x + 3, "start")
            words.append(text(where, top, mark.words, size=SMALL, colour=colour, anchor=anchor))
        lines.append(line((x, top, x, bottom + 62), colour=colour, dash="" if mark.what == "fault" else "3 3"))
    return [*lines, *words]


def describe(contents: TimelineLayout) -> str:
    """Describe in words what a timeline shows."""
    parts = [
        f"from {span.from_ns / SECOND_NS:.1f} s {span.row} is {span.what}{f' ({span.detail})' if span.detail else ''}"
        for span in contents.spans
    ]
    parts += [f"at {mark.at_ns / SECOND_NS:.1f} s {mark.words}" for mark in contents.marks if mark.what == "fault"]
    counts = [
        sum(getattr(column, name) for column in contents.columns) for name in ("answered", "refused", "unknown", "lost")
    ]
    parts.append("operations: {} answered, {} refused, {} unknown; {} acknowledged writes were lost".format(*counts))
    return "; ".join(parts) + "."
