"""Where things stand on a map: whatever there is, no two labels or sites overlap, and nothing leaves the picture."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.views.boxes import Box, Segment
from labkit.views.contents.map_contents import (
    BOTH_WAYS,
    ClusterMark,
    FollowMark,
    LineMark,
    MapContents,
    NodeMark,
    SiteMark,
)
from labkit.views.layout.map_layout import CROSS_ROOM, CROSS_SHARE, MapLayout, PlacedLabel, layout, people_of
from tests.examples import examples

CUTS = st.sampled_from(["", "", "", BOTH_WAYS, "there"])
LABELS = ["15 ms", "80 ms", "250 ms, usually 80 ms", "90 ms · loses 2.5 % · 10 Mbit/s", "80 ms, usually 0.2 ms"]


def site(name: str, clusters: int = 1, nodes: int = 3, clients: int = 0, damaged: tuple[str, ...] = ()) -> SiteMark:
    """A site with clusters named for it."""
    marks = tuple(
        ClusterMark(f"{name}-{one}", "primary", tuple(NodeMark(f"n-{n}", "active") for n in range(nodes)), damaged)
        for one in range(clusters)
    )
    return SiteMark(name, marks, clients)


def mesh(count: int, label: str = "80 ms") -> MapContents:
    """So many sites with a cluster each, all joined, the first followed by the second."""
    sites = tuple(site(f"site-{number}") for number in range(count))
    lines = tuple(LineMark(a.name, b.name, label, "") for a, b in combinations(sites, 2))
    follows = (FollowMark("site-0-0", "site-1-0", "site-0", "site-1", "streams", True),) if count > 1 else ()
    return MapContents(0, sites, lines, follows)


def beside(marks: MapLayout) -> list[tuple[Segment, PlacedLabel | None]]:
    """Every line and arrow with its label."""
    lines = [(placed.segment, placed.label) for placed in marks.lines]
    return lines + [(placed.segment, placed.label) for placed in marks.follows]


def boxes(marks: MapLayout) -> list[tuple[str, Box]]:
    """Everything that takes room: sites, labels, the list below and the legend."""
    labels = [label for _, label in beside(marks) if label is not None]
    found = [(placed.site.name, placed.box) for placed in marks.sites]
    return found + [(label.words, label.box) for label in (*labels, *marks.listed, *marks.legend)]


def overlapping(marks: MapLayout) -> list[tuple[str, str]]:
    """Pairs of things that overlap."""
    return [(a, b) for (a, first), (b, second) in combinations(boxes(marks), 2) if first.overlaps(second)]


def outside(marks: MapLayout) -> list[str]:
    """Things that are not wholly in the picture."""
    page = Box(0, 0, marks.width, marks.height)
    return [
        words for words, box in boxes(marks) if not (page.holds(box.x, box.y) and page.holds(box.right, box.bottom))
    ]


@pytest.mark.parametrize("count", range(1, 13))
@pytest.mark.parametrize("label", ["80 ms", LABELS[2]])
def test_from_one_site_to_twelve_nothing_overlaps_and_nothing_is_left_out(count, label):
    marks = layout(mesh(count, label))
    shown = [label for _, label in beside(marks)]

    assert overlapping(marks) == []
    assert outside(marks) == []
    assert len(marks.sites) == count
    assert len([one for one in shown if one is not None]) + len(marks.listed) == len(shown)


@pytest.mark.parametrize("count", range(2, 8))
def test_up_to_seven_sites_every_label_stands_on_its_line(count):
    marks = layout(mesh(count))

    assert marks.listed == ()
    for segment, label in beside(marks):
        assert label is not None
        assert segment.crosses(label.box.grown(34))


@settings(deadline=None, max_examples=examples(60))
@given(st.data())
def test_whatever_there_is_nothing_overlaps(data):
    names = data.draw(st.lists(st.text("abcdefgh-", min_size=1, max_size=18), min_size=1, max_size=8, unique=True))
    sites = tuple(
        site(
            name,
            data.draw(st.integers(0, 2)),
            data.draw(st.integers(1, 5)),
            data.draw(st.integers(0, 12)),
            data.draw(st.sampled_from([(), ("subpage",), ("storage of tokyo-1", "page")])),
        )
        for name in names
    )
    lines = []
    for a, b in combinations(names, 2):
        if data.draw(st.booleans()):
            cut = data.draw(CUTS)
            lines.append(LineMark(a, b, data.draw(st.sampled_from(LABELS)), b if cut == "there" else cut))
    follows = [
        FollowMark("x", "y", a, b, "cut off, 12 entries behind", False)
        for a, b in combinations(names, 2)
        if data.draw(st.integers(0, 3)) == 0
    ]
    marks = layout(MapContents(0, sites, tuple(lines), tuple(follows)))

    assert overlapping(marks) == []
    assert outside(marks) == []


def test_the_same_contents_stand_at_the_same_places():
    assert layout(mesh(6)) == layout(mesh(6))


def test_lines_and_arrows_end_at_the_edges_of_their_sites():
    marks = layout(mesh(4))
    places = {placed.site.name: placed.box for placed in marks.sites}
    for line in marks.lines:
        ends = ((line.segment.x1, line.segment.y1), (line.segment.x2, line.segment.y2))
        for name, end in zip((line.mark.a, line.mark.b), ends, strict=True):
            assert places[name].grown(4).holds(*end)
            assert not places[name].grown(-1).holds(*end)


def test_an_arrow_stands_beside_the_line_it_goes_along():
    marks = layout(mesh(2))
    (line,), (arrow,) = marks.lines, marks.follows

    assert abs(line.segment.y1 - arrow.segment.y1) > 10


def test_what_finds_no_room_is_listed_with_its_sites():
    words = "250 ms, usually 80 ms · loses 2.5 % · 10 Mbit/s of a line whose label takes all the room there is"
    marks = layout(mesh(4, words))

    assert marks.listed
    assert all(label.words.startswith("site-") and label.words.endswith(words) for label in marks.listed)


def test_labels_of_faults_come_first():
    lines = tuple(mark._replace(label="9 ms, usually 1 ms") if mark.a == "site-9" else mark for mark in mesh(12).lines)
    marks = layout(mesh(12)._replace(lines=lines))

    assert all(placed.label and placed.label.fault for placed in marks.lines if placed.mark.a == "site-9")


def test_who_lives_at_a_site():
    assert people_of(site("a")) == ""
    assert people_of(site("a", clusters=0)) == "nobody"
    assert people_of(site("a", clusters=0, clients=1)) == "1 client"
    assert people_of(site("a", clients=3)) == "3 clients"
    assert people_of(site("a", clusters=0)._replace(cloud="cloud: down")) == "cloud: down"
    assert people_of(site("a", clients=3)._replace(cloud="cloud")) == "3 clients · cloud"


def test_the_legend_names_what_is_shown_and_nothing_else():
    def legend(contents: MapContents) -> list[str]:
        return [label.words for label in layout(contents).legend]

    plain, quiet = mesh(2), mesh(2)._replace(follows=())
    assert legend(quiet) == ["primary", "A active"]
    assert legend(plain) == ["primary", "A active", "arrow: streams to the secondary"]
    behind = plain.follows[0]._replace(streams=False)
    assert legend(plain._replace(follows=(behind,))) == [
        *("primary", "A active"),
        "broken arrow: does not stream",
        "red words: a fault, or lag",
    ]
    cut = quiet._replace(lines=(LineMark("site-0", "site-1", "80 ms", BOTH_WAYS, False),))
    signs = ["A active", "cross: cut", "dotted line: over other sites", "red words: a fault, or lag"]
    assert legend(cut) == ["primary", *signs]
    states = tuple([NodeMark(state, state) for state in ("down", "sealed", "standby", "paused")])
    nodes = SiteMark("s", (ClusterMark("s", "primary", states),), 0)
    assert legend(MapContents(0, (nodes,), (), ())) == ["s standby", "# sealed", "‖ paused", "d down"]


def test_what_was_planned_is_no_alarm_and_a_fault_is():
    for label, fault in (("80 ms · loses 0.01 %", False), ("80 ms · loses 5 %, usually 0.01 %", True)):
        (line,) = layout(mesh(2, label)).lines
        assert line.label is not None
        assert line.label.fault is fault


@pytest.mark.parametrize("count", [2, 6])
def test_arrows_between_the_same_sites_stand_side_by_side(count):
    plain = mesh(count)
    follows = tuple([plain.follows[0]._replace(secondary=f"site-1-{number}") for number in range(3)])
    marks = layout(plain._replace(follows=follows))
    ways = [marks.lines[0].segment, *[placed.segment for placed in marks.follows]]

    assert not [
        pair for pair in combinations(ways, 2) if abs(pair[0].y1 - pair[1].y1) + abs(pair[0].x1 - pair[1].x1) < 9
    ]


@pytest.mark.parametrize("count", [3, 4, 8, 20])
def test_no_line_or_arrow_passes_under_a_site(count):
    marks = layout(mesh(count))
    for segment, _ in beside(marks):
        assert not [site.site.name for site in marks.sites if segment.crosses(site.box.grown(-1))]


def test_the_layout_is_the_one_that_is_kept(full_map, kept, numbers):
    kept("map.txt", numbers(layout(full_map)))


def test_the_layout_of_few_and_of_many_sites_is_the_one_that_is_kept(kept, numbers):
    labels = {1: "", 2: "80 ms", 3: LABELS[2], 4: LABELS[3], 7: LABELS[2], 8: LABELS[3]}
    maps = {count: mesh(count, label) for count, label in labels.items()}
    # As many lines and arrows as are placed with regard to one another.
    follows = tuple(FollowMark("a", "b", "site-0", f"site-{number}", "streams", True) for number in (1, 2, 3))
    maps[7] = maps[7]._replace(follows=follows)
    kept("maps.txt", "\n".join(numbers(layout(one)._replace(legend=())) for one in maps.values()))


def test_an_arrow_goes_beside_the_crosses_of_cuts():
    eight = mesh(8)
    cut = LineMark("site-0", "site-1", "80 ms", BOTH_WAYS)
    lines = (cut, *[mark for mark in eight.lines if {mark.a, mark.b} != {cut.a, cut.b}])
    follows = tuple(
        FollowMark("site-0-0", f"site-{number}-0", "site-0", f"site-{number}", "cut off", False) for number in (2, 3)
    )
    apart = []
    for shown in (eight.lines, lines):
        marks = layout(eight._replace(lines=shown, follows=follows))
        (line,) = [placed.segment for placed in marks.lines if {placed.mark.a, placed.mark.b} == {cut.a, cut.b}]
        crosses = [line.at(CROSS_SHARE), line.at(1 - CROSS_SHARE)]
        apart.append(min(arrow.segment.distance(*cross) for arrow in marks.follows for cross in crosses))

    assert apart[0] < CROSS_ROOM < apart[1], "without a cut it goes where a cross would be"
