"""Stage: where sites, hosts and lines of a played run stand; it stays the same while the run goes on.

1. A host stands inside the box of its site, and no two at one place; nodes stand in the row of their cluster.  One that
   is alone of its kind, such as an operator, has its name beside it.
2. Clients in great number share the places there are: each still has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from labkit.views.boxes import Box, Segment, box_of, is_free, width_of
from labkit.views.layout.site_places import SitePlaces, place_sites
from labkit.views.picture import LARGE, SMALL
from labkit.views.player.recorded.recorded_hosts import BALANCER, CLIENT, NODE, RecordedHost
from labkit.views.player.recorded.recording import Recording

MARGIN, ROW = 14, 18
NODE_STEP, NODE_ROOM = 40, 46
HOST_STEP, HOST_ROOM = 26, 26
MAX_IN_A_ROW = 8
WIDEST_WORDS = "not replicating"
SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78)
LABEL_ROOM = (30, -30, 0, 44, -44)
MAX_BESIDE = 6
"""How many lines may have their labels beside them, where messages do not pass over the words."""
MAX_JUDGED = 60
"""Of how many lines each label is kept apart from the others' lines."""


class StageCluster(NamedTuple):
    """A cluster: the middle of the line of words that says what it is."""

    name: str
    x: float
    y: float


class StageHost(NamedTuple):
    """A host and its place."""

    host: RecordedHost
    x: float
    y: float


class StageGroup(NamedTuple):
    """The words above hosts that are no nodes, or beside the only one: who they are."""

    words: str
    x: float
    y: float


class StageSite(NamedTuple):
    """A site, its box, and what stands in it."""

    name: str
    box: Box
    clusters: tuple[StageCluster, ...]
    groups: tuple[StageGroup, ...]


class StageLine(NamedTuple):
    """A line between two sites, as far as it is outside of them, and where the middle of its label is."""

    a: str
    b: str
    words: str
    segment: Segment
    x: float
    y: float


class Stage(NamedTuple):
    """Everything that stands still while a run is played, and what of the plane is shown."""

    view: Box
    sites: tuple[StageSite, ...]
    hosts: tuple[StageHost, ...]
    lines: tuple[StageLine, ...]


def stage_of(recording: Recording) -> Stage:
    """Place everything that stands still."""
    at = {name: [host for host in recording.hosts if host.site == name] for name in recording.sites}
    places = place_sites([_size_of(at[name]) for name in recording.sites])
    boxes = places.boxes
    sites, hosts = [], []
    for name, box in zip(recording.sites, boxes, strict=True):
        site, placed = _furnish(name, box, at[name])
        sites.append(site)
        hosts += placed
    links = [*recording.links, *((a, b, "") for a, b in over_others(recording))]
    lines = _lines(recording, links, places)
    labels = [box_of(line.words, SMALL, line.x, line.y) for line in lines]
    return Stage(_view([*boxes, *labels]), tuple(sites), tuple(hosts), tuple(lines))


def over_others(recording: Recording) -> list[tuple[str, str]]:
    """Return the pairs of sites without a line of their own between which messages go, or have a fault."""
    site_of = {host.name: host.site for host in recording.hosts}
    pairs = [(span.a, span.b) for span in recording.lines]
    pairs += [(site_of[one.source], site_of[one.target]) for one in recording.messages]
    joined = {frozenset(link[:2]) for link in recording.links}
    return list(
        {frozenset(pair): pair for pair in pairs if pair[0] != pair[1] and frozenset(pair) not in joined}.values()
    )


def _view(boxes: Sequence[Box]) -> Box:
    """Return what holds all boxes, with a margin."""
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    right, bottom = max(box.right for box in boxes), max(box.bottom for box in boxes)
    return Box(left, top, right - left, bottom - top).grown(MARGIN)


def _rows(hosts: Sequence[RecordedHost]) -> list[tuple[str, list[RecordedHost]]]:
    """Return the rows of a site: its clusters' nodes by the cluster's name, then others by what they are."""
    rows: dict[str, list[RecordedHost]] = {}
    for host in hosts:
        if host.kind == NODE:
            rows.setdefault(f"{NODE} {host.cluster}", []).append(host)
    for host in hosts:
        if host.kind != NODE:
            rows.setdefault(host.kind if host.kind == CLIENT else f"{host.kind} {host.name}", []).append(host)
    return list(rows.items())


def _words_of(key: str, hosts: Sequence[RecordedHost]) -> str:
    """Say who the hosts of a row are that are no nodes."""
    if key == CLIENT:
        return f"{len(hosts)} client{'s' if len(hosts) > 1 else ''}"
    return f"balancer {hosts[0].name}" if hosts[0].kind == BALANCER else hosts[0].name


