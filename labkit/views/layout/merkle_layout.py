"""Merkle layout: where the boxes, grids and lists of a picture of an index stand.

1. From above: the composite root, the two subtrees with their 256 pages as 16 x 16 cells, and of the chosen page its
   256 subpages and its leaves.
2. Cell n of a grid stands in row n // 16 and column n % 16: its two hex digits, which stand beside the grid.
3. A line joins each level with the one above it; the chosen page with its subpages.
4. What does not fit is counted in the last row of a list.
"""

from __future__ import annotations

from typing import NamedTuple

from labkit.views.boxes import Box, flow
from labkit.views.contents.merkle_contents import Cell, MerkleContents
from labkit.views.picture import SMALL

WIDTH, MARGIN, GAP = 668, 16, 24
CELL, SIDE = 18, 16
GRID = CELL * SIDE
TITLE_ROOM, ROW = 40, 18
GROUP, LINE_GROUPS = 4, 5
MAX_ROWS = SIDE - 2
MAX_CHARACTERS = 42
AXIS = 16
"""The room beside a grid for its hex digits."""

LEGEND = {
    "leaves": "small square: has leaves",
    "differs": "filled: differs",
    "damaged": "cross: damaged",
    "pending": "corner: not folded yet",
}
"""What stands in a cell, by what it says."""
AXES = "page 4d: row 4, column d"

Edge = tuple[float, float, float, float]
"""A straight line from the level above to the one below: x1, y1, x2, y2."""


class PlacedBox(NamedTuple):
    """A root: its words, the lines of its digest, where it stands, and what is to be said of it."""

    words: str
    digest: tuple[str, ...]
    box: Box
    differs: bool
    damaged: bool


class PlacedGrid(NamedTuple):
    """256 cells and the words above them; ``note`` names what they are."""

    words: str
    note: str
    box: Box
    cells: tuple[Cell, ...]

    def box_of(self, number: int) -> Box:
        """Return where a cell stands."""
        row, column = divmod(number, SIDE)
        return Box(self.box.x + column * CELL, self.box.y + row * CELL, CELL, CELL)


class PlacedWords(NamedTuple):
    """A line of text, its place, and its colour."""

    words: str
    x: float
    y: float
    colour: str


class MerkleLayout(NamedTuple):
    """Everything that a picture of an index shows, and where."""

    contents: MerkleContents
    width: int
    height: int
    roots: tuple[PlacedBox, ...]
    grids: tuple[PlacedGrid, ...]
    words: tuple[PlacedWords, ...]
    edges: tuple[Edge, ...] = ()


def layout(contents: MerkleContents) -> MerkleLayout:
    """Place everything that a picture of an index says."""
    high = 3 * ROW + 10
    root = Box((WIDTH - GRID) / 2, TITLE_ROOM, GRID, high)
    roots = [PlacedBox("composite root", lines_of(contents.root), root, contents.differs, contents.damaged)]
    grids: list[PlacedGrid] = []
    edges: list[Edge] = []
    for number, subtree in enumerate(contents.subtrees):
        left = MARGIN + AXIS if not number else WIDTH - MARGIN - GRID
        box, words_of = Box(left, root.bottom + GAP, GRID, high), f"{subtree.name} tree"
        roots.append(PlacedBox(words_of, lines_of(subtree.root), box, subtree.differs, subtree.damaged))
        grid = Box(left, box.bottom + GAP + 2 * ROW, GRID, GRID)
        grids.append(PlacedGrid("pages", f"{subtree.name} page", grid, subtree.pages))
        middle = box.centre[0]
        edges += [(root.centre[0], root.bottom, middle, box.y), (middle, box.bottom, middle, grid.y - ROW)]
    bottom = grids[-1].box.bottom
    words: list[PlacedWords] = []
    if contents.chosen is not None:
        words, ways = _look_into(contents, grids, bottom + GAP + 2 * ROW)
        edges += ways
        bottom = grids[-1].box.bottom
    words += _sent(contents, bottom + GAP)
    bottom = max((line.y for line in words), default=bottom)
    said = [text for name, text in LEGEND.items() if any(getattr(cell, name) for grid in grids for cell in grid.cells)]
    legend, end = flow([*said, AXES], SMALL, WIDTH, max(bottom, grids[-1].box.bottom) + 12)
    words += [
        PlacedWords(text, box.x, box.bottom - 5, "faint") for text, box in zip((*said, AXES), legend, strict=True)
    ]
    return MerkleLayout(contents, WIDTH, int(end) + 8, tuple(roots), tuple(grids), tuple(words), tuple(edges))


