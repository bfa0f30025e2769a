"""Map: sites, links, clusters and their nodes as they are at this instant."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from labkit.service.durations import MILLISECOND_NS, SECOND_NS
from labkit.views.picture import COLOURS, FAINT, INK, PAPER, Picture, circle, line, text

if TYPE_CHECKING:
    from labkit.lab.parts import Parts
    from labkit.lab.queries import Queries

WIDTH, HEIGHT, ROW = 720, 420, 50

# The positions of sites, as fractions of width and height, by the number of sites.
PLACES = {
    1: ((0.5, 0.5),),
    2: ((0.22, 0.5), (0.78, 0.5)),
    3: ((0.2, 0.3), (0.8, 0.3), (0.5, 0.8)),
    4: ((0.2, 0.25), (0.8, 0.25), (0.2, 0.8), (0.8, 0.8)),
}

LEGEND = "A active · s standby · # sealed · × down · dashed: cut"
ROLES = {"disabled": "not replicating", "unknown": "no active node"}
LETTERS = {"active": "A", "standby": "s", "sealed": "#", "down": "×"}


class NodeMark(NamedTuple):
    """One node: its name and its state: active, standby, sealed or down."""

    name: str
    state: str


class ClusterMark(NamedTuple):
    """One cluster: its name, mode and nodes."""

    name: str
    mode: str
    nodes: tuple[NodeMark, ...]


class SiteMark(NamedTuple):
    """One site: where it is drawn, its clusters, and how many clients it has."""

    name: str
    x: float
    y: float
    clusters: tuple[ClusterMark, ...]
    clients: int


class LinkMark(NamedTuple):
    """One link: between which sites, its latency in words, and whether it is cut."""

    a: str
    b: str
    label: str
    cut: bool


class MapLayout(NamedTuple):
    """Everything that a map shows."""

    at_ns: int
    sites: tuple[SiteMark, ...]
    links: tuple[LinkMark, ...]
    streams: tuple[tuple[str, str], ...]


def layout(queries: Queries) -> MapLayout:
    """Compute what a map of a lab shows, without a request and without a change of the lab."""
    parts = queries.parts
    names = parts.blueprint.sites
    places = PLACES.get(len(names)) or tuple(
        (0.12 + 0.76 * number / max(1, len(names) - 1), 0.25 if number % 2 else 0.75) for number in range(len(names))
    )
    sites = []
    for name, (x, y) in zip(names, places, strict=True):
        here = (plan for plan in parts.blueprint.clusters if plan.site == name)
        clusters = tuple(
            ClusterMark(
                plan.name,
                queries.mode_of(plan.name),
                tuple(NodeMark(node, _state_of(queries, parts, node)) for node in plan.node_names),
            )
            for plan in here
        )
        clients = sum(group.count for group in parts.blueprint.clients if group.site == name)
        sites.append(SiteMark(name, x * WIDTH, y * HEIGHT, clusters, clients))
    links = tuple(
        LinkMark(*link.between, _latency(link.latency_ns), not parts.network.reachable(*link.between))
        for link in parts.blueprint.links
    )
    return MapLayout(parts.now, tuple(sites), links, tuple(queries.streaming_pairs()))


def _state_of(queries: Queries, parts: Parts, node: str) -> str:
    if not queries.is_running(node):
        return "down"
    host = parts.nodes[node]
    return "sealed" if host.vault.sealed else "active" if host.active else "standby"


def _latency(latency_ns: int) -> str:
    return f"{latency_ns / MILLISECOND_NS:g} ms"


def draw(contents: MapLayout) -> Picture:
    """Draw a map."""
    places = {site.name: site for site in contents.sites}
    elements = [text(16, 24, f"{contents.at_ns / SECOND_NS:.3f} s", size=14, colour=FAINT)]
    for link in contents.links:
        a, b = places[link.a], places[link.b]
        elements.append(
            line(a.x, a.y, b.x, b.y, colour=INK if not link.cut else COLOURS["down"], dash="6 5" * link.cut)
        )
        label = f"{link.label}{' · cut' if link.cut else ''}"
        elements.append(text((a.x + b.x) / 2, (a.y + b.y) / 2 - 6, label, size=11, colour=FAINT, anchor="middle"))
    for site in contents.sites:
        elements += _draw_site(site)
    elements.append(text(WIDTH - 16, HEIGHT - 12, LEGEND, size=11, colour=FAINT, anchor="end"))
    return Picture(
        WIDTH, HEIGHT, f"Map of the lab at {contents.at_ns / SECOND_NS:.3f} s", describe(contents), tuple(elements)
    )


def _draw_site(site: SiteMark) -> list[str]:
    """Draw a site's circle, and in it a row for its name, two for each cluster, one for its clients."""
    colour = COLOURS.get(site.clusters[0].mode, FAINT) if len(site.clusters) == 1 else FAINT
    spare = max(0, len(site.clusters) - 1) * ROW
    elements = [circle(site.x, site.y, 58 + spare // 2, fill="#f5f7fa", border=colour, note=site.name)]
    top = site.y - spare / 2
    elements.append(text(site.x, top - 22, site.name, size=15, anchor="middle"))
    if not site.clusters and site.clients:
        elements.append(text(site.x, top - 7, "clients only", size=11, colour=FAINT, anchor="middle"))
    for number, cluster in enumerate(site.clusters):
        elements += _draw_cluster(cluster, site, top + number * ROW)
    if site.clients:
        words = f"{site.clients} client{'s' if site.clients != 1 else ''}"
        elements.append(text(site.x, site.y + spare / 2 + 46, words, size=11, colour=FAINT, anchor="middle"))
    return elements


def _draw_cluster(cluster: ClusterMark, site: SiteMark, y: float) -> list[str]:
    """Draw a cluster's role, with its name where that is not the site's, and its nodes in a row."""
    role = ROLES.get(cluster.mode, cluster.mode)
    words = role if cluster.name == site.name else f"{cluster.name}: {role}"
    elements = [text(site.x, y - 7, words, size=11, colour=COLOURS.get(cluster.mode, FAINT), anchor="middle")]
    for number, node in enumerate(cluster.nodes):
        x = site.x + (number - (len(cluster.nodes) - 1) / 2) * 30
        fill = COLOURS.get({"active": cluster.mode}.get(node.state, node.state), COLOURS["disabled"])
        elements.append(circle(x, y + 16, 11, fill=fill, note=f"{node.name}: {node.state}"))
        ink = INK if node.state == "standby" else PAPER
        elements.append(text(x, y + 20, LETTERS[node.state], size=12, colour=ink, anchor="middle"))
    return elements


def describe(contents: MapLayout) -> str:
    """Describe in words what a map shows."""
    parts = []
    for site in contents.sites:
        for cluster in site.clusters:
            nodes = ", ".join(f"{node.name} {node.state}" for node in cluster.nodes)
            where = "" if cluster.name == site.name else f" at {site.name}"
            role = "has no active node" if cluster.mode == "unknown" else f"is {ROLES.get(cluster.mode, cluster.mode)}"
            parts.append(f"{cluster.name}{where} {role}: {nodes}")
        if site.clients:
            parts.append(f"{site.name} has {site.clients} client{'s' if site.clients != 1 else ''}")
    parts += [f"{primary} streams to {secondary}" for primary, secondary in contents.streams]
    parts += [f"the link between {link.a} and {link.b} is cut" for link in contents.links if link.cut]
    return "; ".join(parts) + "."
