"""Map layout: where the sites, lines and labels of a map stand, so that no two labels or sites overlap.

1. Up to four sites have fixed places; more stand on an ellipse.  The picture grows until no two sites overlap.
2. A label stands on its line where it is free of sites, other labels and, if possible, other lines; those of faults are
   placed first.  One that finds no room is written in a list below the map.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import cos, pi, sin
from typing import NamedTuple

from labkit.views.boxes import Box, Segment, box_of, flow, is_free, width_of
from labkit.views.contents.map_contents import (
    BOTH_WAYS,
    ROLES,
    ClusterMark,
    FollowMark,
    LineMark,
    MapContents,
    SiteMark,
    clients_in_words,
)
from labkit.views.picture import LARGE, SMALL

LEAST_WIDTH, LEAST_HEIGHT = 668, 380
TITLE_ROOM, GAP, WIDE_GAP = 34, 26, 36
CARD_ROOM, LEAST_CARD = 12, 112
NODE_STEP, ROW = 30, 18
NODE_ROWS = 44
BESIDE = 22
SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.14, 0.86)
ASIDE = (0, -16, 16, -32, 32)
MANY_LINES = 24

# The places of sites, as fractions of the room for them, by the number of sites.
PLACES = {
    1: ((0.5, 0.5),),
    2: ((0.0, 0.5), (1.0, 0.5)),
    3: ((0.0, 0.15), (1.0, 0.15), (0.5, 1.0)),
    4: ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)),
}
LEGEND = ("A active", "s standby", "# sealed", "× down", "arrow: to the secondary", "cross: cut")


class PlacedSite(NamedTuple):
    """A site and the box it is drawn in."""

    site: SiteMark
    box: Box


class PlacedLabel(NamedTuple):
    """Words and the box they are written in; ``fault`` when they say that something is wrong."""

    words: str
    box: Box
    fault: bool


class PlacedLine(NamedTuple):
    """A line between two sites, as far as it is outside of them, and its label, if there is room for it."""

    mark: LineMark
    segment: Segment
    label: PlacedLabel | None


class PlacedFollow(NamedTuple):
    """An arrow from a primary to its secondary, as far as it is outside of their sites, and its label."""

    mark: FollowMark
    segment: Segment
    label: PlacedLabel | None


class MapLayout(NamedTuple):
    """Everything that a map shows, and where; ``listed`` are the words that found no room beside their lines."""

    contents: MapContents
    width: int
    height: int
    sites: tuple[PlacedSite, ...]
    lines: tuple[PlacedLine, ...]
    follows: tuple[PlacedFollow, ...]
    listed: tuple[PlacedLabel, ...]
    legend: tuple[PlacedLabel, ...]


def layout(contents: MapContents) -> MapLayout:
    """Place everything that a map says."""
    boxes, width, height = _place_sites(contents.sites)
    lines = [(mark, _outside(boxes[mark.a], boxes[mark.b])) for mark in contents.lines]
    follows = [(mark, _arrow(boxes, mark, lines)) for mark in contents.follows]
    marks: list[tuple[LineMark | FollowMark, Segment]] = [*lines, *follows]
    found = _label(marks, list(boxes.values()), Box(0, TITLE_ROOM, width, height - TITLE_ROOM))
    missing = [(_full_words(mark), _words(mark)[1]) for mark, _ in marks if mark not in found]
    used = max(box.bottom for box in (*boxes.values(), *(label.box for label in found.values())))
    listed, bottom = _rows(missing, width, used + GAP / 2)
    paused = any(
        node.state == "paused" for site in contents.sites for cluster in site.clusters for node in cluster.nodes
    )
    words = (*LEGEND, "‖ paused") if paused else LEGEND
    legend, bottom = _rows([(each, False) for each in words], width, bottom)
    return MapLayout(
        contents,
        width,
        int(bottom) + 8,
        tuple([PlacedSite(site, boxes[site.name]) for site in contents.sites]),
        tuple([PlacedLine(mark, segment, found.get(mark)) for mark, segment in lines]),
        tuple([PlacedFollow(mark, segment, found.get(mark)) for mark, segment in follows]),
        listed,
        legend,
    )


def role_of(cluster: ClusterMark, site: SiteMark) -> str:
    """Return a cluster's role, with its name where that is not the site's."""
    role = ROLES.get(cluster.mode, cluster.mode)
    return role if cluster.name == site.name else f"{cluster.name}: {role}"


def people_of(site: SiteMark) -> str:
    """Return who lives at a site beside its clusters."""
    words = [clients_in_words(site.clients)] if site.clients else []
    words += [site.cloud] if site.cloud else []
    return " · ".join((*words, *site.balancers)) or ("" if site.clusters else "nobody")


def damage_of(cluster: ClusterMark) -> str:
    """Return what was damaged in a cluster."""
    return f"damaged: {', '.join(cluster.damaged)}" if cluster.damaged else ""


def _size_of(site: SiteMark) -> tuple[float, float]:
    """Return width and height of the box that a site needs."""
    below = [words for words in (people_of(site), site.inside) if words]
    rows = [role_of(cluster, site) for cluster in site.clusters] + below
    rows += [words for words in map(damage_of, site.clusters) if words]
    widths = [width_of(words, SMALL) for words in rows] + [width_of(site.name, LARGE) * 1.1]
    widths += [len(cluster.nodes) * NODE_STEP for cluster in site.clusters]
    height = LARGE + 8 + ROW * len(rows) + NODE_ROWS * len(site.clusters)
    return max(LEAST_CARD, max(widths) + 2 * CARD_ROOM), height + CARD_ROOM


def _place_sites(sites: Sequence[SiteMark]) -> tuple[dict[str, Box], int, int]:
    """Return the boxes of the sites, and the width and height of the picture."""
    boxes, width, height = place_boxes([_size_of(site) for site in sites])
    return {site.name: box for site, box in zip(sites, boxes, strict=True)}, width, height


def place_boxes(sizes: Sequence[tuple[float, float]]) -> tuple[list[Box], int, int]:
    """Return boxes of these sizes, and the width and height of a picture in which no two overlap."""
    widest, highest = max(size[0] for size in sizes), max(size[1] for size in sizes)
    width, height = LEAST_WIDTH, LEAST_HEIGHT
    while True:
        room = Box(widest / 2 + GAP, TITLE_ROOM + highest / 2, 0, 0)
        room = room._replace(width=width - widest - 2 * GAP, height=height - TITLE_ROOM - highest - GAP)
        boxes = [
            Box(room.x + x * room.width - size[0] / 2, room.y + y * room.height - size[1] / 2, *size)
            for (x, y), size in zip(_places(len(sizes)), sizes, strict=True)
        ]
        fits = room.width >= 0 and room.height >= 0
        grown = [box.grown(GAP if len(sizes) in PLACES else WIDE_GAP) for box in boxes]
        if fits and all(is_free(box, boxes[:number]) for number, box in enumerate(grown)):
            return boxes, width, height
        width, height = width + 40, height + 30


def _places(count: int) -> Iterable[tuple[float, float]]:
    if count in PLACES:
        return PLACES[count]
    angles = [2 * pi * number / count - pi / 2 for number in range(count)]
    return [(0.5 + 0.5 * cos(angle), 0.5 + 0.5 * sin(angle)) for angle in angles]


def _outside(first: Box, last: Box) -> Segment:
    return Segment(*first.centre, *last.centre).between(first, last)


def _arrow(boxes: dict[str, Box], mark: FollowMark, lines: Sequence[tuple[LineMark, Segment]]) -> Segment:
    """Place an arrow beside the line between its sites, or on its own way; inside one site along its edge."""
    first, last = boxes[mark.primary_site], boxes[mark.secondary_site]
    if first == last:
        return Segment(first.right, first.y + 18, first.right, first.bottom - 18)
    joined = any({mark.primary_site, mark.secondary_site} == {line.a, line.b} for line, _ in lines)
    return Segment(*first.centre, *last.centre).beside(BESIDE if joined else 0).between(first, last)


def _label(
    marks: Sequence[tuple[LineMark | FollowMark, Segment]], sites: Sequence[Box], page: Box
) -> dict[LineMark | FollowMark, PlacedLabel]:
    """Find room for the labels of lines and arrows; some may find none."""
    found: dict[LineMark | FollowMark, PlacedLabel] = {}
    taken = [box.grown(4) for box in sites]
    for mark, segment in sorted(marks, key=lambda pair: _rank(pair[0])):
        others = [other for _, other in marks if other is not segment] if len(marks) <= MANY_LINES else []
        words, fault = _words(mark)
        box = _find_room(words, segment, taken, others, page)
        if box is not None:
            found[mark] = PlacedLabel(words, box, fault)
            taken.append(box)
    return found


def _words(mark: LineMark | FollowMark) -> tuple[str, bool]:
    """Return the label of a line or arrow, and whether it says that something is wrong."""
    if isinstance(mark, FollowMark):
        return mark.how, not mark.streams
    cut = "" if not mark.cut else " · cut" if mark.cut == BOTH_WAYS else f" · cut to {mark.cut}"
    return mark.label + cut, bool(mark.cut) or "usually" in mark.label or "loses" in mark.label


def _rank(mark: LineMark | FollowMark) -> tuple[bool, bool]:
    """Return by what labels are placed: those of faults, then those of arrows, then the others."""
    return not _words(mark)[1], isinstance(mark, LineMark)


def _full_words(mark: LineMark | FollowMark) -> str:
    if isinstance(mark, FollowMark):
        return f"{mark.primary} → {mark.secondary}: {_words(mark)[0]}"
    return f"{mark.a} – {mark.b}: {_words(mark)[0]}"


def _find_room(words: str, segment: Segment, taken: Sequence[Box], others: Sequence[Segment], page: Box) -> Box | None:
    """Find a place on or beside a line for its label: free of other lines if possible, of boxes in any case."""
    fallback = None
    for aside in ASIDE:
        moved = segment.beside(aside) if aside else segment
        for share in SHARES:
            box = box_of(words, SMALL, *moved.at(share))
            inside = box.x >= page.x and box.right <= page.right and box.y >= page.y and box.bottom <= page.bottom
            if not inside or not is_free(box, taken):
                continue
            if not any(other.crosses(box) for other in others):
                return box
            fallback = fallback or box
    return fallback


def _rows(words: Sequence[tuple[str, bool]], width: int, top: float) -> tuple[tuple[PlacedLabel, ...], float]:
    """Write words in rows; return them and where the last row ends."""
    boxes, bottom = flow([text for text, _ in words], SMALL, width, top)
    return tuple([PlacedLabel(text, box, fault) for (text, fault), box in zip(words, boxes, strict=True)]), bottom