def _look_into(contents: MerkleContents, grids: list[PlacedGrid], top: float) -> tuple[list[PlacedWords], list[Edge]]:
    """Add the subpages of the chosen page below the grids; return the list of its leaves, and what joins the two."""
    chosen = contents.chosen
    assert chosen is not None
    name = page_name(chosen.tree, chosen.number)
    above = next(grid for grid, tree in zip(grids, contents.subtrees, strict=True) if tree.name == chosen.tree)
    cell = above.box_of(chosen.number)
    grid = Box(MARGIN + AXIS, top, GRID, GRID)
    grids.append(PlacedGrid(f"subpages of {name}", f"{name} subpage", grid, chosen.subpages))
    return _listed(contents, WIDTH - MARGIN - GRID, grid.y), _joined(cell, above.box, grid)


def _joined(cell: Box, pages: Box, subpages: Box) -> list[Edge]:
    """Return the way from a page down to its subpages: along the edges of cells, so it goes through none."""
    turn, x = pages.bottom + GAP / 2, subpages.centre[0]
    end = subpages.y - 2 * ROW - 2
    return [(cell.right, cell.y, cell.right, turn), (cell.right, turn, x, turn), (x, turn, x, end)]


def hex_of(number: int) -> str:
    """Return the number of a page or subpage as two hex digits: its row and its column."""
    return f"{number:02x}"


def page_name(tree: str, number: int) -> str:
    """Return what a page is called in pictures: its tree, its number, and in brackets its hex digits."""
    return f"{tree} page {number} ({hex_of(number)})"


def lines_of(digest: str) -> tuple[str, ...]:
    """Return a digest in groups of four digits, five groups a line."""
    groups = [digest[at : at + GROUP] for at in range(0, len(digest), GROUP)]
    return tuple([" ".join(groups[at : at + LINE_GROUPS]) for at in range(0, len(groups), LINE_GROUPS)])


def shortened(name: str) -> str:
    """Return a name that fits beside a grid: its end, which tells names of one folder apart."""
    return name if len(name) <= MAX_CHARACTERS else "…" + name[1 - MAX_CHARACTERS :]


def _listed(contents: MerkleContents, left: float, top: float) -> list[PlacedWords]:
    """List the leaves of the chosen page, those that differ first."""
    assert contents.chosen is not None
    rows = contents.chosen.leaves
    if contents.other:
        rows = tuple(sorted(rows, key=lambda row: row.here == row.there))
    lines = [PlacedWords(f"its leaves: {len(rows)}", left, top - 6, "ink")]
    for number, row in enumerate(rows[:MAX_ROWS]):
        apart = bool(contents.other) and row.here != row.there
        lines.append(PlacedWords(shortened(row.name), left, top + ROW * (number + 1) - 5, "down" if apart else "faint"))
    if len(rows) > MAX_ROWS:
        more = f"and {len(rows) - MAX_ROWS} more"
        lines.append(PlacedWords(more, left, top + ROW * (MAX_ROWS + 1) - 5, "faint"))
    return lines


def _sent(contents: MerkleContents, top: float) -> list[PlacedWords]:
    if not contents.sent:
        return []
    lines = ["What the last comparison sent, both ways: messages, bytes"]
    lines += [f"{row.question}: {row.messages}, {row.size_bytes:,}" for row in contents.sent]
    return [
        PlacedWords(line, MARGIN, top + ROW * number, "faint" if number else "ink") for number, line in enumerate(lines)
    ]
