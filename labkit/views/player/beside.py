"""Beside: a run under another in one player: both at the same instant, and where they part as ``compare`` found it.

1. Both are on screen as long as the slower of the two needs; the cursor goes to the end of the longer one.
2. Of the other run map, timeline and sentence are shown; what is asked is asked of the first.
"""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

from labkit.views.comparison import Comparison
from labkit.views.player.data import data_of, paced
from labkit.views.player.message_columns import microseconds
from labkit.views.player.packed_columns import packed
from labkit.views.player.page_parts import Shown, two_columns
from labkit.views.player.recorded.recording import Recording, stretches_of
from labkit.views.player.stage import stage_of


class RunBeside(NamedTuple):
    """The other run, as it is shown, and where it parts from the first."""

    shown: Shown
    found: Comparison

    def data(self, first: Recording) -> dict[str, Any]:
        """Return what the script is given beside the first run: the other, their common pace and first difference."""
        recording = self.shown.recording
        mine = recording._replace(explanations={}, losses=(), trees=None)
        apart = None if self.found.at_ns is None else microseconds(self.found.at_ns)
        other = {**packed(data_of(mine, stage_of(mine))), "axis": self.shown.axis, "apart": apart}
        lost = [[microseconds(loss.write.at_ns), microseconds(loss.promoted_ns)] for loss in recording.losses]
        pace = paced(stretches_of(first, recording))
        return {"beside": {**other, "lost": lost}, "apart": apart, "pace": pace}

    @property
    def html(self) -> str:
        """The part of the page that shows it."""
        stage = two_columns("-beside", "map of the other run", self.shown.still)
        lines = "".join(f"<p>{escape(line)}</p>" for line in self.found.text.splitlines())
        heading = f'<h2>The other run: {escape(self.shown.title)}</h2><p class="faint">{escape(self.shown.facts)}</p>'
        return f'<section>{heading}{stage}<p id="said-beside" class="said live"></p>{lines}</section>'
