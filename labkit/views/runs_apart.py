"""Runs apart: two runs from their first difference on, as space-time diagrams on one axis, a table, and in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS, in_seconds
from labkit.trace import Trace
from labkit.views.comparison import Comparison, compare
from labkit.views.layout.space_time_layout import (
    LEFT,
    RADIUS,
    RAISED,
    RIGHT,
    WIDTH,
    PlacedRun,
    RunPart,
    SpaceTimeLayout,
    layout,
)
from labkit.views.picture import LARGE, NORMAL, SMALL, Picture, circle, cross, line, rectangle, text
from labkit.views.trace_lines import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

    from pandas import DataFrame

COLUMNS = ("run", "at_s", "said")
MAX_SHOWN = 24
MAX_WORDS = 74
HERE, THERE = "here", "there"
LEGEND = "slanted line: a message; cross: lost on its way; number: what happened at a host, in words below"


class RunsApart(Comparison):
    """A comparison of two runs that can be shown."""

    __slots__ = ()

    @property
    def picture(self) -> Picture:
        """Both runs from the first difference on."""
        return draw(self)

    def to_frame(self) -> DataFrame:
        """Return what follows in both: run, instant in seconds, and in words."""
        from pandas import DataFrame

        return DataFrame(list(rows_of(self)), columns=list(COLUMNS))

    def save(self, path: str | Path) -> None:
        """Write it to a file: ``.svg``, ``.png`` (needs the extra ``png``), ``.html`` with its table, or ``.json``."""
        self.picture.save(path)

    def _repr_html_(self) -> str:
        return self.picture._repr_html_()


def of(here: Trace, there: Trace) -> RunsApart:
    """Compare two runs."""
    return RunsApart(*compare(here, there))


def rows_of(found: Comparison) -> Iterable[tuple[str, float, str]]:
    """Return what follows in both runs, the first few events of each."""
    for name, events in ((HERE, found.next_here), (THERE, found.next_there)):
        for event in events[:MAX_SHOWN]:
            yield name, event.at_ns / SECOND_NS, TEXTS[event.kind](event)


def describe(found: Comparison) -> str:
    """Return a comparison in words: how much is the same, and what follows in each."""
    said = [f"{name}, {at_s:.3f} s: {words}" for name, at_s, words in rows_of(found)]
    first = found.text.splitlines()[0]
    return f"{first}{'. ' if said else ''}{'; '.join(said)}."


def draw(found: Comparison) -> Picture:
    """Draw two runs, one above the other, on one axis."""
    rows = tuple(rows_of(found))
    if found.at_ns is None:
        return Picture(WIDTH, 40, "Two runs", describe(found), (text(16, 26, found.text),), COLUMNS, rows)
    parts = [_part(HERE, found.next_here), _part(THERE, found.next_there)]
    marks = layout(parts, found.at_ns)
    title = f"Two runs from {in_seconds(found.at_ns)} s on"
    elements = [text(16, 24, title, size=LARGE, colour="faint"), text(16, 46, found.text.splitlines()[0], size=SMALL)]
    for run in marks.runs:
        elements += _draw_run(run, marks)
    elements.append(line((LEFT, marks.axis_y - 12, WIDTH - RIGHT, marks.axis_y - 12), colour="ink"))
    for x, words in marks.ticks:
        elements.append(line((x, marks.axis_y - 12, x, marks.axis_y - 6), colour="ink"))
        elements.append(text(x, marks.axis_y + 8, words, size=SMALL, colour="faint", anchor="middle"))
    left = f"; {marks.left_out} hosts left out" if marks.left_out else ""
    elements.append(text(16, marks.axis_y + 30, f"{LEGEND}{left}", size=SMALL, colour="faint"))
    return Picture(WIDTH, marks.height + 4, title, describe(found), tuple(elements), COLUMNS, rows)


def _part(name: str, events: tuple[Any, ...]) -> RunPart:
    shown = events[:MAX_SHOWN]
    return RunPart(name, shown, tuple([TEXTS[event.kind](event) for event in shown]))


def _draw_run(run: PlacedRun, marks: SpaceTimeLayout) -> list[str]:
    elements = [text(16, run.y + 4, run.name if run.hosts else f"{run.name}: nothing more", size=NORMAL)]
    for name, y in run.hosts:
        elements.append(text(LEFT - 8, y + 5, name, size=SMALL, colour="faint", anchor="end"))
        elements.append(line((LEFT, y, WIDTH - RIGHT, y), colour="faint", width=0.7))
    for message in run.messages:
        elements.append(line(message.ends, colour="primary", dash="4 3" if message.lost else "", width=1.6))
        if message.lost:
            elements.append(cross(*message.ends[2:], 4, colour="down"))
    for words, x, y in run.marks:
        elements.append(line((x, y, x, y + RAISED), colour="ink"))
        elements.append(circle(x, y + RAISED, 2.5, fill="ink"))
        wide = RADIUS + 4 * max(0, len(words) - 2)
        elements.append(
            rectangle((x - wide, y - RADIUS, 2 * wide, 2 * RADIUS), fill="paper", border="ink", rounded=RADIUS)
        )
        elements.append(text(x, y + 4.5, words, size=SMALL, anchor="middle"))
    for words, y in run.listed:
        said = words if len(words) <= MAX_WORDS else f"{words[: MAX_WORDS - 1]}…"
        elements.append(text(LEFT, y, said, size=SMALL, colour="faint"))
    return elements
