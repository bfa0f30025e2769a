"""Repair picture: what becomes of damage in each layer of an index, step by step; ``repair_layout`` says where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from labkit.service.durations import SECOND_NS, in_seconds
from labkit.views import colours
from labkit.views.boxes import Box
from labkit.views.contents.repair_contents import RepairContents, RepairEvent, describe, rows_of
from labkit.views.layout.merkle_layout import hex_of
from labkit.views.layout.repair_layout import CELL, SIDE, PlacedFrame, RepairLayout, layout
from labkit.views.picture import LARGE, SMALL, Picture, blocks, strokes, text
from labkit.views.saving import Saved, save, table_of

if TYPE_CHECKING:
    from pathlib import Path

    from pandas import DataFrame

COLUMNS = (
    "cluster",
    "layer",
    "step",
    "seconds",
    "roots",
    "pages apart",
    "pages damaged",
    "values apart",
    "said",
)
QUARTER = 4 * CELL


class RepairView(NamedTuple):
    """A repair picture and the same as a table, a row for each frame."""

    picture: Picture
    contents: RepairContents

    def __repr__(self) -> str:
        return f"RepairView({self.picture.description})"

    @property
    def svg(self) -> str:
        """The picture as an SVG document."""
        return self.picture.svg

    def to_frame(self) -> DataFrame:
        """Return a row for each frame: cluster, layer, step, instant, what is apart or damaged, and what is said."""
        from pandas import DataFrame

        return DataFrame(rows_of(self.contents))

    def save(self, path: str | Path) -> None:
        """Write it to a file: ``.svg``, ``.png`` (needs the extra ``png``), ``.html`` with its table, or ``.json``."""
        rows = [tuple(row.values()) for row in rows_of(self.contents)]
        save(path, Saved(self.picture.title, self.picture.description, self.svg, COLUMNS, rows))

    def _repr_html_(self) -> str:
        seen = [(row["cluster"], row["layer"], row["step"], row["said"]) for row in rows_of(self.contents)]
        return self.picture.figure + table_of(("cluster", "layer", "step", "what was seen"), seen)


class RepairLog(tuple[RepairEvent, ...]):
    """What happened here to one layer of a cluster since it was damaged last; a data frame has a row each."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "; ".join(f"{in_seconds(one.at_ns)} s {one.said}" for one in self)

    def to_frame(self) -> DataFrame:
        """Return the rows: second, what."""
        from pandas import DataFrame

        return DataFrame([(one.at_ns / SECOND_NS, one.said) for one in self], columns=["second", "what"])

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{in_seconds(one.at_ns)} s {escape(one.said)}</li>" for one in self)
        return f"<ol>{lines}</ol>"


def of(contents: RepairContents) -> RepairView:
    """Draw damage and repair of each layer."""
    return RepairView(draw(layout(contents)), contents)


def draw(marks: RepairLayout) -> Picture:
    """Draw a repair picture."""
    contents = marks.contents
    title = f"Damage and repair, layer by layer: {contents.secondary} beside {contents.primary}"
    frames = [placed for row in marks.rows for placed in row.frames]
    elements = [
        text(16, 26, title, size=LARGE, colour="faint"),
        _words([(words, x, y) for words, x, y in marks.steps], "ink", weight="600"),
        *[text(row.x, row.y, row.heading) for row in marks.rows],
        _outlines([box for placed in frames for box in (placed.root, *placed.trees, placed.values)], "faint", 1),
        strokes([edge for placed in frames for edge in placed.edges], colour="faint"),
        *_grids(frames),
        _outlines([box for placed in frames for box in _alarming(placed)], "down", 2.5),
        strokes(_crosses(frames), colour="ink", width=2),
        _words([line for placed in frames for line in _labels(placed)], "ink"),
        _words([line for placed in frames for line in placed.lines], "faint"),
        _words(marks.legend, "faint"),
    ]
    return Picture(marks.width, marks.height, title, describe(contents), tuple(elements))


