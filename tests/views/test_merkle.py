"""The picture of an index: every mark is in it, in shape as well as in colour, and in its table."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from labkit import Lab
from labkit.views.layout.merkle_layout import CELL, layout
from labkit.views.merkle import MAX_ROWS, MerkleView, draw
from tests.views.layout.test_merkle_layout import index


def elements(svg: str, name: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(svg).findall(f".//{{http://www.w3.org/2000/svg}}{name}")


def test_each_cell_that_is_not_empty_says_what_it_is() -> None:
    picture = draw(layout(index()))
    notes = [title.text for title in elements(picture.svg, "title")]

    assert "replicated page 7 (07): 1 leaf, differs" in notes
    assert "replicated page 8 (08): 2 leaves, damaged" in notes
    assert "replicated page 9 (09): 0 leaves, not folded yet" in notes
    assert "replicated page 7 (07) subpage 255 (ff): 0 leaves, differs" in notes
    assert "replicated page 12 (0c): 0 leaves" not in notes
    assert "composite root: damaged, differs" in notes
    assert "local tree: damaged" in notes


def test_each_state_has_a_shape_of_its_own() -> None:
    svg = draw(layout(index())).svg
    lines = [path.get("stroke-width") for path in elements(svg, "path")]
    filled = [one for one in elements(svg, "rect") if one.get("class") == "fill-primary"]

    assert lines.count("2.5") == svg.count("<circle") == 3, "a cross on its ground for what is damaged"
    assert svg.count("<polygon") == 3, "a corner for what is pending"
    assert len(filled) == 3 * 2, "what differs is filled"


def test_levels_are_joined_and_each_grid_has_its_digits() -> None:
    marks = layout(index())
    svg = draw(marks).svg
    words = [text.text for text in elements(svg, "text")]

    assert len(marks.edges) == 4 + 3, "two subtrees, their pages, and the way to the chosen page's subpages"
    boxes = [root.box for root in marks.roots]
    *levels, down, _, on = marks.edges
    for x1, y1, x2, y2 in (*levels, (*down[:2], *on[2:])):
        assert y1 < y2
        assert any(box.holds(x1, y1) for box in (*boxes, marks.grids[0].box_of(7)))
        assert any(
            box.x <= x2 <= box.right and box.y - 50 <= y2 <= box.y
            for box in (*boxes, *[grid.box for grid in marks.grids])
        )
    assert [words.count(f"{digit:x}") for digit in range(16)] == [2 * 3] * 16
    cell = marks.grids[0].box_of(0x4D)
    assert ((cell.y - marks.grids[0].box.y) / CELL, (cell.x - marks.grids[0].box.x) / CELL) == (4, 13)


def test_the_picture_describes_itself_and_names_no_digit_that_it_does_not_show() -> None:
    picture = draw(layout(index()))
    assert picture.title == "Merkle index of tokyo beside paris's at 5.000 s"
    assert "its composite root is damaged" in picture.description
    words = " ".join(text.text or "" for text in elements(picture.svg, "text"))
    assert "cdcd cdcd cdcd cdcd cdcd" in words
    assert all(each in words for each in ("guard_hash: 2, 1,634", "filled: differs", "its leaves: 3"))


def test_a_cluster_shows_it_and_its_table() -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.corrupt("tokyo", layer="page")
    view = lab["tokyo"].merkle()
    frame = view.to_frame()

    assert isinstance(view, MerkleView)
    assert list(frame.columns) == ["node", "leaves", "state"]
    assert "damaged" in frame.state[0]
    assert repr(view).startswith("MerkleView(tokyo's index: 1 page damaged")
    html = view._repr_html_()
    assert f"as a table: {len(frame)} rows" in html
    assert html.count("<tr>") == len(frame) + 1
    assert view.svg in html
    assert lab["tokyo"].merkle(page=("local", 0)).contents.chosen is not None


def test_a_long_table_is_cut_and_says_so() -> None:
    contents = index(leaves=MAX_ROWS + 50)
    html = MerkleView(draw(layout(contents)), contents)._repr_html_()
    assert html.count("<tr>") == MAX_ROWS + 1
    assert re.search(r"and \d+ more rows", html)


@pytest.mark.parametrize("name", ["<b>&"])
def test_names_are_escaped(name: str) -> None:
    contents = index()
    assert contents.chosen is not None
    leaf = contents.chosen.leaves[0]._replace(name=name)
    contents = contents._replace(chosen=contents.chosen._replace(leaves=(leaf,)))
    html = MerkleView(draw(layout(contents)), contents)._repr_html_()
    assert name not in html
    assert "&lt;b&gt;&amp;" in html
