"""Where everything in a picture of an index stands: nothing overlaps, what does not fit is counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit.views.boxes import Box, is_free, width_of
from labkit.views.contents.merkle_contents import Cell, ChosenPage, LeafRow, MerkleContents, Sent, Subtree
from labkit.views.layout.merkle_layout import (
    AXES,
    LEGEND,
    MAX_CHARACTERS,
    MAX_ROWS,
    PlacedGrid,
    layout,
    lines_of,
    shortened,
)
from labkit.views.picture import SMALL


def index(leaves: int = 3, other: str = "paris", chosen: bool = True) -> MerkleContents:
    """An index with something of everything."""
    pages = tuple(Cell(n, n % 3, n in (7, 255), n == 8, n == 9) for n in range(256))
    trees = (Subtree("replicated", "ab" * 20, True, False, pages), Subtree("local", "cd" * 20, False, True, pages))
    rows = tuple(LeafRow(f"logical/u/{n:02}", n, "11", "22" if n == 2 else "11") for n in range(leaves))
    page = ChosenPage("replicated", 7, pages, rows) if chosen else None
    sent = (Sent("guard_hash", 2, 1_634), Sent("fetch_keys", 2, 3_246)) if other else ()
    return MerkleContents(5_000_000_000, "tokyo", other, "ef" * 20, True, True, trees, page, sent)


def boxes(marks: Any) -> list[Box]:
    return [*[root.box for root in marks.roots], *[grid.box for grid in marks.grids]]


@pytest.mark.parametrize("contents", [index(), index(chosen=False), index(other=""), index(leaves=40)])
def test_nothing_overlaps_and_nothing_is_outside(contents: MerkleContents) -> None:
    marks = layout(contents)
    placed = boxes(marks)

    for number, box in enumerate(placed):
        assert is_free(box, placed[:number])
        assert (box.x >= 0, box.right <= marks.width, box.bottom <= marks.height) == (True, True, True)
    for line in marks.words:
        assert line.x + width_of(line.words, SMALL) <= marks.width
        assert line.y <= marks.height
        assert not any(box.holds(line.x + 1, line.y - 4) for box in placed)


def test_the_way_to_the_subpages_goes_through_no_cell_and_no_words() -> None:
    for chosen in (0, 7, 15, 77, 240, 255):
        for tree in ("replicated", "local"):
            contents = index()
            assert contents.chosen is not None
            marks = layout(contents._replace(chosen=contents.chosen._replace(number=chosen, tree=tree)))
            pages = marks.grids[("replicated", "local").index(tree)]
            *_, down, aside, on = marks.edges
            assert down[:2] == (pages.box_of(chosen).right, pages.box_of(chosen).y)
            assert (down[2:], aside[2:]) == (aside[:2], on[:2])
            for x1, y1, x2, y2 in (down, aside, on):
                way = Box(min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1))
                assert all(not way.overlaps(grid.box_of(n)) for grid in marks.grids for n in range(256))
                assert not any(way.overlaps(Box(line.x, line.y - 13, 200, 16)) for line in marks.words)


def test_the_legend_names_what_stands_in_a_cell() -> None:
    marks = layout(index())
    bare = index(chosen=False)
    empty = tuple(
        [tree._replace(pages=tuple([Cell(n, 0, False, False, False) for n in range(256)])) for tree in bare.subtrees]
    )

    assert {line.words for line in marks.words} >= {*LEGEND.values(), AXES}
    assert {line.words for line in layout(bare._replace(subtrees=empty)).words} & {*LEGEND.values(), AXES} == {AXES}


def test_cells_stand_sixteen_a_row() -> None:
    grid = PlacedGrid("pages", "page", Box(10, 20, 288, 288), ())

    assert grid.box_of(0) == Box(10, 20, 18, 18)
    assert grid.box_of(15) == Box(280, 20, 18, 18)
    assert grid.box_of(16) == Box(10, 38, 18, 18)
    assert (grid.box_of(255).right, grid.box_of(255).bottom) == (grid.box.right, grid.box.bottom)


def test_leaves_that_differ_are_listed_first_and_what_does_not_fit_is_counted() -> None:
    marks = layout(index(leaves=40))
    words = [line.words for line in marks.words]
    start = words.index("its leaves: 40")

    assert words[start + 1 : start + 4] == ["logical/u/02", "logical/u/00", "logical/u/01"]
    assert [line.colour for line in marks.words[start + 1 : start + 3]] == ["down", "faint"]
    assert words[start + 1 + MAX_ROWS] == f"and {40 - MAX_ROWS} more"


def test_where_nothing_is_beside_it_no_leaf_differs() -> None:
    assert all(line.colour != "down" for line in layout(index(other="")).words)


def test_digests_and_names_are_written_so_that_they_fit() -> None:
    assert lines_of("0123456789" * 4) == ("0123 4567 8901 2345 6789", "0123 4567 8901 2345 6789")
    assert shortened("short") == "short"
    assert len(shortened("x" * 100 + "end")) == MAX_CHARACTERS
    assert shortened("x" * 100 + "end").endswith("xend")


def test_the_layout_is_the_one_that_is_kept(kept: Callable[[str, str], None], numbers: Callable[[Any], str]) -> None:
    marks = layout(index())
    kept("merkle.txt", numbers(marks._replace(grids=tuple(grid._replace(cells=()) for grid in marks.grids))))
