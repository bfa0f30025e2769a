"""Page parts: what a run is shown by, once or beside another: a stage of two columns, a picture without its style."""

from __future__ import annotations

import re
from typing import NamedTuple

from labkit.views.picture import Picture
from labkit.views.player.recording import Recording

Axis = dict[str, float]
"""Where the timeline's time begins and ends, and how high its marks are: left, right, top, bottom."""


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


def two_columns(which: str, words: str, timeline: str, more: str = "") -> str:
    """Return a stage: the map, which the script fills, and the timeline; identifiers end in ``which``."""
    drawn = (
        f'<div class="live"><div id="map{which}" class="labkit-picture" tabindex="0" role="group" '
        f'aria-label="{words}" aria-describedby="said{which}"></div>{more}</div>'
    )
    shown = timeline.replace('<div class="labkit-picture"', f'<div id="time{which}" class="labkit-picture"', 1)
    return f'<div id="stage{which}" class="stage">{drawn}<div>{shown}</div></div>'


def bare(picture: str) -> str:
    """Return a picture without what the page's own style says: its style, its colours' values, how words stand out."""
    found = re.sub(r"<style>.*?</style>", "", picture, flags=re.DOTALL)
    outlined = 'paint-order="stroke" stroke-width="4" stroke-linejoin="round"'
    found = re.sub(rf' (?:(?:fill|stroke)="#[0-9a-f]{{6}}"|{outlined})', "", found)
    return re.sub(r'(?<=\d)\.0(?=")', "", found)
