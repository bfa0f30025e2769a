"""Player: a run as an object: a page that plays it, shown by a notebook in a frame, and saved to a file.

1. The frame may run scripts and nothing else: it has no origin, no forms, no windows.
2. Beside it stand the timeline and a table of all that happened, which remain where scripts may not run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.service.arguments import wrong
from labkit.service.durations import in_seconds
from labkit.views import timeline
from labkit.views.comparison import Comparison
from labkit.views.layout.timeline_layout import RIGHT, WIDTH
from labkit.views.picture import Picture
from labkit.views.player.beside import RunBeside
from labkit.views.player.frame import frame_heights
from labkit.views.player.page import Section, happened_table, page_of, parts_of, parts_of_page
from labkit.views.player.page_parts import Axis, Shown
from labkit.views.player.recorded.recording import Recording, recording_of

if TYPE_CHECKING:
    from labkit.lab.invariants import Invariants
    from labkit.lab.measures.tree_record import TreeRecord
    from labkit.lab.queries import Queries

TRUST = "Nothing moves above? The command palette trusts a notebook: Trust Notebook. Here is the same without scripts"


class Player:
    """A run that can be played; ``save`` writes it to a file of its own, which needs nothing else."""

    def __init__(self, recording: Recording, drawn: Picture, axis: Axis, title: str, facts: str) -> None:
        self.recording, self.timeline, self.axis = recording, drawn, axis
        self.title, self.facts = title, facts
        self.sections: tuple[Section, ...] = ()
        self._beside: RunBeside | None = None
        self.more: Mapping[str, Any] = {}

    def __repr__(self) -> str:
        return f"Player({self.title}: {in_seconds(self.recording.end_ns)} s, {self.recording.total} messages)"

    @cached_property
    def html(self) -> str:
        """The page: one HTML document, which asks nobody for anything."""
        return page_of(self._shown, self.sections, self._beside)

    @property
    def _shown(self) -> Shown:
        return Shown(self.recording, self.timeline, self.axis, self.title, self.facts)

    @property
    def parts(self) -> dict[str, Any]:
        """The run for a page that has a player already: its data, and as HTML its timeline and its tables."""
        return parts_of_page(self._shown)

    def to_dict(self) -> dict[str, Any]:
        """Return what was recorded as plain values; instants in nanoseconds."""
        found: dict[str, Any] = parts_of(self.recording._replace(losses=()))
        losses = [
            {
                "at_ns": loss.write.at_ns,
                "client": loss.write.client,
                "path": loss.write.path,
                "promoted_ns": loss.promoted_ns,
                "messages": list(loss.way),
                "why": parts_of(loss.explanation),
            }
            for loss in self.recording.losses
        ]
        return {"title": self.title, "facts": self.facts, **self.more, **found, "losses": losses}

    def with_sections(self, sections: Iterable[Section], more: Mapping[str, Any]) -> Player:
        """Return a player of the same run with more in its page, and the same as plain values."""
        player = Player(self.recording, self.timeline, self.axis, self.title, self.facts)
        player.sections, player.more, player._beside = tuple(sections), more, self._beside
        return player

    def with_beside(self, other: Player, found: Comparison) -> Player:
        """Return a player of the same run with another beside it, and where the two part."""
        said = {"beside": other.to_dict(), "part_at_ns": found.at_ns, "parts": found.text}
        player = self.with_sections(self.sections, {**self.more, **said})
        player._beside = RunBeside(other._shown, found)
        return player

    def save(self, path: str | Path) -> None:
        """Write the page to a file that ends in ``.html``, or what was recorded to one that ends in ``.json``."""
        if not isinstance(path, str | Path) or Path(path).suffix not in (".html", ".json"):
            raise wrong("path", "the name of a file that ends in .html or .json", path)
        if Path(path).suffix == ".json":
            text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"
        else:
            text = self.html
        Path(path).write_text(text, encoding="utf-8")

    def _repr_html_(self) -> str:
        wide, narrow = frame_heights(self._shown)
        heights = f"height:{wide}px;--narrow:{narrow}px"  # a page that knows when it is narrow takes the other one
        page = self.html.replace("&", "&amp;").replace("'", "&#39;")
        frame = (
            f"<iframe sandbox='allow-scripts' title='player' style='width:100%;{heights};border:0' "
            f"srcdoc='{page}'></iframe>"
        )
        beside = f"{happened_table(self.recording)}{self.timeline.figure}"  # of this only words stay without trust
        return f"{frame}<details><summary>{TRUST}</summary>{beside}</details>"


def of_lab(
    queries: Queries, invariants: Invariants, title: str, only: str | None = None, pictures: TreeRecord | None = None
) -> Player:
    """Return the player of a lab's run up to now; see ``of_interest`` for ``only``."""
    if only is not None and not isinstance(only, str):
        raise wrong("only", "replication, clients, or nothing for what faults touch", only)
    recording = recording_of(queries, invariants, only, pictures)
    placed = timeline.layout_of_lab(queries)
    axis = {"left": placed.left, "right": WIDTH - RIGHT, "top": placed.top, "bottom": placed.operations_y}
    facts = (
        f"seed {recording.seed}, {in_seconds(recording.end_ns)} s of lab time, {recording.total:,} messages, "
        f"trace digest {queries.parts.trace.digest()[:16]}"
    )
    return Player(recording, timeline.draw(placed), axis, title, facts)
