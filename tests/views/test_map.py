"""The map: a pure layout of what is there now, and its drawing."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from labkit import Lab
from labkit.lab.blueprint import Blueprint, ClientPlan, ClusterPlan, LinkPlan, pair
from labkit.views.map import (
    HEIGHT,
    LEGEND,
    LETTERS,
    WIDTH,
    ClusterMark,
    LinkMark,
    MapLayout,
    NodeMark,
    SiteMark,
    describe,
    draw,
    layout,
)

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def streaming():
    """The pair, replicating, with three clients in lisbon."""
    lab = Lab(pair().with_clients(ClientPlan(name="shop", site="lisbon", use=("paris",), count=3)))
    lab.replicate("paris", "tokyo")
    return lab.run("2s").snapshot()


@pytest.fixture
def lab(streaming):
    """The same, to do with as one likes."""
    return Lab.restore(streaming)


def laid_out(lab: Lab) -> MapLayout:
    """The layout of a lab's map."""
    return layout(lab.queries)


def words(marks: MapLayout) -> list[str]:
    """All words of the drawing."""
    return [node.text or "" for node in ElementTree.fromstring(draw(marks).svg).iter(SVG + "text")]


def states(marks: MapLayout) -> dict[str, str]:
    """What each node is."""
    return {node.name: node.state for site in marks.sites for cluster in site.clusters for node in cluster.nodes}


def test_every_site_has_a_place_of_its_own_inside_the_picture(lab):
    places = [(site.x, site.y) for site in laid_out(lab).sites]

    assert [site.name for site in laid_out(lab).sites] == ["paris", "tokyo", "lisbon"]
    assert len(set(places)) == 3
    assert all(60 < x < WIDTH - 60 and 60 < y < HEIGHT - 60 for x, y in places)


def test_nodes_are_active_standby_sealed_or_down(lab):
    lab.crash("paris-1")
    lab.crash("paris-3")
    lab.run("6s").restart("paris-1")

    assert states(laid_out(lab)) == {
        "paris-1": "sealed",
        "paris-2": "active",
        "paris-3": "down",
        "tokyo-1": "active",
        "tokyo-2": "standby",
        "tokyo-3": "standby",
    }


def test_modes_clients_and_streams(lab):
    marks = laid_out(lab)

    assert [[(one.name, one.mode) for one in site.clusters] for site in marks.sites] == [
        [("paris", "primary")],
        [("tokyo", "secondary")],
        [],
    ]
    assert [site.clients for site in marks.sites] == [0, 0, 3]
    assert marks.streams == (("paris", "tokyo"),)
    lab.crash("tokyo")
    assert laid_out(lab).streams == ()
    assert laid_out(lab).sites[1].clusters[0].mode == "unknown"


def test_links_have_their_latency_and_are_cut_when_they_are(lab):
    lab.partition("paris", "tokyo")

    assert laid_out(lab).links == (
        LinkMark("paris", "tokyo", "80 ms", True),
        LinkMark("lisbon", "paris", "15 ms", False),
        LinkMark("lisbon", "tokyo", "90 ms", False),
    )


def test_the_layout_looks_and_does_not_touch(lab):
    before, digest = lab.parts.clock.pending(), lab.trace.digest()

    assert laid_out(lab) == laid_out(lab)
    assert (lab.parts.clock.pending(), lab.trace.digest()) == (before, digest)


def test_nothing_is_shown_by_colour_only(lab):
    lab.partition("paris", "tokyo")
    lab.crash("paris-3")
    lab.crash("tokyo-2")
    lab.restart("tokyo-2")
    shown = words(laid_out(lab))

    assert {LETTERS[name] for name in ("active", "standby", "sealed", "down")} <= set(shown)
    assert {"primary", "secondary", "clients only", "3 clients", "80 ms · cut", LEGEND} <= set(shown)


def test_it_says_in_words_what_it_shows(lab):
    lab.partition("paris", "tokyo")
    lab.crash("tokyo-3")

    assert describe(laid_out(lab)) == (
        "paris is primary: paris-1 active, paris-2 standby, paris-3 standby; "
        "tokyo is secondary: tokyo-1 active, tokyo-2 standby, tokyo-3 down; "
        "lisbon has 3 clients; paris streams to tokyo; the link between paris and tokyo is cut."
    )
    assert lab.map().description == describe(laid_out(lab))


def test_a_cluster_without_an_active_node_is_said_to_be_that(lab):
    lab.crash("tokyo")

    assert "tokyo has no active node: tokyo-1 down" in describe(laid_out(lab))


def test_two_clusters_may_stand_at_one_site_under_their_own_names():
    plans = (ClusterPlan(name="red", site="paris"), ClusterPlan(name="blue", site="paris"))
    marks = laid_out(Lab(replace(pair(), clusters=plans)))

    assert [cluster.name for cluster in marks.sites[0].clusters] == ["red", "blue"]
    assert {"red: not replicating", "blue: not replicating"} <= set(words(marks))
    assert "red at paris is not replicating: red-1 active" in describe(marks)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 9])
def test_any_number_of_sites_finds_room(count):
    names = tuple(f"s{number}" for number in range(count))
    links = tuple(
        LinkPlan(between=(a, b), latency_ns=1_000_000) for number, a in enumerate(names) for b in names[number + 1 :]
    )
    plan = ClusterPlan(name="s0", site="s0", nodes=1)
    marks = laid_out(Lab(Blueprint(sites=names, links=links, clusters=(plan,))))
    places = [(site.x, site.y) for site in marks.sites]

    assert len(set(places)) == count
    assert all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in places)


def test_names_that_look_like_markup_stay_names():
    evil = "<b>&paris</b>"
    node = NodeMark(f"{evil}-1", "active")
    site = SiteMark(evil, 100, 100, (ClusterMark(evil, "primary", (node,)),), 1)
    marks = MapLayout(0, (site,), (LinkMark(evil, evil, "<1 ms", True),), ((evil, evil),))
    root = ElementTree.fromstring(draw(marks).svg)

    assert root.find(f".//{SVG}b") is None
    assert evil in [node.text for node in root.iter(SVG + "text")]
    assert f"{evil}-1: active" in [node.text for node in root.iter(SVG + "title")]
