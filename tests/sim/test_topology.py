"""The topology: routes by latency, ties by name, and never edited."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from itertools import combinations, permutations
from typing import Any

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.sim.latency import Latency
from labkit.sim.topology import MAX_DISTANCES, Link, NoRouteError, Path, Topology, joined, lost_either
from tests.examples import examples

SITES = ("lima", "oslo", "paris", "tokyo")


def link(a: str, b: str, latency_ns: int = 100, **more: Any) -> Link:
    return Link(between=(a, b), latency=Latency.constant(latency_ns), **more)


def test_a_direct_link_is_the_route() -> None:
    line = link("tokyo", "paris", 120, jitter_ns=5, loss_ppm=10, bandwidth_bps=1_000)
    topology = Topology(sites=("paris", "tokyo"), links=(line,))

    assert line.between == ("paris", "tokyo")
    assert topology.route("paris", "tokyo") == Path(
        sites=("paris", "tokyo"),
        latencies=(Latency.constant(120),),
        jitter_ns=5,
        loss_ppm=10,
        bandwidth_bps=1_000,
    )


def test_inside_a_site_it_is_near() -> None:
    assert Topology(sites=("paris",)).route("paris", "paris") == Path(("paris",), (Latency.constant(200_000),))
    near = Topology(sites=("paris",), local=Latency.constant(7))
    assert near.route("paris", "paris").typical_ns == 7


def test_the_fastest_way_wins_and_adds_up() -> None:
    topology = Topology(
        sites=SITES,
        links=(
            link("paris", "tokyo", 300),
            link("paris", "oslo", 100, jitter_ns=3, loss_ppm=100_000, bandwidth_bps=500),
            link("oslo", "tokyo", 150, jitter_ns=4, loss_ppm=500_000),
        ),
    )
    path = topology.route("tokyo", "paris")

    assert path == Path(
        sites=("tokyo", "oslo", "paris"),
        latencies=(Latency.constant(150), Latency.constant(100)),
        jitter_ns=7,
        loss_ppm=550_000,
        bandwidth_bps=500,
    )
    assert path.typical_ns == 250
    assert path.hops == (("tokyo", "oslo"), ("oslo", "paris"))
    assert topology.route("tokyo", "paris") is path


def test_of_equally_fast_routes_the_shortest_wins_then_the_first_by_name() -> None:
    links = (
        link("paris", "tokyo", 200),
        link("paris", "lima", 100),
        link("lima", "tokyo", 100),
        link("paris", "oslo", 100),
        link("oslo", "tokyo", 100),
    )
    for order in permutations(links):
        assert Topology(sites=SITES, links=order).route("paris", "tokyo").sites == ("paris", "tokyo")
        without = Topology(sites=SITES, links=tuple(one for one in order if one.between != ("paris", "tokyo")))
        assert without.route("paris", "tokyo").sites == ("paris", "lima", "tokyo")


def test_topologies_of_the_same_parts_are_equal_and_show_no_more_than_these() -> None:
    one, other = (Topology(sites=("a", "b"), links=(link("a", "b", 10),)) for _ in range(2))
    one.route("a", "b")

    assert one == other
    assert "_graph" not in repr(one)
    assert "_routes" not in repr(one)


def test_a_tie_is_settled_from_the_end_that_comes_first_by_name() -> None:
    """Seen from the other end, the route over d and e would come first."""
    pairs = [("a", "b"), ("b", "e"), ("e", "f"), ("a", "c"), ("c", "d"), ("d", "f")]
    topology = Topology(sites=tuple("abcdef"), links=tuple(link(*pair, 10) for pair in pairs))

    assert topology.route("a", "f").sites == ("a", "b", "e", "f")
    assert topology.route("f", "a").sites == ("f", "e", "b", "a")


LINKS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"), st.integers(0, 3)).filter(
        lambda row: row[0] < row[1]
    ),
    unique_by=lambda row: row[:2],
)


@given(rows=LINKS)
@settings(max_examples=examples(150), deadline=None)
def test_routes_are_the_best_of_all_and_the_same_both_ways(rows: list[tuple[str, str, int]]) -> None:
    topology = Topology(sites=tuple("fedcba"), links=tuple(link(*row) for row in rows))
    weights = weighed(rows)
    for source, target in permutations("abcdef", 2):
        best = min(ways(weights, source, target), default=None)
        if best is None:
            with pytest.raises(NoRouteError, match=f"no links lead from {source} to {target}|from {target} to"):
                topology.route(source, target)
            continue
        path = topology.route(source, target)
        assert (path.typical_ns, len(path.sites)) == best[:2]
        assert path.sites == topology.route(target, source).sites[::-1]
        if source < target:
            assert path.sites == best[2]


def ways(weights: dict[tuple[str, str], int], source: str, target: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """Every way without a circle: how long it takes, how many sites it has, and which."""
    found: list[tuple[int, int, tuple[str, ...]]] = []
    open_ways: list[tuple[int, tuple[str, ...]]] = [(0, (source,))]
    while open_ways:
        passed, sites = open_ways.pop()
        if sites[-1] == target:
            found.append((passed, len(sites), sites))
            continue
        for (a, b), weight in weights.items():
            if a == sites[-1] and b not in sites:
                open_ways.append((passed + weight, (*sites, b)))
    return found


@given(rows=LINKS, closed=st.sets(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=4))
@settings(max_examples=examples(150), deadline=None)
def test_apart_is_whose_route_is_closed(rows: list[tuple[str, str, int]], closed: set[tuple[str, str]]) -> None:
    topology = Topology(sites=tuple("fedcba"), links=tuple(link(*row) for row in rows))
    closed = {pair for pair in closed if pair[0] != pair[1]}
    sites = "fbcae"

    def passes(a: str, b: str) -> bool:
        try:
            hops = topology.route(a, b).hops
        except NoRouteError:
            return False
        return not closed & {*hops, *[hop[::-1] for hop in hops], (a, b), (b, a)}

    assert topology.apart(sites, closed) == {pair for pair in combinations("abcef", 2) if not passes(*pair)}
    assert topology.is_connected == all(ways(weighed(rows), "a", other) for other in "bcdef")


def weighed(rows: list[tuple[str, str, int]]) -> dict[tuple[str, str], int]:
    return {pair: weight for a, b, weight in rows for pair in ((a, b), (b, a))}


def star(count: int) -> Topology:
    """A hub, and sites with a link to it only."""
    links = tuple(link("hub", f"site-{number}", 10) for number in range(count))
    return Topology(sites=("hub", *[f"site-{number}" for number in range(count)]), links=links)


def test_what_many_sites_need_grows_with_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Routes of sites with one link are those of their neighbour, and a cut concerns who is behind it."""
    searches: list[str] = []
    search = networkx.single_source_dijkstra_path_length

    def noted(graph: Any, source: str, **more: Any) -> Any:
        searches.append(source)
        return search(graph, source, **more)

    monkeypatch.setattr(networkx, "single_source_dijkstra_path_length", noted)
    topology = star(40)
    assert all(len(topology.route(f"site-{number}", f"site-{number + 1}").sites) == 3 for number in range(39))
    assert searches == ["hub"]
    assert topology.apart(topology.sites, ()) == set()
    assert len(topology.apart(topology.sites, [("site-7", "hub")])) == 40
    assert searches == ["hub", "site-7"]


