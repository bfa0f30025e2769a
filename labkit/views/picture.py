"""Picture: an SVG with a description in words, shown by a notebook as plain HTML.

1. Every picture has a title and a description (alternative text), and shows nothing by colour only.
2. It is as wide as its place, within limits that keep its smallest text at 12 pixels or more; below that it scrolls,
   by keyboard too: it is one tab stop.
3. It follows light and dark pages (``colours``) and leaves their background as it is.
4. It has no ids, so a page may show any pictures any number of times.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.views import colours
from labkit.views.saving import Saved, save, table_of

if TYPE_CHECKING:
    from pathlib import Path

    from pandas import DataFrame

FONT = "ui-sans-serif, system-ui, sans-serif"
SMALL, NORMAL, LARGE = 13, 14, 16
LEAST_PX = 12
WIDEST = 1.4
HATCH_STEP = 7
NOT_SHOWN = frozenset(("columns", "count", "elements", "index", "rows"))
"""What completion does not offer: what a tuple has, and what builders of pictures read."""


class Picture(NamedTuple):
    """A drawing: its size in pixels, its title, its description in words, and the SVG elements inside.

    ``rows`` say in a table what the description says; a picture that is part of something else has none.
    """

    width: int
    height: int
    title: str
    description: str
    elements: tuple[str, ...]
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()

    def __repr__(self) -> str:
        return f"Picture({self.title}: {self.description})"

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if name not in NOT_SHOWN]

    @property
    def svg(self) -> str:
        """The picture as an SVG document."""
        title, description = escape(self.title), escape(self.description)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="labkit" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" font-family="{FONT}" '
            f'aria-label="{title}. {description}">'
        )
        words = f"<title>{title}</title><desc>{description}</desc>"
        return "\n".join((head, words, f"<style>{colours.STYLE}</style>", *self.elements, "</svg>"))

    def to_frame(self) -> DataFrame:
        """Return what the picture says as a data frame: a row for each of the description's sentences."""
        from pandas import DataFrame

        return DataFrame(list(self.rows), columns=list(self.columns))

    def save(self, path: str | Path) -> None:
        """Write it to a file: ``.svg``, ``.png`` (needs the extra ``png``), ``.html`` with its table, or ``.json``."""
        save(path, Saved(self.title, self.description, self.svg, self.columns, self.rows))

    def _repr_html_(self) -> str:
        return self.figure + (table_of(self.columns, self.rows) if self.rows else "")

    @property
    def figure(self) -> str:
        """The picture as HTML, without its table."""
        least, widest = -(-self.width * LEAST_PX // SMALL), int(self.width * WIDEST)
        sizes = f"--least:{least}px;--widest:{widest}px"
        return f'<div class="labkit-picture" tabindex="0" style="{sizes}">{self.svg}</div>'


def stacked(pictures: Sequence[Picture]) -> Picture:
    """Return pictures one below the other as one."""
    if len(pictures) == 1:
        return pictures[0]
    elements: list[str] = []
    height = 0
    for picture in pictures:
        elements += [f'<g transform="translate(0 {height})">', *picture.elements, "</g>"]
        height += picture.height
    said = " ".join([picture.description for picture in pictures])
    return Picture(max(picture.width for picture in pictures), height, pictures[0].title, said, tuple(elements))


def text(x: float, y: float, words: str, *, size: int = NORMAL, colour: str = "ink", anchor: str = "start") -> str:
    """Write words at a point, with a halo in the background's colour so that lines do not cross them."""
    halo = "" if colour == "on" else ' paint-order="stroke" stroke-width="4" stroke-linejoin="round"'
    paint = colours.fill(colour) if colour == "on" else colours.both(colour, "paper")
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" {paint} text-anchor="{anchor}"{halo}>{escape(words)}</text>'
    )


def line(ends: tuple[float, float, float, float], *, colour: str = "faint", dash: str = "", width: float = 1) -> str:
    """Draw a straight line (x1, y1, x2, y2); with ``dash`` such as ``4 3`` a dashed one."""
    x1, y1, x2, y2 = ends
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    places = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {places} {colours.stroke(colour)} stroke-width="{width:g}"{dashes}/>'


def rectangle(
    box: tuple[float, float, float, float], *, fill: str, note: str = "", border: str = "", rounded: int = 0
) -> str:
    """Draw a rectangle (x, y, width, height); ``note`` is shown when the pointer rests on it."""
    x, y, width, height = box
    paint = colours.both(fill, border) if border else colours.fill(fill)
    corners = f' rx="{rounded}"' if rounded else ""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}"'
    return f"<rect {place}{corners} {paint}>{_hint(note)}</rect>"


def circle(x: float, y: float, radius: float, *, fill: str, note: str = "", border: str = "ink") -> str:
    """Draw a circle; ``note`` is shown when the pointer rests on it."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" {colours.both(fill, border)}>{_hint(note)}</circle>'


def polygon(points: Sequence[tuple[float, float]], *, fill: str, border: str = "") -> str:
    """Draw a filled shape with straight edges."""
    paint = colours.both(fill, border) if border else colours.fill(fill)
    return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" {paint}/>'


def strokes(parts: Sequence[tuple[float, float, float, float]], *, colour: str, width: float = 1) -> str:
    """Draw straight lines, all in one colour."""
    steps = "".join(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" for x1, y1, x2, y2 in parts)
    return f'<path d="{steps}" {colours.stroke(colour)} stroke-width="{width:g}"/>'


def blocks(boxes: Sequence[tuple[float, float, float, float]], *, fill: str) -> str:
    """Draw filled rectangles, all in one colour, as one shape."""
    steps = "".join(f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}z" for x, y, width, height in boxes)
    return f'<path d="{steps}" {colours.fill(fill)}/>'


def hatch(box: tuple[float, float, float, float], *, colour: str) -> str:
    """Draw diagonal lines over a rectangle."""
    return strokes(_diagonals(box), colour=colour, width=1.6)


def cross_hatch(box: tuple[float, float, float, float], *, colour: str) -> str:
    """Draw diagonal lines over a rectangle, both ways."""
    _, y, _, height = box
    rising = _diagonals(box)
    mirrored = [(x1, 2 * y + height - y1, x2, 2 * y + height - y2) for x1, y1, x2, y2 in rising]
    return strokes([*rising, *mirrored], colour=colour, width=1.2)


def _diagonals(box: tuple[float, float, float, float]) -> list[tuple[float, float, float, float]]:
    x, y, width, height = box
    parts = []
    offset = -height + HATCH_STEP / 2
    while offset < width:
        start, end = max(offset, 0.0), min(offset + height, width)
        if end > start:
            parts.append((x + start, y + height - (start - offset), x + end, y + height - (end - offset)))
        offset += HATCH_STEP
    return parts


def cross(x: float, y: float, size: float, *, colour: str) -> str:
    """Draw a cross on a ground in the background's colour."""
    lines = ((x - size, y - size, x + size, y + size), (x - size, y + size, x + size, y - size))
    ground = circle(x, y, size + 3, fill="paper", border="paper")
    return ground + strokes(lines, colour=colour, width=2.5)


def arrow_head(x: float, y: float, dx: float, dy: float, *, colour: str) -> str:
    """Draw the head of an arrow that ends at a point; (dx, dy) is its direction, of length 1."""
    base_x, base_y = x - 11 * dx, y - 11 * dy
    return polygon(((x, y), (base_x - 5 * dy, base_y + 5 * dx), (base_x + 5 * dy, base_y - 5 * dx)), fill=colour)


def _hint(note: str) -> str:
    return f"<title>{escape(note)}</title>" if note else ""
