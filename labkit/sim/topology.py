"""Where the sites are: a graph of links, and the route that messages take between any two of them.

Rules kept here:

1. A topology never changes: `with_link` makes another, so a snapshot may share it.
2. A route has the lowest mean latency, then the fewest links, then the first names; the way back is the same.
3. Routes are fixed by the topology: when a link of a route is cut, messages do not take another.
4. Nothing is computed for every pair of sites: a route when it is asked for, and of what is cut what lies behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import combinations, pairwise
from typing import Any, NamedTuple, TypeAlias

import networkx

from labkit.sim.host_names import checked, unknown
from labkit.sim.latency import Latency
from labkit.sim.random_streams import MILLION, checked_ppm

Pair: TypeAlias = tuple[str, str]
TopologyState: TypeAlias = tuple[tuple[str, ...], tuple[tuple[Any, ...], ...], tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True)
class Link:
    """A line between two sites, the same in both directions but for the latency where ``back`` is given.

    ``latency`` is that from the first site to the second, ``back`` that of the other direction.
    A uniform delay from 0 to `jitter_ns` is added; `loss_ppm` is the share of messages that must be sent again;
    `bandwidth_bps` (bits per second and direction; None for no limit) makes messages wait for one another.
    """

    between: Pair
    latency: Latency
    jitter_ns: int = 0
    loss_ppm: int = 0
    bandwidth_bps: int | None = None
    back: Latency | None = None

    def __post_init__(self) -> None:
        if len(self.between) != 2 or self.between[0] == self.between[1]:
            raise ValueError(f"a link lies between two different sites, not {self.between!r}")
        for latency in (self.latency, self.latency if self.back is None else self.back):
            if not isinstance(latency, Latency):
                raise TypeError(f"a link takes a Latency such as Latency.constant(ns), not {latency!r}")
        if self.back is not None and self.between[0] > self.between[1]:
            there, back = self.back, self.latency
            object.__setattr__(self, "latency", there)
            object.__setattr__(self, "back", back)
        object.__setattr__(self, "between", tuple(sorted(self.between)))
        if type(self.jitter_ns) is not int or self.jitter_ns < 0:
            raise ValueError(f"a link's jitter is a whole number of ns from 0 up, not {self.jitter_ns!r}")
        checked_ppm("a link's loss", self.loss_ppm)
        if self.bandwidth_bps is not None and (type(self.bandwidth_bps) is not int or self.bandwidth_bps < 1):
            raise ValueError(f"a link's bandwidth is whole bits per second, or None, not {self.bandwidth_bps!r}")

    @property
    def typical_ns(self) -> int:
        """The mean latency of both directions."""
        there_ns = self.latency.typical_ns
        return there_ns if self.back is None else (there_ns + self.back.typical_ns) // 2


class Path(NamedTuple):
    """The path of a message: the sites passed, and all their links combined."""

    sites: tuple[str, ...]
    latencies: tuple[Latency, ...]
    jitter_ns: int = 0
    loss_ppm: int = 0
    bandwidth_bps: int | None = None
    twice_ppm: int = 0

    @property
    def typical_ns(self) -> int:
        """The mean latency without jitter."""
        return sum(latency.typical_ns for latency in self.latencies)

    @property
    def hops(self) -> tuple[Pair, ...]:
        """The directed pairs of neighbouring sites on it."""
        return tuple(pairwise(self.sites))


_LOCAL = Latency.constant(200_000)  # 0.2 ms

MAX_DISTANCES = 64
"""To how many sites the distances of all others are kept."""


class NoRouteError(ValueError):
    """No chain of links connects the two sites."""


@dataclass(frozen=True, kw_only=True)
class Topology:
    """Sites and links.  Inside a site a message takes `local`, without jitter, loss or limit."""

    sites: tuple[str, ...]
    links: tuple[Link, ...] = ()
    local: Latency = _LOCAL
    _graph: networkx.Graph[str] = field(init=False, repr=False, compare=False)
    _routes: dict[Pair, Path] = field(init=False, repr=False, compare=False)
    _distances: dict[str, Mapping[str, float]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sites = tuple([checked("site", site) for site in self.sites])
        if len(set(sites)) != len(sites):
            raise ValueError(f"a site is named twice among {', '.join(sites)}")
        object.__setattr__(self, "sites", sites)
        object.__setattr__(self, "links", tuple(sorted(self.links, key=lambda link: link.between)))
        object.__setattr__(self, "_graph", self._drawn())
        object.__setattr__(self, "_routes", {})
        object.__setattr__(self, "_distances", {})

    @classmethod
    def from_state(cls, state: TopologyState) -> Topology:
        """The topology that gave this state."""
        sites, links, local = state
        return cls(sites=sites, links=tuple(map(_linked, links)), local=Latency(*local))

    def state(self) -> TopologyState:
        """Sites, links and local latency as plain tuples."""
        links = tuple(
            [
                (
                    link.between,
                    tuple(link.latency),
                    link.jitter_ns,
                    link.loss_ppm,
                    link.bandwidth_bps,
                    _plain(link.back),
                )
                for link in self.links
            ]
        )
        return self.sites, links, tuple(self.local)

    def with_link(self, link: Link) -> Topology:
        """Another topology: this one with the link, which replaces one between the same sites."""
        others = tuple([known for known in self.links if known.between != link.between])
        return Topology(sites=self.sites, links=(*others, link), local=self.local)

    @cached_property
    def is_connected(self) -> bool:
        """Whether links lead from every site to every other."""
        return len(self.sites) < 2 or networkx.is_connected(self._graph)

    def site(self, name: str) -> str:
        """The name itself; ValueError with the most similar one for an unknown site."""
        if name not in self._graph:
            raise ValueError(unknown("site", name, self.sites))
        return name

    def route(self, source: str, target: str) -> Path:
        """The path from a site to another; NoRouteError when no links connect them.

        ValueError for a site that does not exist.
        """
        path = self._routes.get((source, target))
        if path is None:
            path = self._routes[source, target] = self._found(self.site(source), self.site(target))
        return path

    def apart(self, sites: Sequence[str], closed: Collection[Pair]) -> set[Pair]:
        """The pairs of these sites that have no route, or one over a pair that is closed; each pair sorted.

        A pair that is closed and has no link is apart itself, and no other pair is because of it.
        """
        if not closed and self.is_connected:
            return set()
        asked, found = set(sites), set[Pair]()
        if not self.is_connected:
            grouped = [sorted(asked & group) for group in networkx.connected_components(self._graph)]
            for first, second in combinations(grouped, 2):
                found |= {(min(a, b), max(a, b)) for a in first for b in second}
        for a, b in closed:
            if a in asked and b in asked:
                found.add((min(a, b), max(a, b)))
            if self._graph.has_edge(a, b):
                found |= self._over((a, b), sites)
        return found

    def hop(self, source: str, target: str) -> Path:
        """The path over the one link between two neighbours."""
        link: Link = self._graph[source][target]["link"]
        latency = link.latency if link.back is None or (source, target) == link.between else link.back
        return Path((source, target), (latency,), link.jitter_ns, link.loss_ppm, link.bandwidth_bps)

    def _drawn(self) -> networkx.Graph[str]:
        graph: networkx.Graph[str] = networkx.Graph()
        graph.add_nodes_from(sorted(self.sites))
        for link in self.links:
            a, b = link.between
            for end in link.between:
                if end not in graph:
                    raise ValueError(f"the link {a} - {b}: {unknown('site', end, self.sites)}")
            if graph.has_edge(a, b):
                raise ValueError(f"two links lie between {a} and {b}; give one")
            # Each link adds one in the lowest bit: of two equally fast routes the one with fewer links wins.
            graph.add_edge(a, b, link=link, weight=(link.typical_ns << _HOP_BITS) + 1)
        return graph

    def _found(self, source: str, target: str) -> Path:
        if source == target:
            return Path((source,), (self.local,))
        back = source > target
        sites = self.route(target, source).sites[::-1] if back else self._shortest(source, target)
        return joined(tuple([self.hop(a, b) for a, b in pairwise(sites)]))

    @cached_property
    def _bridges(self) -> frozenset[Pair]:
        """The links without which more sites have no route to one another; each pair sorted."""
        return frozenset([(min(ends), max(ends)) for ends in networkx.bridges(self._graph)])

    def _over(self, link: Pair, sites: Sequence[str]) -> set[Pair]:
        """Which pairs of these sites have a route over a link; each pair sorted."""
        a, b = min(link), max(link)
        to_a, to_b, weight = self._distances_to(a), self._distances_to(b), self._graph[a][b]["weight"]
        near = [site for site in sites if site in to_a]
        # From one end of such a route the best way to the farther end of the link is over it.
        before = [site for site in near if to_b[site] == to_a[site] + weight]
        behind = [site for site in near if to_a[site] == to_b[site] + weight]
        pairs = {(min(one, other), max(one, other)) for one in before for other in behind}
        if (a, b) in self._bridges:
            return pairs
        return {pair for pair in pairs if {(a, b), (b, a)} & {*self.route(*pair).hops}}

    def _distances_to(self, target: str) -> Mapping[str, float]:
        distances = self._distances.get(target)
        if distances is None:
            if len(self._distances) >= MAX_DISTANCES:
                self._distances.clear()
            distances = networkx.single_source_dijkstra_path_length(self._graph, target, weight="weight")
            self._distances[target] = distances
        return distances

    def _shortest(self, source: str, target: str) -> tuple[str, ...]:
        if self._graph.has_edge(source, target) and 1 in (len(self._graph[source]), len(self._graph[target])):
            return source, target
        # A site with one link has no choice: the way is that of its neighbour, whose distances serve many.
        begin, end = self._neighbour(source), self._neighbour(target)
        left = self._distances_to(end)
        if begin not in left:
            raise NoRouteError(f"no links lead from {source} to {target}; add one with Topology.with_link")
        sites = [source] if begin == source else [source, begin]
        while (here := sites[-1]) != end:
            near = sorted(self._graph[here])
            sites.append(next(s for s in near if left[s] + self._graph[here][s]["weight"] == left[here]))
        return tuple(sites) if end == target else (*sites, target)

    def _neighbour(self, site: str) -> str:
        """The only neighbour of a site, or the site itself where it has another number of them."""
        near = self._graph[site]
        return next(iter(near)) if len(near) == 1 else site


def _linked(row: tuple[Any, ...]) -> Link:
    between, latency, jitter_ns, loss_ppm, bandwidth_bps, back = row
    return Link(
        between=between,
        latency=Latency(*latency),
        jitter_ns=jitter_ns,
        loss_ppm=loss_ppm,
        bandwidth_bps=bandwidth_bps,
        back=None if back is None else Latency(*back),
    )


def _plain(latency: Latency | None) -> tuple[Any, ...] | None:
    return None if latency is None else tuple(latency)


_HOP_BITS = 20  # a route has fewer than a million links


def joined(paths: tuple[Path, ...]) -> Path:
    """Paths one after the other: delays add up, losses combine, the narrowest link sets the bandwidth."""
    return reduce(_extended, paths)


def _extended(path: Path, more: Path) -> Path:
    limits = [limit for limit in (path.bandwidth_bps, more.bandwidth_bps) if limit is not None]
    return Path(
        sites=path.sites + more.sites[1:],
        latencies=path.latencies + more.latencies,
        jitter_ns=path.jitter_ns + more.jitter_ns,
        loss_ppm=lost_either(path.loss_ppm, more.loss_ppm),
        bandwidth_bps=min(limits, default=None),
        twice_ppm=lost_either(path.twice_ppm, more.twice_ppm),
    )


def lost_either(first_ppm: int, second_ppm: int) -> int:
    """The share lost by two independent losses, one after the other."""
    return MILLION - (MILLION - first_ppm) * (MILLION - second_ppm) // MILLION
