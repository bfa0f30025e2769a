"""Map layout: where the sites, lines and labels of a map stand, so that no two labels or sites overlap.

1. Sites, and the ways between them, are placed by ``site_places``: no line passes under a box.
2. The legend names the signs and the tones of active nodes that are shown, and no others.
3. A label stands on its line where it is free of sites, other labels and, if possible, other lines; those of faults are
   placed first.  One that finds no room is written in a list below the map.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
from labkit.views.layout.site_places import BESIDE, GAP, TITLE_ROOM, SitePlaces, place_sites
from labkit.views.picture import LARGE, SMALL

CARD_ROOM, LEAST_CARD = 12, 112
NODE_STEP, ROW = 30, 18
NODE_ROWS = 44
SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.14, 0.86)
CROSS_SHARE, CROSS_ROOM = 0.12, 14
"""How far from an end of a cut its cross is, as a share, and how near to an arrow it would seem that one's."""
ASIDE = (0, -16, 16, -32, 32)
MANY_LINES = 24

LETTERS = {"active": "A", "standby": "s", "sealed": "#", "paused": "‖", "down": "d"}
"""What stands in a node, by its state."""

TONES = ("primary", "secondary", "disabled")
"""What an active node is filled with: the mode of its cluster."""
SWATCH = 18.0
"""How wide the sign of a tone is in the legend, with the gap after it."""

ARROW, BROKEN_ARROW = "arrow: streams to the secondary", "broken arrow: does not stream"
CROSS, DOTTED, RED = "cross: cut", "dotted line: over other sites", "red words: a fault, or lag"


class PlacedSite(NamedTuple):
    """A site and the box it is drawn in."""

    site: SiteMark
    box: Box


class PlacedLabel(NamedTuple):
    """Words and the box they are written in; ``fault`` when they say that something is wrong.

    ``tone`` is what an entry of the legend names.
    """

    words: str
    box: Box
    fault: bool
    tone: str = ""


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
    places = place_sites([_size_of(site) for site in contents.sites])
    boxes, width = places.boxes, places.width
    lines, follows = _ways(contents, places)
    marks: list[tuple[LineMark | FollowMark, Segment]] = [*lines, *follows]
    found = _label(marks, boxes, Box(0, TITLE_ROOM, width, places.height - TITLE_ROOM))
    missing = [(_full_words(mark), _words(mark)[1]) for mark, _ in marks if mark not in found]
    used = max(box.bottom for box in (*boxes, *(label.box for label in found.values())))
    listed, bottom = _rows(missing, width, used + GAP / 2)
    legend, bottom = _place_legend(contents, width, bottom)
    return MapLayout(
        contents,
        width,
        int(bottom) + 8,
        tuple([PlacedSite(site, box) for site, box in zip(contents.sites, boxes, strict=True)]),
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


def _ways(
    contents: MapContents, places: SitePlaces
) -> tuple[list[tuple[LineMark, Segment]], list[tuple[FollowMark, Segment]]]:
    """Place the lines, and each arrow beside what is between its sites already; inside one site along its edge.

    An arrow is on the side where it goes over the crosses of fewer cuts: a cross on it would be its own.
    """
    number = {site.name: place for place, site in enumerate(contents.sites)}
    joined = {frozenset((mark.a, mark.b)) for mark in contents.lines}
    lines = [(mark, places.way(number[mark.a], number[mark.b])) for mark in contents.lines]
    crosses = [way.at(share) for mark, way in lines if mark.cut for share in (CROSS_SHARE, 1 - CROSS_SHARE)]
    follows: list[tuple[FollowMark, Segment]] = []
    taken, turned = Counter(joined), dict[frozenset[str], tuple[int, ...]]()
    for mark in contents.follows:
        first, last = number[mark.primary_site], number[mark.secondary_site]
        box, ends = places.boxes[first], frozenset((mark.primary_site, mark.secondary_site))
        beside = BESIDE * ((taken[ends] + 1) // 2) * (1 if taken[ends] % 2 else -1)
        taken[ends] += 1
        if first == last:
            follows.append((mark, Segment(box.right, box.y + 18, box.right, box.bottom - 18)))
            continue
        ways = {side: places.way(first, last, beside * side) for side in turned.get(ends, (1, -1))}
        side = min(ways, key=lambda one: sum(ways[one].distance(*cross) < CROSS_ROOM for cross in crosses))
        turned[ends] = (side,)
        follows.append((mark, ways[side]))
    return lines, follows


def _place_legend(contents: MapContents, width: int, top: float) -> tuple[tuple[PlacedLabel, ...], float]:
    """Write down what the tones and signs mean that are shown; return the entries, and where they end."""
    clusters = [cluster for site in contents.sites for cluster in site.clusters]
    shown = {one.mode for one in clusters if any(node.state == "active" for node in one.nodes)}
    entries = [(ROLES.get(tone, tone), tone) for tone in TONES if tone in shown]
    entries += [(words, "") for words in _signs(contents)]
    signs = [SWATCH if tone else 0 for _, tone in entries]
    boxes, bottom = flow([words for words, _ in entries], SMALL, width, top, signs)
    placed = [PlacedLabel(words, box, False, tone) for (words, tone), box in zip(entries, boxes, strict=True)]
    return tuple(placed), bottom


def _signs(contents: MapContents) -> list[str]:
    """Return what the signs mean that are shown, and no others."""
    states = {node.state for site in contents.sites for cluster in site.clusters for node in cluster.nodes}
    words = [f"{letter} {state}" for state, letter in LETTERS.items() if state in states]
    marks: list[LineMark | FollowMark] = [*contents.lines, *contents.follows]
    shown = (
        (ARROW, any(mark.streams for mark in contents.follows)),
        (BROKEN_ARROW, any(not mark.streams for mark in contents.follows)),
        (CROSS, any(mark.cut for mark in contents.lines)),
        (DOTTED, any(not mark.direct for mark in contents.lines)),
        (RED, any(_words(mark)[1] for mark in marks)),
    )
    return words + [text for text, is_shown in shown if is_shown]


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
    return mark.label + cut, bool(mark.cut) or "usually" in mark.label or "twice" in mark.label


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
