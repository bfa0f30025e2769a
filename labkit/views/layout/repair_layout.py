"""Repair layout: where the frames of a repair picture stand: a row for each layer, in it a frame for each step.

1. A frame has the composite root, both subtree roots, 256 pages, the subpages of one page, and below them the values.
2. Lines join the levels.  A sentence stands below its frame, in as many lines as it needs.
3. Three frames stand side by side, the damage above its repair: so a page of a notebook is wide enough for them.
"""

from __future__ import annotations

from textwrap import wrap
from typing import NamedTuple

from labkit.views.boxes import LETTER, Box
from labkit.views.contents.repair_contents import STEPS, Frame, RepairContents
from labkit.views.picture import SMALL

MARGIN, GAP, TITLE_ROOM, ROW = 16, 18, 44, 17
CELL, SIDE = 5, 16
GRID = CELL * SIDE
FRAME = 2 * GRID + 12
BOX = 22
HEAD = 44
ACROSS = 3
"""How many frames stand side by side."""
LINE_CHARACTERS = int(FRAME / (LETTER * SMALL)) + 2
LEGEND = ("= as beside, ≠ differs; filled: differs; cross: damaged", "a line leads from a page to its 256 subpages")


class PlacedFrame(NamedTuple):
    """A frame: its boxes (composite root, both trees, values), its two grids, the lines between, and its sentence."""

    frame: Frame
    root: Box
    trees: tuple[Box, Box]
    pages: Box
    subpages: Box
    values: Box
    edges: tuple[tuple[float, float, float, float], ...]
    lines: tuple[tuple[str, float, float], ...]


class PlacedRow(NamedTuple):
    """A row: its heading, where that is, and its frames, in two lines of three."""

    heading: str
    x: float
    y: float
    frames: tuple[PlacedFrame, ...]


class RepairLayout(NamedTuple):
    """Everything that a repair picture shows, and where: ``steps`` are the heads of frames, ``legend`` its lines."""

    contents: RepairContents
    width: int
    height: int
    steps: tuple[tuple[str, float, float], ...]
    rows: tuple[PlacedRow, ...]
    legend: tuple[tuple[str, float, float], ...]


def layout(contents: RepairContents) -> RepairLayout:
    """Place everything that a repair picture says."""
    lefts = [MARGIN + number * (FRAME + GAP) for number in range(ACROSS)]
    steps: list[tuple[str, float, float]] = []
    rows: list[PlacedRow] = []
    top = float(TITLE_ROOM - ROW)
    for row in contents.rows:
        heading, heading_y = f"{row.layer} of {row.cluster}, beside {row.other}", top + HEAD - 12
        frames: list[PlacedFrame] = []
        top = heading_y
        for first in range(0, len(STEPS), ACROSS):
            line = [*zip(row.frames[first : first + ACROSS], lefts, strict=False)]
            steps += [(f"{first + n} {frame.step}", left, top + 2 * ROW - 6) for n, (frame, left) in enumerate(line, 1)]
            placed = [_placed(frame, left, top + 2 * ROW + 2) for frame, left in line]
            top = max([words[2] for one in placed for words in one.lines], default=placed[0].values.bottom)
            frames += placed
        rows.append(PlacedRow(heading, MARGIN, heading_y, tuple(frames)))
    legend = tuple([(line, MARGIN, top + ROW * (number + 2)) for number, line in enumerate(LEGEND)])
    height = int(top + ROW * len(LEGEND) + 2 * ROW)
    return RepairLayout(contents, lefts[-1] + FRAME + MARGIN, height, tuple(steps), tuple(rows), legend)


def _placed(frame: Frame, left: float, top: float) -> PlacedFrame:
    half, right = (FRAME - 12) / 2, left + GRID + 12
    root = Box(left, top, FRAME, BOX)
    trees = (Box(left, root.bottom + 10, half, BOX), Box(right, root.bottom + 10, half, BOX))
    pages = Box(left, trees[0].bottom + ROW + 10, GRID, GRID)
    subpages = Box(right, pages.y, GRID, GRID)
    values = Box(left, pages.bottom + 10, FRAME, BOX)
    edges = [(root.centre[0], root.bottom, tree.centre[0], tree.y) for tree in trees]
    edges.append((trees[0].right - 4, trees[0].bottom, trees[0].right - 4, pages.y))
    if frame.page >= 0:  # from the page to its subpages
        row, column = divmod(frame.page, SIDE)
        edges.append((pages.x + (column + 1) * CELL, pages.y + (row + 0.5) * CELL, subpages.x, subpages.centre[1]))
    words = wrap(frame.said, LINE_CHARACTERS)
    lines = tuple([(line, left, values.bottom + ROW * (number + 1)) for number, line in enumerate(words)])
    return PlacedFrame(frame, root, trees, pages, subpages, values, tuple(edges), lines)
