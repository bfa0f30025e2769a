"""Picture: an SVG with a description in words, shown by a notebook as plain HTML.

Every picture has a title and a description (alternative text), and shows nothing by colour only.
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple
from zlib import crc32

FONT = "ui-sans-serif, system-ui, sans-serif"

INK, FAINT, PAPER = "#1f2933", "#7b8794", "#ffffff"
COLOURS = {
    "primary": "#1d6fa5",
    "secondary": "#2f855a",
    "disabled": "#8492a6",
    "sealed": "#b7791f",
    "down": "#c53030",
    "standby": "#e4e7eb",
}


class Picture(NamedTuple):
    """A drawing: its size in pixels, its title, its description in words, and the SVG elements inside."""

    width: int
    height: int
    title: str
    description: str
    elements: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Picture({self.title}: {self.description})"

    @property
    def svg(self) -> str:
        """The picture as an SVG document."""
        # ids must be unique in a page that shows many pictures
        unique = f"{crc32(f'{self.title} {self.description}'.encode()):08x}"
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" font-family="{FONT}" aria-labelledby="title-{unique} words-{unique}">'
        )
        title = f'<title id="title-{unique}">{escape(self.title)}</title>'
        words = f'{title}<desc id="words-{unique}">{escape(self.description)}</desc>'
        paper = f'<rect width="{self.width}" height="{self.height}" fill="{PAPER}"/>'
        return "\n".join((head, words, paper, *self.elements, "</svg>"))

    def _repr_html_(self) -> str:
        return f'<div style="max-width:100%;overflow-x:auto">{self.svg}</div>'

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}


def text(x: float, y: float, words: str, *, size: int = 12, colour: str = INK, anchor: str = "start") -> str:
    """Write words at a point, with a halo in the background colour so that lines do not cross them."""
    halo = "" if colour == PAPER else f' stroke="{PAPER}" stroke-width="4" paint-order="stroke"'
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{halo}>'
        f"{escape(words)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, *, colour: str = FAINT, dash: str = "") -> str:
    """Draw a straight line; with ``dash`` such as ``4 3`` a dashed one."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="1"{dashes}/>'


def rectangle(x: float, y: float, width: float, height: float, *, fill: str, note: str = "") -> str:
    """Draw a rectangle; ``note`` is shown when the pointer rests on it."""
    hint = f"<title>{escape(note)}</title>" if note else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" fill="{fill}">{hint}</rect>'
    )


def circle(x: float, y: float, radius: float, *, fill: str, note: str = "", border: str = INK) -> str:
    """Draw a circle; ``note`` is shown when the pointer rests on it."""
    hint = f"<title>{escape(note)}</title>" if note else ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{border}">{hint}</circle>'