def _size_of(hosts: Sequence[RecordedHost]) -> tuple[float, float]:
    width, height = width_of("m" * 10, LARGE), LARGE + 2.0 * MARGIN
    for key, row in _rows(hosts):
        if key.startswith(NODE):
            width = max(width, len(row) * NODE_STEP, width_of(f"{row[0].cluster}: {WIDEST_WORDS}", SMALL))
            height += 2 * ROW + NODE_ROOM
        elif key == CLIENT:
            width = max(width, width_of(_words_of(key, row), SMALL), min(len(row), MAX_IN_A_ROW) * HOST_STEP)
            height += ROW + HOST_ROOM
        else:
            width = max(width, width_of(_words_of(key, row), SMALL) + HOST_STEP)
            height += HOST_ROOM
    return width + 2 * MARGIN, height


def _furnish(name: str, box: Box, hosts: Sequence[RecordedHost]) -> tuple[StageSite, list[StageHost]]:
    """Place what is in a site, row by row."""
    middle, y = box.centre[0], box.y + MARGIN + LARGE + 4
    clusters, groups, placed = [], [], []
    for key, row in _rows(hosts):
        if key.startswith(NODE):
            clusters.append(StageCluster(row[0].cluster, middle, y + ROW - 6))
            y += 2 * ROW
            placed += _spread(row, middle, y + NODE_ROOM / 2 - 8, NODE_STEP, len(row))
            y += NODE_ROOM
        elif key == CLIENT:
            groups.append(StageGroup(_words_of(key, row), middle, y + ROW - 6))
            y += ROW
            placed += _spread(row, middle, y + HOST_ROOM / 2 - 4, HOST_STEP, MAX_IN_A_ROW)
            y += HOST_ROOM
        else:
            words, host_y = _words_of(key, row), y + HOST_ROOM / 2 - 4
            groups.append(StageGroup(words, middle + HOST_STEP / 2, host_y + 5))
            placed.append(StageHost(row[0], middle - width_of(words, SMALL) / 2, host_y))
            y += HOST_ROOM
    return StageSite(name, box, tuple(clusters), tuple(groups)), placed


def _spread(hosts: Sequence[RecordedHost], middle: float, y: float, step: float, most: int) -> list[StageHost]:
    """Place hosts side by side; of more than there is room for, several at one place."""
    count = min(len(hosts), most)
    return [StageHost(host, middle + (number % count - (count - 1) / 2) * step, y) for number, host in enumerate(hosts)]


def _lines(recording: Recording, links: Sequence[tuple[str, str, str]], places: SitePlaces) -> list[StageLine]:
    """Place the lines, and their labels where they are free of sites, of one another and of other lines if possible.

    A label has two lines: what is usual, and below it what a fault does; there is room for the longest that is said.
    Of many lines each has its label on it, so that it is plain whose it is.
    """
    sites = recording.sites
    ways = [places.way(sites.index(a), sites.index(b)) for a, b, _ in links]
    taken, found = list(places.boxes), []
    rooms = [LABEL_ROOM] if len(links) <= MAX_BESIDE else [(beside,) for beside in sorted(LABEL_ROOM, key=abs)]
    for (a, b, words), segment in zip(links, ways, strict=True):
        faults = [span.words for span in recording.lines if {span.a, span.b} == {a, b}]
        longest = max((words, *faults), key=len)
        others = [way for way in ways if way is not segment] if len(links) <= MAX_JUDGED else []
        boxes = [
            [
                _label_box(longest, bool(faults), *segment.beside(beside).at(share))
                for beside in room
                for share in SHARES
            ]
            for room in rooms
        ]
        box = next(filter(None, (_best(room, segment, others, taken) for room in boxes)), boxes[0][0])
        taken.append(box)
        found.append(StageLine(a, b, words, segment, box.centre[0], box.y + ROW / 2))
    return found


def _best(boxes: Sequence[Box], own: Segment, others: Sequence[Segment], taken: Sequence[Box]) -> Box | None:
    """Return the first box that is free and plainly that of its line, else the first that is free; None for none."""
    free = [box for box in boxes if is_free(box, taken)]
    return next((box for box in free if not _is_misread(box, own, others)), free[0] if free else None)


def _is_misread(box: Box, own: Segment, others: Sequence[Segment]) -> bool:
    """Whether a label could be taken for that of another line: one goes through it, or is as near as its own."""
    near = own.distance(*box.centre)
    return any(way.crosses(box) or way.distance(*box.centre) <= near for way in others)


def _label_box(words: str, has_faults: bool, x: float, y: float) -> Box:
    """Return the box of a label of one line or two whose middle is at a point."""
    box = box_of(words, SMALL, x, y)
    return Box(box.x, box.y - ROW / 2, box.width, box.height + ROW) if has_faults else box
