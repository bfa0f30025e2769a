"""Site places: where the boxes of sites stand in a map, and the ways between them, which never pass under a box.

1. Up to four sites have fixed places, and a way goes from the middle of one box to that of the other.  The picture
   grows until no way passes under a third box, and until there is something to be seen of each way.
2. More stand around an ellipse, each box outside of it, with a corner or the middle of an edge on it.  A way is a chord
   from one such point to another, so it stays inside.  The picture grows until no two boxes overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from math import cos, hypot, pi, sin
from typing import NamedTuple

from labkit.views.boxes import Box, Segment, is_free

LEAST_WIDTH, LEAST_HEIGHT, USUAL_HEIGHT = 668, 300, 380
"""Up to the usual height a picture only grows higher; width is what a narrow page lacks."""
TITLE_ROOM, GAP, WIDE_GAP = 34, 26, 18
ROOM_PER_SITE = (36.0, 22.0)
GROWTH = 1.06
TURN = 5.0
MIN_WAY = 64.0
STANDOFF = 3.0
BESIDE = 22.0
"""How far an arrow stands beside the line that it goes along."""

# The places of sites, as fractions of the room for them, by the number of sites.
PLACES = {
    1: ((0.5, 0.5),),
    2: ((0.0, 0.5), (1.0, 0.5)),
    3: ((0.0, 0.15), (1.0, 0.15), (0.5, 1.0)),
    4: ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)),
}


class Ellipse(NamedTuple):
    """An ellipse by its middle and half of its width and height, and the angle at which each site stands."""

    x: float
    y: float
    half_width: float
    half_height: float
    angles: tuple[float, ...]

    def point(self, angle: float) -> tuple[float, float]:
        """Return the point at an angle."""
        return self.x + self.half_width * cos(angle), self.y + self.half_height * sin(angle)

    def outward(self, angle: float) -> tuple[float, float]:
        """Return the direction, of length 1, that leads straight out of it at an angle."""
        x, y = cos(angle) / self.half_width, sin(angle) / self.half_height
        length = hypot(x, y)
        return x / length, y / length

    def beside(self, angle: float, distance: float) -> float:
        """Return the angle of a point so far along the ellipse, about, from the one at an angle."""
        return angle + distance / hypot(self.half_width * sin(angle), self.half_height * cos(angle))


class SitePlaces(NamedTuple):
    """The boxes of sites in order, the size of the picture, and the ellipse that they stand around, if they do."""

    boxes: tuple[Box, ...]
    width: int
    height: int
    ellipse: Ellipse | None

    def way(self, first: int, last: int, beside: float = 0) -> Segment:
        """Return the way between two sites, as far as it is outside of them, or one so far beside it."""
        if self.ellipse is None:
            return _way(self.boxes[first], self.boxes[last], beside)
        there, back = self.ellipse.angles[first], self.ellipse.angles[last]
        if beside:
            there, back = self.ellipse.beside(there, beside), self.ellipse.beside(back, -beside)
        return Segment(*self.ellipse.point(there), *self.ellipse.point(back))


def _way(first: Box, last: Box, beside: float = 0) -> Segment:
    """Return the way from the middle of one box to that of another, as far as it is outside of both."""
    return Segment(*first.centre, *last.centre).beside(beside).between(first, last)


def place_sites(sizes: Sequence[tuple[float, float]]) -> SitePlaces:
    """Return where boxes of these sizes stand, so that no two overlap."""
    return _at_fixed_places(sizes) if len(sizes) in PLACES else _around_an_ellipse(sizes)


def _at_fixed_places(sizes: Sequence[tuple[float, float]]) -> SitePlaces:
    widest, highest = max(size[0] for size in sizes), max(size[1] for size in sizes)
    width, height = LEAST_WIDTH, LEAST_HEIGHT
    while True:
        room = Box(widest / 2 + GAP, TITLE_ROOM + highest / 2, 0, 0)
        room = room._replace(width=width - widest - 2 * GAP, height=height - TITLE_ROOM - highest - GAP)
        boxes = [
            Box(room.x + x * room.width - size[0] / 2, room.y + y * room.height - size[1] / 2, *size)
            for (x, y), size in zip(PLACES[len(sizes)], sizes, strict=True)
        ]
        places = SitePlaces(tuple(boxes), width, height, None)
        if room.width < 0 or room.height < 0 or not _are_apart(boxes, GAP) or not _is_clear(places):
            width, height = (width, height + 10) if height < USUAL_HEIGHT else (width + 40, height + 30)
            continue
        short = [pair for pair in combinations(boxes, 2) if _way(*pair).length < MIN_WAY]
        if not short:
            return places
        aside = any(abs(first.centre[1] - last.centre[1]) < 1 for first, last in short)
        width, height = width + 10 * aside, height + 10 * (not aside)


def _around_an_ellipse(sizes: Sequence[tuple[float, float]]) -> SitePlaces:
    angles = tuple([2 * pi * number / len(sizes) - pi / 2 for number in range(len(sizes))])
    half_width, half_height = (len(sizes) * room for room in ROOM_PER_SITE)
    while True:
        ellipse = Ellipse(0, 0, half_width, half_height, angles)
        boxes = [_outside(ellipse, angle, size) for angle, size in zip(angles, sizes, strict=True)]
        if _are_apart(boxes, WIDE_GAP):
            break
        half_width, half_height = half_width * GROWTH, half_height * GROWTH
    left, top = min(box.x for box in boxes) - GAP, min(box.y for box in boxes) - GAP - TITLE_ROOM
    width, height = max(box.right for box in boxes) + GAP - left, max(box.bottom for box in boxes) + GAP - top
    extra = max(0.0, LEAST_WIDTH - width) / 2
    moved = [Box(box.x - left + extra, box.y - top, box.width, box.height) for box in boxes]
    ellipse = ellipse._replace(x=extra - left, y=-top)
    return SitePlaces(tuple(moved), int(width + 2 * extra), int(height), ellipse)


def _outside(ellipse: Ellipse, angle: float, size: tuple[float, float]) -> Box:
    """Return a box outside of an ellipse that touches it, nearly, at an angle."""
    (x, y), (out_x, out_y) = ellipse.point(angle), ellipse.outward(angle)
    width, height = size
    x += width / 2 * max(-1.0, min(1.0, out_x * TURN)) - width / 2
    y += height / 2 * max(-1.0, min(1.0, out_y * TURN)) - height / 2
    corners = [(x + width * right, y + height * down) for right in (0, 1) for down in (0, 1)]
    at_x, at_y = ellipse.point(angle)
    inside = max(0.0, *(-(out_x * (cx - at_x) + out_y * (cy - at_y)) for cx, cy in corners)) + STANDOFF
    return Box(x + out_x * inside, y + out_y * inside, width, height)


def _is_clear(places: SitePlaces) -> bool:
    """Whether no way, nor one beside it, passes under the box of a third site."""
    numbers = range(len(places.boxes))
    ways = [(pair, places.way(*pair, beside)) for pair in permutations(numbers, 2) for beside in (0, BESIDE)]
    return not any(way.crosses(places.boxes[other]) for pair, way in ways for other in numbers if other not in pair)


def _are_apart(boxes: Sequence[Box], gap: float) -> bool:
    return all(is_free(box.grown(gap), boxes[:number]) for number, box in enumerate(boxes))
