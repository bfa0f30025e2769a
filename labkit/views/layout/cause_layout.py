"""Cause layout: a chain of causes as events at their instants, each in a row of its own with its sentence beside it.

1. Rows go from the effect down to the root, so no event stands on another, however near their instants are.
2. Words are broken into lines that fit beside the axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from textwrap import wrap
from typing import NamedTuple

from labkit.service.durations import MILLISECOND_NS
from labkit.views.boxes import LETTER, width_of
from labkit.views.picture import SMALL
from labkit.views.time_axis import ticks

WIDTH, TOP, MARGIN = 668, 66, 16
AXIS_LEFT, AXIS_RIGHT, WORDS = 30, 210, 236
LINE, GAP, FOOT = 17, 14, 36
MIN_SPAN_NS = 3 * MILLISECOND_NS
"""The shortest axis: at least two marks have room on it, which tell its scale."""
TICK_ROOM = 8


class PlacedCause(NamedTuple):
    """One event of the chain: its number, where it stands, its sentence in lines, and the top of the first of them."""

    number: int
    x: float
    y: float
    lines: tuple[str, ...]
    words_y: float


class CauseLayout(NamedTuple):
    """Everything that a picture of a chain of causes shows."""

    height: int
    ticks: tuple[tuple[float, str], ...]
    axis_y: float
    causes: tuple[PlacedCause, ...]


def layout(steps: Sequence[tuple[int, str]]) -> CauseLayout:
    """Place a chain of causes, given as instants and sentences from the effect to the root; there is one or more."""
    instants = [at_ns for at_ns, _ in steps]
    start_ns, end_ns = min(instants), max(instants)
    if end_ns - start_ns < MIN_SPAN_NS:
        start_ns = max(0, (start_ns + end_ns - MIN_SPAN_NS) // 2)
        end_ns = start_ns + MIN_SPAN_NS

    def x_of(at_ns: int) -> float:
        return AXIS_LEFT + (AXIS_RIGHT - AXIS_LEFT) * (at_ns - start_ns) / (end_ns - start_ns)

    most = int((WIDTH - MARGIN - WORDS) / (SMALL * LETTER))
    placed, y = [], float(TOP)
    for number, (at_ns, sentence) in enumerate(steps, 1):
        lines = tuple(wrap(sentence, most))
        height = len(lines) * LINE
        placed.append(PlacedCause(number, x_of(at_ns), y + height / 2, lines, y))
        y += height + GAP
    marks = [(x_of(at_ns), words) for at_ns, words in ticks(start_ns, end_ns)]
    return CauseLayout(int(y) + FOOT, tuple(_apart(marks)), y + 4, tuple(placed))


def _apart(marks: Sequence[tuple[float, str]]) -> Sequence[tuple[float, str]]:
    """Return every so many of the marks of an axis, so that the words of none stand on the next."""
    widest = max((width_of(words, SMALL) for _, words in marks), default=0.0) + TICK_ROOM
    step = marks[1][0] - marks[0][0] if len(marks) > 1 else widest
    return marks[:: max(1, ceil(widest / step))]
