"""The repair picture: small, every mark in shape as well as in colour, and its words beside it."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from labkit.views import repair
from labkit.views.contents.repair_contents import RepairEvent
from labkit.views.layout.merkle_layout import layout as merkle_layout
from labkit.views.layout.repair_layout import layout
from labkit.views.merkle import MerkleView, draw
from labkit.views.repair import RepairLog
from tests.views.layout.test_merkle_layout import index
from tests.views.layout.test_repair_layout import story

KB = 1_024


def test_it_is_small_and_says_what_it_shows() -> None:
    view = repair.of(story())
    words = [one.text or "" for one in ElementTree.fromstring(view.svg).iter("{http://www.w3.org/2000/svg}text")]

    assert len(view.svg.encode()) <= 60 * KB
    assert words.count("≠ root abababab") == words.count("values that differ: 3") == 36
    assert words.count("≠ repl. cd") == 36
    assert words.count("= local") == 36, "no digits beside a cross"
    assert words.count("page 77 (4d)") == 36
    assert [word for word in words if word.endswith("repaired")] == 6 * ["6 repaired"], "one in each row"


def test_damage_and_difference_have_shapes() -> None:
    svg = repair.draw(layout(story())).svg
    paths = {
        one.get("stroke-width"): one.get("d") or ""
        for one in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}path")
        if one.get("stroke-width")
    }

    crosses = paths["2"].count("M")
    assert crosses == 36 * 2 * (2 + 1 + 2), "two roots, a page and two subpages"
    assert paths["2.5"].count("M") == 36 * 4, "a thick border around what differs or is damaged"


def test_a_notebook_shows_the_table_below() -> None:
    view = repair.of(story())
    html = view._repr_html_()

    assert "as a table: 36 rows" in html
    assert html.count("<tr>") == 37
    assert list(view.to_frame().columns)[:3] == ["cluster", "layer", "step"]
    assert len(view.to_frame()) == 36
    assert repr(view).startswith("RepairView(root of tokyo: ")


def test_a_picture_without_a_lab_says_so() -> None:
    contents = index()
    with pytest.raises(ValueError, match="repair: expected an index of a lab's cluster"):
        MerkleView(draw(merkle_layout(contents)), contents).repair()


def test_what_happened_here_is_in_view_line_by_line() -> None:
    log = RepairLog([RepairEvent(4_491_000_000, "damaged: <page> 77"), RepairEvent(6_000_000_000, "reindexed")])

    assert log._repr_html_() == "<ol><li>4.491 s damaged: &lt;page&gt; 77</li><li>6.000 s reindexed</li></ol>"
