"""Map contents: sites, lines, clusters, nodes and who follows whom as they are at this instant, and all of it in words.

1. It asks and changes nothing; the same lab gives the same contents.
2. A line says what its messages meet now: its latency and loss with the faults on it, and which directions are cut.
3. A secondary follows its upstream; how is said in words, and whether it receives what is written there now.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from labkit.cloud.failures import ENDPOINTS
from labkit.lab.queries import STREAMING
from labkit.service.durations import MILLISECOND_NS, in_seconds
from labkit.sim.topology import NoRouteError, Pair, Path, Topology, lost_either

if TYPE_CHECKING:
    from labkit.lab.hosts.cloud_host import CloudHost
    from labkit.lab.parts import Parts
    from labkit.lab.queries import Queries
    from labkit.sim.network import Network

ROLES = {"disabled": "not replicating", "unknown": "no active node"}
BOTH_WAYS = "both ways"
PERCENT_PPM = 10_000
MAX_NAMED = 2
"""Of the cloud's endpoints in one state: a box is as wide as its words."""


class NodeMark(NamedTuple):
    """One node: its name and its state: active, standby, sealed, paused or down; and what else is to be said."""

    name: str
    state: str
    more: str = ""


class ClusterMark(NamedTuple):
    """One cluster: its name, mode and nodes, and what was damaged in it on purpose."""

    name: str
    mode: str
    nodes: tuple[NodeMark, ...]
    damaged: tuple[str, ...] = ()


class SiteMark(NamedTuple):
    """One site: its name, clusters, how many clients it has, what a fault does inside it, balancers and cloud."""

    name: str
    clusters: tuple[ClusterMark, ...]
    clients: int
    inside: str = ""
    balancers: tuple[str, ...] = ()
    cloud: str = ""


class LineMark(NamedTuple):
    """One line between two sites: what its messages meet, in words, and what is cut.

    ``cut`` is empty, ``both ways``, or the name of the site that messages do not reach.  A line that is not ``direct``
    leads over other sites, and is shown while a fault affects messages between its two ends.
    """

    a: str
    b: str
    label: str
    cut: str
    direct: bool = True


class FollowMark(NamedTuple):
    """A secondary that follows a primary: between which sites and clusters, how in words, and whether it streams."""

    primary: str
    secondary: str
    primary_site: str
    secondary_site: str
    how: str
    streams: bool


class MapContents(NamedTuple):
    """Everything that a map says."""

    at_ns: int
    sites: tuple[SiteMark, ...]
    lines: tuple[LineMark, ...]
    follows: tuple[FollowMark, ...]


def contents_of(queries: Queries) -> MapContents:
    """Return what a map of a lab says, without a request and without a change of the lab."""
    parts = queries.parts
    sites = tuple([_site(queries, name) for name in parts.blueprint.sites])
    return MapContents(parts.now, sites, tuple(_lines(parts.network)), tuple(_follows(queries)))


def _site(queries: Queries, name: str) -> SiteMark:
    blueprint = queries.blueprint
    clusters = tuple(
        [
            ClusterMark(
                plan.name,
                queries.mode_of(plan.name),
                tuple([NodeMark(node, _state_of(queries, node), _more_of(queries, node)) for node in plan.node_names]),
                _damaged(queries.parts, plan.name),
            )
            for plan in blueprint.clusters
            if plan.site == name
        ]
    )
    clients = sum(group.count for group in blueprint.clients if group.site == name)
    topology = queries.parts.network.topology
    local = Path((name,), (topology.local,))
    inside = _conditions(queries.parts.network, (name, name), (local, local))
    balancers = tuple([_balancer(queries.parts, plan.name) for plan in blueprint.balancers if plan.site == name])
    cloud = "".join(_cloud(host) for host in queries.parts.clouds.values() if host.site == name)  # one at most
    return SiteMark(name, clusters, clients, "" if inside == _latency_of(local) else inside, balancers, cloud)


def _cloud(host: CloudHost) -> str:
    """Say which endpoints of the cloud answer nothing, or slowly."""
    words, failures = [], host.cloud.failures
    for how, endpoints in (("down", failures.down), ("slow", failures.delays_ns)):
        named = " and ".join(sorted(endpoints)) if len(endpoints) <= MAX_NAMED else f"{len(endpoints)} endpoints"
        if endpoints:
            words.append(how if len(endpoints) == len(ENDPOINTS) else f"{named} {how}")
    return f"{host.name}: {', '.join(words)}" if words else host.name


