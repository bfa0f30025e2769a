"""The map's drawing: well-formed, in words too, and nothing by colour only."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import ClientPlan, pair
from labkit.views.contents.map_contents import (
    BOTH_WAYS,
    ClusterMark,
    FollowMark,
    LineMark,
    MapContents,
    NodeMark,
    SiteMark,
    contents_of,
    describe,
)
from labkit.views.layout.map_layout import BROKEN_ARROW, CROSS, LETTERS, RED, layout
from labkit.views.map import draw

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


def root_of(lab: Lab) -> ElementTree.Element:
    """The drawing of a lab's map."""
    return ElementTree.fromstring(lab.map().svg)


def words(root: ElementTree.Element) -> set[str]:
    """All words of a drawing."""
    return {node.text or "" for node in root.iter(SVG + "text")}


def test_nothing_is_shown_by_colour_only(lab):
    lab.partition("paris", "tokyo")
    lab.cut("lisbon", "paris")
    lab.slow("lisbon", "tokyo", factor=2)
    lab.crash("paris-3")
    lab.crash("tokyo-2")
    lab.restart("tokyo-2")
    assert "‖ paused" not in words(root_of(lab))
    lab.pause("paris-2")
    lab.corrupt("tokyo")
    shown = words(root_of(lab))

    assert set(LETTERS.values()) | {"‖ paused"} <= shown
    assert {"primary", "secondary", "3 clients", "cut off", BROKEN_ARROW, CROSS, RED} <= shown
    assert {"80 ms · cut", "15 ms · cut to paris", "180 ms, usually 90 ms"} <= shown
    assert [one for one in shown if one.startswith("damaged: subpage")]


def test_a_stream_is_an_arrow_solid_only_while_it_streams(lab):
    streams = root_of(lab)
    lab.partition("paris", "tokyo")
    cut = root_of(lab)

    assert [node.attrib["class"] for node in streams.iter(SVG + "polygon")] == ["fill-primary"]
    (arrow,) = [node for node in streams.iter(SVG + "line") if node.attrib["stroke-width"] == "2.5"]
    assert "stroke-dasharray" not in arrow.attrib
    (arrow,) = [node for node in cut.iter(SVG + "line") if node.attrib["stroke-width"] == "2.5"]
    assert "stroke-dasharray" in arrow.attrib


def test_a_partition_has_two_crosses_and_a_one_way_cut_one(lab):
    def crosses() -> int:
        return len([node for node in root_of(lab).iter(SVG + "path") if node.attrib["class"] == "line-down"])

    assert crosses() == 0
    lab.cut("paris", "lisbon")
    assert crosses() == 1
    lab.partition("paris", "lisbon")
    assert crosses() == 2


def test_nodes_have_their_number_below_and_their_name_for_the_pointer(lab):
    root = root_of(lab)

    assert {"1", "2", "3"} <= words(root)
    assert "paris-2: standby" in {node.text for node in root.iter(SVG + "title")}


def test_the_smallest_text_is_not_small(lab):
    assert min(int(node.attrib["font-size"]) for node in root_of(lab).iter(SVG + "text")) >= 12


def test_title_and_description(lab):
    assert lab.map().title == f"Map of the lab at {lab.now / 1e9:.3f} s"
    assert lab.map().description == describe(contents_of(lab.queries))


def test_names_that_look_like_markup_stay_names():
    evil = "<b>&paris</b>"
    cluster = ClusterMark(evil, "primary", (NodeMark(f"{evil}-1", "active"),), (evil,))
    lines = (LineMark(evil, "x", "<1 ms", BOTH_WAYS, direct=False), LineMark("x", evil, "1 ms", evil))
    follows = (FollowMark(evil, evil, evil, evil, evil, False),)
    contents = MapContents(0, (SiteMark(evil, (cluster,), 1, evil), SiteMark("x", (), 0)), lines, follows)
    root = ElementTree.fromstring(draw(layout(contents)).svg)

    assert root.find(f".//{SVG}b") is None
    assert evil in words(root)
    assert f"{evil}-1: active, damaged" in [node.text for node in root.iter(SVG + "title")]


def test_the_drawing_is_the_one_that_is_kept(full_map, kept):
    kept("map.svg", "\n".join(draw(layout(full_map)).elements))