def _grids(frames: Sequence[PlacedFrame]) -> list[str]:
    """Draw all grids: their frames with a line every four cells, and what differs."""
    lines, apart = [], []
    for placed in frames:
        chosen = ((placed.pages, placed.frame.pages_apart), (placed.subpages, placed.frame.subpages_apart))
        for box, cells in chosen if placed.frame.page >= 0 else chosen[:1]:
            steps = range(0, SIDE * CELL + 1, QUARTER)
            lines += [f"M{box.x + at:g} {box.y:g}v{box.height:g}" for at in steps]
            lines += [f"M{box.x:g} {box.y + at:g}h{box.width:g}" for at in steps]
            apart += [_cell(box, number) for number in cells]
    ruled = f'<path d="{"".join(lines)}" {colours.stroke("faint")} stroke-width="0.5"/>'
    return [ruled, blocks(apart, fill="down")]


def _cell(box: Box, number: int) -> Box:
    row, column = divmod(number, SIDE)
    return Box(box.x + column * CELL, box.y + row * CELL, CELL, CELL)


def _crosses(frames: Sequence[PlacedFrame]) -> list[tuple[float, float, float, float]]:
    """Return a cross for each damaged root, page and subpage."""
    found: list[tuple[float, float, float, float]] = []
    for placed in frames:
        frame = placed.frame
        cells = [_cell(placed.pages, number).grown(3) for number in frame.pages_damaged]
        cells += [_cell(placed.subpages, number).grown(3) for number in frame.subpages_damaged]
        roots = zip((placed.root, *placed.trees), frame.damaged, strict=True)
        cells += [Box(box.right - 17, box.y + 5, 12, 12) for box, damaged in roots if damaged]
        for box in cells:
            found += [(box.x, box.y, box.right, box.bottom), (box.x, box.bottom, box.right, box.y)]
    return found


def _alarming(placed: PlacedFrame) -> list[Box]:
    """Return the boxes of what differs or is damaged."""
    frame = placed.frame
    roots = zip((placed.root, *placed.trees), frame.differs, frame.damaged, strict=True)
    boxes = [box for box, differs, damaged in roots if differs or damaged]
    return [*boxes, placed.values] if frame.values else boxes


def _labels(placed: PlacedFrame) -> list[tuple[str, float, float]]:
    """Return the words in boxes and above grids."""
    frame = placed.frame
    boxes, names = (placed.root, *placed.trees), ("root", "repl.", "local")
    digits = (8, *[0 if damaged else 2 for damaged in frame.damaged[1:]])  # none fit beside a cross
    words = [
        (f"{'≠' if differs else '='} {name} {root[:count]}".strip(), box.x + 6, box.y + 15)
        for box, differs, name, root, count in zip(boxes, frame.differs, names, frame.roots, digits, strict=True)
    ]
    words.append(("256 pages", placed.pages.x, placed.pages.y - 5))
    if frame.page >= 0:
        words.append((f"page {frame.page} ({hex_of(frame.page)})", placed.subpages.x - 4, placed.subpages.y - 5))
    return [*words, (f"values that differ: {frame.values}", placed.values.x + 6, placed.values.y + 15)]


def _outlines(boxes: Sequence[Box], colour: str, width: float) -> str:
    """Draw the borders of boxes, all in one colour, as one shape."""
    steps = "".join(f"M{x:g} {y:g}h{wide:g}v{high:g}h{-wide:g}z" for x, y, wide, high in boxes)
    return f'<path d="{steps}" {colours.stroke(colour)} stroke-width="{width:g}"/>'


def _words(lines: Iterable[tuple[str, float, float]], colour: str, weight: str = "400") -> str:
    """Write lines of words in one colour and the small size, without what each would repeat."""
    inside = "".join(f'<text x="{x:.0f}" y="{y:.0f}">{escape(words)}</text>' for words, x, y in lines)
    return f'<g font-size="{SMALL}" font-weight="{weight}" {colours.fill(colour)}>{inside}</g>'