def _balancer(parts: Parts, name: str) -> str:
    """Say where a load balancer sends new requests."""
    checks = parts.balancers[name].checks
    return f"{name} → {checks.chosen if checks.serving else 'none in service'}"


def _state_of(queries: Queries, node: str) -> str:
    if not queries.is_running(node):
        return "down"
    if queries.is_paused(node):
        return "paused"
    host = queries.parts.nodes[node]
    return "sealed" if host.vault.sealed else "active" if host.active else "standby"


def _more_of(queries: Queries, node: str) -> str:
    """Say how wrong a node's clock is, how many requests wait for it, and whether an impostor has its place."""
    error_ns, waiting = queries.parts.nodes[node].clock.error_ns, queries.waiting(node)
    clock = f"clock {write_offset(error_ns)}" if error_ns else ""
    queue = f"{waiting} request{'s' if waiting != 1 else ''} waiting" if waiting else ""
    impostor = queries.parts.impostors.get(node)
    taken = "an impostor in its place" if impostor is not None and impostor.present else ""
    return ", ".join(word for word in (clock, queue, taken) if word)


def write_offset(error_ns: int) -> str:
    """Write how far a clock is off: ``90 s ahead``."""
    seconds = f"{in_seconds(abs(error_ns))}".rstrip("0").rstrip(".")
    return f"{seconds} s {'ahead' if error_ns > 0 else 'behind'}"


def _damaged(parts: Parts, cluster: str) -> tuple[str, ...]:
    """Return what was damaged on purpose in a cluster since it was reindexed last, each once."""
    nodes = parts.blueprint.cluster(cluster).node_names
    mended = [event.at_ns for event in parts.trace.select("observed", what="reindexed") if event.node in nodes]
    struck = parts.trace.select("fault", verb="corrupt", target=cluster)
    return tuple(dict.fromkeys(event.detail for event in struck if event.at_ns > max(mended, default=-1)))


def _lines(network: Network) -> Iterable[LineMark]:
    topology = network.topology
    links = [link.between for link in topology.links]
    for a, b in links:
        yield LineMark(
            a, b, _conditions(network, (a, b), (topology.hop(a, b), topology.hop(b, a))), _cut(network, a, b)
        )
    impaired = {tuple(sorted(pair)) for pair in network.impaired()}
    for a, b in sorted(pair for pair in impaired if pair not in links and pair[0] != pair[1]):
        paths = _routes(topology, a, b)
        label = _conditions(network, (a, b), paths) if paths is not None else "no route"
        yield LineMark(a, b, label, _cut(network, a, b), False)


def _routes(topology: Topology, a: str, b: str) -> tuple[Path, Path] | None:
    try:
        return topology.route(a, b), topology.route(b, a)
    except NoRouteError:
        return None


def _cut(network: Network, a: str, b: str) -> str:
    """Return which direction between two sites is cut by a fault."""
    there, back = network.impairment(a, b).closed, network.impairment(b, a).closed
    return BOTH_WAYS if there and back else b if there else a if back else ""


def _conditions(network: Network, pair: Pair, paths: tuple[Path, Path]) -> str:
    """Say in words what messages meet from one site to another, and the other way when that differs."""
    there, back = (_one_way(network, ends, path) for ends, path in zip((pair, pair[::-1]), paths, strict=True))
    if there == back:
        return there
    return f"to {pair[1]}: {there}; to {pair[0]}: {back}"


def _one_way(network: Network, pair: Pair, path: Path) -> str:
    fault = network.impairment(*pair)
    usual = _latency_of(path)
    latencies = path.latencies if fault.latency is None else (fault.latency,)
    now = _latency_of(path._replace(latencies=tuple([latency.times(fault.factor) for latency in latencies])))
    words = [now if now == usual else f"{now}, usually {usual}"]
    loss_ppm = lost_either(path.loss_ppm, fault.loss_ppm)
    if loss_ppm:
        planned = f", usually {path.loss_ppm / PERCENT_PPM:g} %" if fault.loss_ppm else ""
        words.append(f"loses {loss_ppm / PERCENT_PPM:g} %{planned}")
    if fault.twice_ppm:
        words.append(f"datagrams come twice: {fault.twice_ppm / PERCENT_PPM:g} %")
    if path.bandwidth_bps:
        words.append(_bandwidth(path.bandwidth_bps))
    return " · ".join(words)


