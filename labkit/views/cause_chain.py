"""Cause chain: what led to an event, as a graph of events at their instants with their sentences, a table, in words."""

from __future__ import annotations

from math import hypot
from typing import TYPE_CHECKING

from labkit.lab.causes.explanation import Explanation
from labkit.service.durations import SECOND_NS, in_seconds
from labkit.views.layout.cause_layout import AXIS_LEFT, AXIS_RIGHT, LINE, WIDTH, WORDS, PlacedCause, layout
from labkit.views.picture import LARGE, SMALL, Picture, arrow_head, circle, line, text

if TYPE_CHECKING:
    from pathlib import Path

    from pandas import DataFrame

COLUMNS = ("step", "at_s", "said", "row")
RADIUS = 11.0
LEGEND = "arrow: led to; double ring: the root, which nothing in the lab led to"


class CauseChain(Explanation):
    """An explanation that can be shown and saved."""

    __slots__ = ()

    @property
    def picture(self) -> Picture:
        """The events at their instants, from the effect down to the root."""
        return draw(self)

    def to_frame(self) -> DataFrame:
        """Return the steps: number, instant in seconds, sentence, and row of the trace, empty for some."""
        return self.picture.to_frame()

    def save(self, path: str | Path) -> None:
        """Write it to a file: ``.svg``, ``.png`` (needs the extra ``png``), ``.html`` with its table, or ``.json``."""
        self.picture.save(path)

    def _repr_html_(self) -> str:
        return f"{self.picture.figure}{super()._repr_html_()}"


def of(explanation: Explanation) -> CauseChain:
    """Return an explanation as one that can be shown."""
    return CauseChain(*explanation)


def draw(chain: Explanation) -> Picture:
    """Draw a chain of causes."""
    marks = layout([(step.at_ns, f"{in_seconds(step.at_ns)} s  {step.sentence}") for step in chain.steps])
    title = f"What led to the event at {in_seconds(chain.steps[0].at_ns)} s"
    elements = [text(16, 26, title, size=LARGE, colour="faint"), text(16, 47, LEGEND, size=SMALL, colour="faint")]
    for effect, cause in zip(marks.causes, marks.causes[1:], strict=False):
        elements += _draw_arrow(cause, effect)
    for placed in marks.causes:
        elements += _draw_event(placed, is_root=placed is marks.causes[-1])
    elements.append(line((AXIS_LEFT - 12, marks.axis_y, AXIS_RIGHT + 12, marks.axis_y), colour="ink"))
    for x, words in marks.ticks:
        elements.append(line((x, marks.axis_y, x, marks.axis_y + 6), colour="ink"))
        elements.append(text(x, marks.axis_y + 21, words, size=SMALL, colour="faint", anchor="middle"))
    rows = tuple(
        [
            (number, step.at_ns / SECOND_NS, step.sentence, "" if step.row is None else step.row)
            for number, step in enumerate(chain.steps, 1)
        ]
    )
    return Picture(WIDTH, marks.height, title, describe(chain), tuple(elements), COLUMNS, rows)


def describe(chain: Explanation) -> str:
    """Return a chain in words: its steps from the effect to the root, and the root."""
    steps = "; ".join(f"{number}. {step}" for number, step in enumerate(chain.steps, 1))
    return f"{steps}; root: {chain.said}."


def _draw_arrow(cause: PlacedCause, effect: PlacedCause) -> list[str]:
    """Draw an arrow from a cause up to what it led to, from ring to ring."""
    length = hypot(effect.x - cause.x, effect.y - cause.y)
    dx, dy = (effect.x - cause.x) / length, (effect.y - cause.y) / length
    end_x, end_y = effect.x - dx * (RADIUS + 2), effect.y - dy * (RADIUS + 2)
    start = (cause.x + dx * RADIUS, cause.y + dy * RADIUS)
    return [
        line((*start, end_x - dx * 8, end_y - dy * 8), colour="ink", width=1.6),
        arrow_head(end_x, end_y, dx, dy, colour="ink"),
    ]


def _draw_event(placed: PlacedCause, *, is_root: bool) -> list[str]:
    elements = [line((placed.x + RADIUS, placed.y, WORDS - 6, placed.y), colour="faint", dash="1 5")]
    elements.append(circle(placed.x, placed.y, RADIUS, fill="paper"))
    if is_root:
        elements.append(circle(placed.x, placed.y, RADIUS - 3, fill="paper"))
    elements.append(text(placed.x, placed.y + 4.5, str(placed.number), size=SMALL, anchor="middle"))
    for number, words in enumerate(placed.lines):
        elements.append(text(WORDS, placed.words_y + 13 + number * LINE, words, size=SMALL))
    return elements