def test_distances_are_kept_of_a_limited_number_of_sites() -> None:
    near = [(n, m) for n in range(90) for m in (n + 1, n + 2) if m < 90]
    links = tuple(link(f"s{n:03}", f"s{m:03}", 10) for n, m in near)
    topology = Topology(sites=tuple(f"s{n:03}" for n in range(90)), links=links)
    for number in range(1, 90):
        topology.route("s000", f"s{number:03}")

    assert len(topology._distances) <= MAX_DISTANCES


def test_a_change_makes_another_topology() -> None:
    topology = Topology(sites=SITES, links=(link("paris", "tokyo", 300),))
    before = topology.route("paris", "tokyo")
    faster = topology.with_link(link("tokyo", "paris", 10))
    wider = topology.with_link(link("paris", "oslo"))

    assert faster.route("paris", "tokyo").typical_ns == 10
    assert len(faster.links) == 1
    assert wider.route("oslo", "tokyo").sites == ("oslo", "paris", "tokyo")
    assert topology.route("paris", "tokyo") is before
    with pytest.raises(NoRouteError):
        topology.route("paris", "oslo")
    with pytest.raises(FrozenInstanceError):
        topology.sites = ()  # type: ignore[misc]  # that it is refused is what is tested


def test_the_state_is_plain_and_makes_an_equal_one() -> None:
    topology = Topology(
        sites=SITES,
        links=(link("paris", "tokyo", 300, jitter_ns=1, loss_ppm=2, bandwidth_bps=3), link("oslo", "lima")),
        local=Latency.uniform(1, 2),
    )
    state = pickle.loads(pickle.dumps(topology.state()))

    assert Topology.from_state(state) == topology
    assert Topology.from_state(state).state() == topology.state()
    assert state[1][0] == (("lima", "oslo"), ("constant", 100, 0), 0, 0, None, None)


