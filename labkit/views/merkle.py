"""Merkle picture: a cluster's index, its roots, its pages and one page's subpages; ``merkle_layout`` says where."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.durations import in_seconds
from labkit.views.boxes import Box
from labkit.views.contents.merkle_contents import Cell, MerkleContents, contents_of, describe, rows_of
from labkit.views.layout.merkle_layout import CELL, ROW, SIDE, MerkleLayout, PlacedBox, PlacedGrid, hex_of, layout
from labkit.views.picture import LARGE, SMALL, Picture, cross, polygon, rectangle, strokes, text
from labkit.views.saving import Saved, counted, save

if TYPE_CHECKING:
    from pathlib import Path

    from pandas import DataFrame

    from labkit.lab.queries import Queries
    from labkit.views.merkle_explorer import MerkleExplorer

COLUMNS = ("node", "leaves", "state")
MAX_ROWS = 200
LEAF, CORNER = 6, 9


class MerkleView(NamedTuple):
    """A picture of an index, and the same as a table; ``look`` gives what it says with another page chosen.

    A notebook shows below it an explorer: into trees, pages, subpages and keys, by click or by keyboard.
    """

    picture: Picture
    contents: MerkleContents
    look: Callable[[tuple[str, int]], MerkleContents] | None = None
    repairs: Callable[[str | None], Any] | None = None

    def __repr__(self) -> str:
        return f"MerkleView({self.picture.description})"

    @property
    def svg(self) -> str:
        """The picture as an SVG document."""
        return self.picture.svg

    def to_frame(self) -> DataFrame:
        """Return what differs, is damaged or is not folded, and the chosen page's leaves: node, leaves, state."""
        from pandas import DataFrame

        return DataFrame(rows_of(self.contents), columns=list(COLUMNS))

    def save(self, path: str | Path) -> None:
        """Write it to a file: ``.svg``, ``.png`` (needs the extra ``png``), ``.html`` with its table, or ``.json``."""
        rows = [tuple(row.values()) for row in rows_of(self.contents)]
        save(path, Saved(self.picture.title, self.picture.description, self.svg, COLUMNS, rows))

    def repair(self, layer: str | None = None) -> Any:
        """Show what becomes of damage in each layer: sound, damaged, checked, reindexed, compared, repaired.

        Each layer of this secondary, and its primary's storage, is damaged in a branch; this lab stays as it is.  With
        ``layer``, what happened here since that one was damaged last.  Both have ``to_frame()``.
        """
        if self.repairs is None:
            raise ValueError("repair: expected an index of a lab's cluster, as lab['tokyo'].merkle() gives it")
        return self.repairs(layer)

    def explore(self) -> MerkleExplorer:
        """Return a widget in which every page and its keys can be looked into."""
        from labkit.views.merkle_explorer import MerkleExplorer

        return MerkleExplorer(self.contents, self.look or (lambda place: self.contents))

    def _ipython_display_(self) -> None:
        """Show the picture and, below it where there is a kernel, the explorer; exported, it is the picture only."""
        from IPython.display import display

        show: Any = display  # not annotated
        show({"text/html": self._repr_html_(), "text/plain": repr(self)}, raw=True)
        if _in_notebook():
            show({**self.explore().bundle(), "text/html": "", "text/plain": ""}, raw=True)

    def _repr_html_(self) -> str:
        rows = rows_of(self.contents)
        cells = "".join(
            f"<tr><td>{escape(row['node'])}</td><td>{row['leaves']}</td><td>{row['state']}</td></tr>"
            for row in rows[:MAX_ROWS]
        )
        more = f"<p>and {len(rows) - MAX_ROWS} more rows: <code>to_frame()</code></p>" if len(rows) > MAX_ROWS else ""
        head = "<tr><th>node</th><th>leaves</th><th>state</th></tr>"
        table = (
            f"<details><summary>as a table: {counted(len(rows))}</summary><table>{head}{cells}</table>{more}</details>"
        )
        return self.picture.figure + table


