"""Page parts: what a run is shown by, once or beside another: a stage of two columns, a picture without its style."""

from __future__ import annotations

import re
from typing import NamedTuple

from labkit.views.picture import Picture
from labkit.views.player.recorded.recording import Recording

Axis = dict[str, float]
"""Where the timeline's time begins and ends, and how high its marks are: left, right, top, bottom."""


COLUMN = (
    r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" class="fill-(\w+) line-\5">'
    r"<title>[^<]*</title></rect>"
)
"""A column of operations that ended in one way: filled and bordered alike."""


class Shown(NamedTuple):
    """A run as a page shows it: what was recorded, its timeline and where that has its axis, its title and facts."""

    recording: Recording
    timeline: Picture
    axis: Axis
    title: str
    facts: str

    @property
    def still(self) -> str:
        """The timeline as HTML for a page that has its style, and says in a table what it says."""
        said = "What became of clusters and nodes; the table below says the same."
        return bare(self.timeline._replace(description=said).figure)


def two_columns(which: str, words: str, timeline: str, more: str = "", below: str = "") -> str:
    """Return a stage: the map, which the script fills, and the timeline; identifiers end in ``which``."""
    drawn = (
        f'<div class="live"><div id="map{which}" class="labkit-picture" tabindex="0" role="group" '
        f'aria-label="{words}" aria-describedby="said{which}"></div>{more}</div>'
    )
    shown = timeline.replace('<div class="labkit-picture"', f'<div id="time{which}" class="labkit-picture"', 1)
    return f'<div id="stage{which}" class="stage">{drawn}<div>{shown}{below}</div></div>'


def bare(picture: str) -> str:
    """Return a picture without what its page says or need not: style, values of colours, font, outlines of words.

    Its label says what its title and description say; a line has nothing to fill, and is one pixel wide by itself.
    """
    found = re.sub(r"<style>.*?</style>|(?<=\n)<title>[^<]*</title><desc>[^<]*</desc>\n", "", picture, flags=re.DOTALL)
    outlined = 'paint-order="stroke" stroke-width="4" stroke-linejoin="round"'
    known = r'xmlns="[^"]*"|font-family="[^"]*"|text-anchor="start"'
    found = re.sub(rf' (?:(?:fill|stroke)="#[0-9a-f]{{6}}"|{outlined}|{known})', "", found)
    found = re.sub(r'(<line [^>]*) fill="none"(?: stroke-width="1"(?=/>))?', r"\1", found)
    found = re.sub(r'(?<=\d)\.0(?=")', "", found)
    return "\n".join(_merged(found.split("\n")))


def _merged(lines: list[str]) -> list[str]:
    """Return elements, one a line, with the columns of one colour as one shape: the sentence below says how many.

    Each column is drawn up from its foot, which is said by how far it is from the one before: equal steps pack well.
    """
    kept: list[str] = []
    steps: dict[str, str] = {}
    feet: dict[str, tuple[float, float]] = {}
    for line in lines:
        column = re.fullmatch(COLUMN, line)
        if column is None:
            kept.append(line)
            continue
        *box, colour = column.groups()
        x, y, width, height = map(float, box)
        if colour not in steps:
            kept.append(colour)
        last_x, last_y = feet.get(colour, (0, 0))
        feet[colour] = x, y + height
        move = f"m{_number(x - last_x)} {_number(y + height - last_y)}"
        steps[colour] = f"{steps.get(colour, '')}{move}v-{_number(height)}h{_number(width)}v{_number(height)}z"
    return [f'<path d="{steps[line]}" class="fill-{line} line-{line}"/>' if line in steps else line for line in kept]


def _number(value: float) -> str:
    """Return a length as it is written: what pictures have has one digit after the point."""
    return f"{round(value, 1):g}"