def test_unknown_sites_are_named_with_the_nearest() -> None:
    topology = Topology(sites=("paris", "tokyo"), links=(link("paris", "tokyo"),))

    with pytest.raises(ValueError, match="no site named toyko; nearest: tokyo"):
        topology.route("paris", "toyko")
    with pytest.raises(ValueError, match="no site named toyko; nearest: tokyo"):
        topology.site("toyko")
    with pytest.raises(ValueError, match="the link paris - toyko: no site named toyko; nearest: tokyo"):
        topology.with_link(link("paris", "toyko"))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: link("paris", "paris"), "between two different sites"),
        (lambda: Link(between=("a", "b"), latency=5), "a link takes a Latency such as"),  # type: ignore[arg-type]  # on purpose
        (lambda: link("a", "b", jitter_ns=-1), "jitter"),
        (lambda: link("a", "b", jitter_ns=0.5), "jitter"),
        (lambda: link("a", "b", loss_ppm=1_000_001), "a link's loss"),
        (lambda: link("a", "b", bandwidth_bps=0), "bandwidth"),
        (lambda: Topology(sites=("a", "a")), "a site is named twice"),
        (lambda: Topology(sites=("a b",)), "a site needs a name"),
        (
            lambda: Topology(sites=("a", "b"), links=(link("a", "b"), link("b", "a"))),
            "two links lie between a and b",
        ),
    ],
)
def test_what_cannot_be_is_refused(make: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=text):
        make()


def test_losses_combine_as_chances_do() -> None:
    assert lost_either(0, 0) == 0
    assert lost_either(0, 123) == 123
    assert lost_either(1_000_000, 5) == 1_000_000
    assert lost_either(500_000, 500_000) == 750_000


def test_the_narrowest_link_sets_the_bandwidth() -> None:
    paths = tuple(
        Path((a, b), (Latency.constant(1),), bandwidth_bps=limit)
        for a, b, limit in [("a", "b", None), ("b", "c", 70), ("c", "d", 50), ("d", "e", None)]
    )

    assert joined(paths).bandwidth_bps == 50
    assert joined(paths[:1]).bandwidth_bps is None
    assert joined(paths).sites == tuple("abcde")


def test_a_link_may_have_another_latency_back_and_keeps_its_directions_when_its_ends_are_sorted():
    slow, fast = Latency.constant(9), Latency.constant(4)
    link = Link(between=("b", "a"), latency=slow, back=fast)
    topology = Topology.from_state(Topology(sites=("a", "b"), links=(link,)).state())

    assert (topology.route("b", "a").typical_ns, topology.route("a", "b").typical_ns) == (9, 4)
    assert link.typical_ns == 6
    assert Link(between=("b", "a"), latency=slow).typical_ns == 9
    wrong: Any = 4
    with pytest.raises(TypeError, match="a link takes a Latency"):
        Link(between=("a", "b"), latency=slow, back=wrong)
