"""Boxes: how much room words take, where lines meet boxes, and which boxes overlap; sizes in pixels of a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import hypot
from typing import NamedTuple
from unicodedata import east_asian_width

# The mean width of a letter, as a part of the font's size, in the widest of the fonts that a page falls back to.
LETTER = 0.61
WIDE_LETTER = 1.05
STEPS = 160
EDGE = 16.0


class Box(NamedTuple):
    """A rectangle: its upper left corner, width and height."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Where it ends on the right."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Where it ends below."""
        return self.y + self.height

    @property
    def centre(self) -> tuple[float, float]:
        """Its middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def grown(self, margin: float) -> Box:
        """Return the box with a margin on every side."""
        return Box(self.x - margin, self.y - margin, self.width + 2 * margin, self.height + 2 * margin)

    def overlaps(self, other: Box) -> bool:
        """Whether the two have more than an edge in common."""
        return self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom

    def holds(self, x: float, y: float) -> bool:
        """Whether a point is in it."""
        return self.x <= x <= self.right and self.y <= y <= self.bottom


class Segment(NamedTuple):
    """A straight line from one point to another."""

    x1: float
    y1: float
    x2: float
    y2: float

    @property
    def length(self) -> float:
        """How long it is."""
        return hypot(self.x2 - self.x1, self.y2 - self.y1)

    def at(self, share: float) -> tuple[float, float]:
        """Return the point at a share of the way, 0 to 1."""
        return self.x1 + (self.x2 - self.x1) * share, self.y1 + (self.y2 - self.y1) * share

    def beside(self, distance: float) -> Segment:
        """Return the line moved sideways, to its left when the distance is negative."""
        length = self.length or 1.0
        dx, dy = -(self.y2 - self.y1) / length * distance, (self.x2 - self.x1) / length * distance
        return Segment(self.x1 + dx, self.y1 + dy, self.x2 + dx, self.y2 + dy)

    def between(self, first: Box, last: Box) -> Segment:
        """Return the part that is outside of the two boxes in which it begins and ends."""
        start = next((step for step in range(STEPS) if not first.holds(*self.at(step / STEPS))), 0)
        end = next((step for step in range(STEPS, start, -1) if not last.holds(*self.at(step / STEPS))), STEPS)
        return Segment(*self.at(start / STEPS), *self.at(end / STEPS))

    def distance(self, x: float, y: float) -> float:
        """Return how far a point is from it."""
        dx, dy = self.x2 - self.x1, self.y2 - self.y1
        share = ((x - self.x1) * dx + (y - self.y1) * dy) / ((dx * dx + dy * dy) or 1.0)
        near_x, near_y = self.at(max(0.0, min(1.0, share)))
        return hypot(x - near_x, y - near_y)

    def crosses(self, box: Box) -> bool:
        """Whether any part of the line is in the box (its edges are cut off one after the other)."""
        low, high = 0.0, 1.0
        dx, dy = self.x2 - self.x1, self.y2 - self.y1
        for step, room in (
            (-dx, self.x1 - box.x),
            (dx, box.right - self.x1),
            (-dy, self.y1 - box.y),
            (dy, box.bottom - self.y1),
        ):
            if step == 0:
                if room < 0:
                    return False
            elif step < 0:
                low = max(low, room / step)
            else:
                high = min(high, room / step)
        return low < high


def width_of(words: str, size: int) -> float:
    """Return how wide words are at most, in a font of this size."""
    return sum(WIDE_LETTER if east_asian_width(letter) in "WF" else LETTER for letter in words) * size


def box_of(words: str, size: int, x: float, y: float) -> Box:
    """Return the box of words whose middle is at a point."""
    width, height = width_of(words, size) + 6, size + 6
    return Box(x - width / 2, y - height / 2, width, height)


def is_free(box: Box, taken: Iterable[Box]) -> bool:
    """Whether a box overlaps none of the others."""
    return not any(box.overlaps(other) for other in taken)


def flow(
    words: Sequence[str], size: int, width: float, top: float, before: Sequence[float] = ()
) -> tuple[list[Box], float]:
    """Return boxes for words from left to right in as many rows as they need, and where the last row ends.

    ``before`` is the room in front of each, for a sign.
    """
    boxes: list[Box] = []
    x, y, height = EDGE, top, size + 6
    for place, text in enumerate(words):
        needs = width_of(text, size) + (before[place] if before else 0.0)
        if x > EDGE and x + needs > width - EDGE:
            x, y = EDGE, y + height
        boxes.append(Box(x, y, needs, height))
        x += needs + 22
    return boxes, y + height if boxes else top