def _latency_of(path: Path) -> str:
    return f"{path.typical_ns / MILLISECOND_NS:g} ms"


def _bandwidth(bps: int) -> str:
    for name, unit in (("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000)):
        if bps >= unit:
            return f"{bps / unit:g} {name}"
    return f"{bps} bit/s"


def _follows(queries: Queries) -> Iterable[FollowMark]:
    """Return each secondary that has an active node, and the cluster that it follows."""
    for plan in queries.blueprint.clusters:
        upstream = queries.upstream_of(plan.name)
        if upstream and queries.mode_of(plan.name) == "secondary":
            how, streams = _how(queries, upstream, plan.name)
            sites = (queries.site_of(upstream), plan.site)
            yield FollowMark(upstream, plan.name, *sites, how, streams)


def _how(queries: Queries, primary: str, secondary: str) -> tuple[str, bool]:
    """Say how a secondary follows, and whether it receives what is written at its upstream."""
    nodes = queries.parts.nodes
    leader, follower = queries.active_node(primary), queries.active_node(secondary)
    sync = nodes[follower].sync
    if sync is None:
        return "does not follow yet", False
    lag = queries.lag(primary, secondary)
    words = f", {lag.entries:g} entr{'ies' if lag.entries != 1 else 'y'} behind" if 0 < lag.entries < inf else ""
    apart = not queries.parts.network.reachable(queries.site_of(primary), queries.site_of(secondary))
    if apart and not queries.passes(primary, secondary):
        return f"cut off{words}", False
    if not leader or queries.mode_of(primary) != "primary":
        return f"no primary at {primary}", False
    if sync.connection_state != "ready":
        return f"not connected{words}", False
    if sync.state != STREAMING:
        return sync.state, False
    return f"streams{words}", True


def facts_of(contents: MapContents) -> list[tuple[str, str, str]]:
    """Return what a map shows as rows: of what kind, whose name, and a sentence about it."""
    facts = []
    for site in contents.sites:
        facts += [("cluster", cluster.name, _describe_cluster(site, cluster)) for cluster in site.clusters]
        if site.clients:
            facts.append(("site", site.name, f"{site.name} has {clients_in_words(site.clients)}"))
        elif not site.clusters and not site.balancers and not site.cloud:
            facts.append(("site", site.name, f"{site.name} has nobody"))
        facts += [("balancer", site.name, f"load balancer {words} at {site.name}") for words in site.balancers]
        if site.cloud:
            facts.append(("cloud", site.name, f"{site.name} has the {site.cloud}"))
        if site.inside:
            facts.append(("site", site.name, f"inside {site.name}: {site.inside}"))
    for mark in contents.follows:
        verb = "streams to" if mark.streams else "is followed by"
        words = "" if mark.how == "streams" else f" ({mark.how})"
        facts.append(("follows", mark.secondary, f"{mark.primary} {verb} {mark.secondary}{words}"))
    return facts + [("line", f"{mark.a}, {mark.b}", _describe_line(mark)) for mark in contents.lines]


def describe(contents: MapContents) -> str:
    """Describe in words what a map shows."""
    return "; ".join([said for _, _, said in facts_of(contents)]) + "."


def _describe_cluster(site: SiteMark, cluster: ClusterMark) -> str:
    nodes = ", ".join(f"{node.name} {node.state}{f' ({node.more})' if node.more else ''}" for node in cluster.nodes)
    where = "" if cluster.name == site.name else f" at {site.name}"
    role = "has no active node" if cluster.mode == "unknown" else f"is {ROLES.get(cluster.mode, cluster.mode)}"
    damaged = f", damaged: {', '.join(cluster.damaged)}" if cluster.damaged else ""
    return f"{cluster.name}{where} {role}: {nodes}{damaged}"


def _describe_line(mark: LineMark) -> str:
    words = f"{mark.a} and {mark.b} are {mark.label} apart"
    if mark.cut == BOTH_WAYS:
        return f"{words} and cut off from each other"
    if mark.cut:
        return f"{words} and messages to {mark.cut} are cut"
    return words


def clients_in_words(count: int) -> str:
    """Return a number of clients in words."""
    return f"{count} client{'s' if count != 1 else ''}"
