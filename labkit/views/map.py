"""Map: sites, lines, clusters and nodes as they are at this instant; ``map_layout`` says where everything stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.durations import in_seconds
from labkit.views.boxes import Segment
from labkit.views.contents.map_contents import BOTH_WAYS, ClusterMark, contents_of, describe, facts_of
from labkit.views.layout.map_layout import (
    CARD_ROOM,
    CROSS_SHARE,
    LETTERS,
    NODE_ROWS,
    NODE_STEP,
    ROW,
    SWATCH,
    MapLayout,
    PlacedFollow,
    PlacedLabel,
    PlacedLine,
    PlacedSite,
    damage_of,
    layout,
    people_of,
    role_of,
)
from labkit.views.picture import LARGE, SMALL, Picture, arrow_head, circle, cross, line, rectangle, text

if TYPE_CHECKING:
    from labkit.lab.queries import Queries

BORDERS = {"primary": "primary", "secondary": "secondary", "unknown": "down"}
RADIUS, LEGEND_RADIUS = 11, 6
COLUMNS = ("kind", "name", "said")


def of(queries: Queries) -> Picture:
    """Draw the map of a lab as it is now."""
    return draw(layout(contents_of(queries)))


def draw(marks: MapLayout) -> Picture:
    """Draw a map."""
    when = f"{in_seconds(marks.contents.at_ns)} s"
    elements = [text(16, 24, when, size=LARGE, colour="faint")]
    for placed in marks.lines:
        elements += _draw_line(placed)
    for arrow in marks.follows:
        elements += _draw_follow(arrow)
    for site in marks.sites:
        elements += _draw_site(site)
    beside = [placed.label for placed in marks.lines] + [placed.label for placed in marks.follows]
    for label in (*beside, *marks.listed):
        elements += _draw_label(label)
    for label in marks.legend:
        x, y = label.box.x, label.box.bottom - 5
        if label.tone:
            elements.append(circle(x + LEGEND_RADIUS, y - 5, LEGEND_RADIUS, fill=label.tone, note=label.words))
            x += SWATCH
        elements.append(text(x, y, label.words, size=SMALL, colour="faint"))
    said, rows = describe(marks.contents), tuple(facts_of(marks.contents))
    return Picture(marks.width, marks.height, f"Map of the lab at {when}", said, tuple(elements), COLUMNS, rows)


def _draw_label(label: PlacedLabel | None) -> list[str]:
    if label is None:
        return []
    x, y = label.box.centre
    colour = "down" if label.fault else "faint"
    ground = rectangle(label.box.grown(-2), fill="paper")
    return [ground, text(x, y + 5, label.words, size=SMALL, colour=colour, anchor="middle")]


def _draw_line(placed: PlacedLine) -> list[str]:
    """Draw a line; a cut has a cross at both ends, or before the site that messages do not reach."""
    mark, segment = placed.mark, placed.segment
    if not mark.cut:
        return [line(segment, colour="faint", dash="" if mark.direct else "2 5")]
    if mark.cut == BOTH_WAYS:
        return [
            line(segment, colour="down", dash="7 6"),
            *_draw_cross(segment, CROSS_SHARE),
            *_draw_cross(segment, 1 - CROSS_SHARE),
        ]
    to_a = mark.cut == mark.a
    open_way = segment if to_a else Segment(segment.x2, segment.y2, segment.x1, segment.y1)
    return [line(segment, colour="down", dash="14 4"), _head(open_way, "faint"), *_draw_cross(open_way, CROSS_SHARE)]


def _draw_cross(segment: Segment, share: float) -> list[str]:
    return [cross(*segment.at(share), 5, colour="down")]


def _draw_follow(placed: PlacedFollow) -> list[str]:
    """Draw an arrow from a primary to its secondary: solid when it streams, broken when it does not."""
    colour, dash = ("primary", "") if placed.mark.streams else ("down", "3 5")
    return [line(placed.segment, colour=colour, dash=dash, width=2.5), _head(placed.segment, colour)]


def _head(segment: Segment, colour: str) -> str:
    length = segment.length or 1.0
    dx, dy = (segment.x2 - segment.x1) / length, (segment.y2 - segment.y1) / length
    return arrow_head(segment.x2, segment.y2, dx, dy, colour=colour)


def _draw_site(placed: PlacedSite) -> list[str]:
    """Draw a site's box, and in it rows for its name, its clusters, who lives there and what a fault does inside."""
    site, box = placed
    modes = {cluster.mode for cluster in site.clusters}
    border = BORDERS.get(modes.pop(), "faint") if len(modes) == 1 else "faint"
    x, _ = box.centre
    elements = [rectangle(box, fill="panel", border=border, rounded=10, note=site.name)]
    y = box.y + CARD_ROOM + LARGE - 4
    elements.append(text(x, y, site.name, size=LARGE, anchor="middle"))
    y += 2
    for cluster in site.clusters:
        colour = BORDERS.get(cluster.mode, "faint")
        elements.append(text(x, y + ROW - 4, role_of(cluster, site), size=SMALL, colour=colour, anchor="middle"))
        elements += _draw_nodes(cluster, x, y + ROW)
        y += ROW + NODE_ROWS
        if cluster.damaged:
            elements.append(text(x, y + ROW - 6, damage_of(cluster), size=SMALL, colour="down", anchor="middle"))
            y += ROW
    for words, colour in ((people_of(site), "faint"), (site.inside, "down")):
        if words:
            elements.append(text(x, y + ROW - 5, words, size=SMALL, colour=colour, anchor="middle"))
            y += ROW
    return elements


def _draw_nodes(cluster: ClusterMark, middle: float, top: float) -> list[str]:
    """Draw a cluster's nodes in a row: a letter for the state of each, its number below."""
    elements = []
    for number, node in enumerate(cluster.nodes):
        x, y = middle + (number - (len(cluster.nodes) - 1) / 2) * NODE_STEP, top + RADIUS + 3
        fill = {"active": cluster.mode, "standby": "paper", "paused": "paper"}.get(node.state, node.state)
        damaged = node.state == "active" and bool(cluster.damaged)
        note = f"{node.name}: {node.state}{', damaged' if damaged else ''}{node.more and f', {node.more}'}"
        elements.append(circle(x, y, RADIUS, fill=fill, note=note, border="ink"))
        ink = "ink" if fill == "paper" else "on"
        elements.append(text(x, y + 5, LETTERS[node.state], size=SMALL, colour=ink, anchor="middle"))
        short = node.name.removeprefix(f"{cluster.name}-")
        elements.append(text(x, y + RADIUS + 14, short, size=SMALL, colour="faint", anchor="middle"))
    return elements
