"""Cause layout: a chain of causes as events at their instants, each in a row of its own with its sentence beside it.

1. Rows go from the effect down to the root, so no event stands on another, however near their instants are.
2. Words are broken into lines that fit beside the axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import NamedTuple

from labkit.service.durations import MILLISECOND_NS
from labkit.views.boxes import LETTER, width_of
from labkit.views.picture import SMALL
from labkit.views.time_axis import MAX_TICKS, ticks

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
    marks = _marks(start_ns, end_ns, x_of)
    return CauseLayout(int(y) + FOOT, tuple(marks), y + 4, tuple(placed))


def _marks(start_ns: int, end_ns: int, x_of: Callable[[int], float]) -> Sequence[tuple[float, str]]:
    """Return the marks of an axis, at steps that are as round as there is room for."""
    axes = [
        [(x_of(at_ns), words) for at_ns, words in ticks(start_ns, end_ns, most)] for most in range(MAX_TICKS, 0, -1)
    ]
    thinned = (axis[::every] for every in range(1, len(axes[0]) + 1) for axis in axes)
    return next((axis for axis in thinned if len(axis) > 1 and _are_apart(axis)), axes[0][:1])


def _are_apart(marks: Sequence[tuple[float, str]]) -> bool:
    """Whether the words of no mark of an axis stand on the next."""
    return all(
        second - first >= (width_of(words, SMALL) + width_of(next_words, SMALL)) / 2 + TICK_ROOM
        for (first, words), (second, next_words) in pairwise(marks)
    )