def of(
    queries: Queries, cluster: str, other: str | None, page: Any, repairs: Callable[[str | None], Any] | None = None
) -> MerkleView:
    """Draw a cluster's index as it is now; see ``contents_of``.  ``repairs`` shows damage and repair of a layer."""
    contents = contents_of(queries, cluster, other, page)
    return MerkleView(
        draw(layout(contents)), contents, lambda place: contents_of(queries, cluster, other, place), repairs
    )


def _in_notebook() -> bool:
    """Whether what is shown goes to a notebook with a kernel."""
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")


def draw(marks: MerkleLayout) -> Picture:
    """Draw an index."""
    contents = marks.contents
    beside = f" beside {contents.other}'s" if contents.other else ""
    title = f"Merkle index of {contents.cluster}{beside} at {in_seconds(contents.at_ns)} s"
    elements = [text(16, 24, title, size=LARGE, colour="faint")]
    for root in marks.roots:
        elements += _draw_root(root)
    for grid in marks.grids:
        elements += _draw_grid(grid)
    elements.append(strokes(marks.edges, colour="faint", width=2))
    elements += [text(line.x, line.y, line.words, size=SMALL, colour=line.colour) for line in marks.words]
    return Picture(marks.width, marks.height, title, describe(contents), tuple(elements))


def _draw_root(root: PlacedBox) -> list[str]:
    words = [name for name, holds in (("damaged", root.damaged), ("differs", root.differs)) if holds]
    x, _ = root.box.centre
    said = f"{root.words}{': ' if words else ''}{', '.join(words)}"
    border = "down" if words else "faint"
    lines = [(said, "down" if words else "ink"), *[(line, "faint") for line in root.digest]]
    return [
        rectangle(root.box, fill="panel", border=border, rounded=6, note=said),
        *[
            text(x, root.box.y + ROW * (number + 1), line, size=SMALL, colour=colour, anchor="middle")
            for number, (line, colour) in enumerate(lines)
        ],
    ]


def _draw_grid(grid: PlacedGrid) -> list[str]:
    x, y, width, height = grid.box
    elements = [text(x, y - ROW - 4, grid.words, size=SMALL)]
    for step in range(SIDE):
        digit, at = f"{step:x}", (step + 0.5) * CELL
        elements.append(text(x + at, y - 5, digit, size=SMALL, colour="faint", anchor="middle"))
        elements.append(text(x - 8, y + at + 5, digit, size=SMALL, colour="faint", anchor="middle"))
    for cell in grid.cells:
        if cell.leaves or cell.differs or cell.damaged or cell.pending:
            elements += _draw_cell(cell, grid.box_of(cell.number), f"{grid.note} {cell.number} ({hex_of(cell.number)})")
    steps = [step * CELL for step in range(SIDE + 1)]
    lines = [(x + at, y, x + at, y + height) for at in steps] + [(x, y + at, x + width, y + at) for at in steps]
    return [*elements, strokes(lines, colour="faint", width=0.5)]


def _draw_cell(cell: Cell, box: Box, name: str) -> list[str]:
    """Draw a cell so that its states are distinct without colour: a filling, a cross, a corner, a small square."""
    states = (("damaged", cell.damaged), ("differs", cell.differs), ("not folded yet", cell.pending))
    said = ", ".join(words for words, holds in states if holds)
    note = f"{name}: {cell.leaves} {'leaf' if cell.leaves == 1 else 'leaves'}{', ' if said else ''}{said}"
    elements = [rectangle(box, fill="primary" if cell.differs else "paper", note=note)]
    x, y = box.centre
    if cell.leaves:
        square = Box(x - LEAF / 2, y - LEAF / 2, LEAF, LEAF)
        elements.append(rectangle(square, fill="on" if cell.differs else "faint", note=note))
    if cell.damaged:
        elements.append(cross(x, y, CELL / 2 - 4, colour="down"))
    if cell.pending:
        corner = ((box.right, box.y), (box.right - CORNER, box.y), (box.right, box.y + CORNER))
        elements.append(polygon(corner, fill="ink", border="paper"))
    return elements
