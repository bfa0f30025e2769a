"""Page: one HTML document that plays a run by itself; it asks nobody for anything, and says so to the browser.

1. Everything is in the document: style, script, data.  Its policy forbids any request.
2. Timeline and tables are there without the script too; what needs the script is hidden until it runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from labkit.service.durations import in_seconds
from labkit.views.player.beside import RunBeside
from labkit.views.player.data import data_of
from labkit.views.player.map_signs import legend_of
from labkit.views.player.packed_columns import packed
from labkit.views.player.page_parts import Shown, two_columns
from labkit.views.player.recorded.recording import MAX_LOST_SHOWN, Recording
from labkit.views.player.script import script, short_keys
from labkit.views.player.stage import stage_of
from labkit.views.player.style import style

TREES, BESIDE = "trees", "beside"
"""The modules that a page has only where trees were recorded, or another run is beside."""
SPOKEN = '<p id="spoken" role="status" aria-live="polite"></p>'
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
KEYS = (
    "Keys, on timeline and map: left, right: event, with shift a millisecond; comma, point: any message; Page Up, Page "
    "Down: what happened; Home, End; space: play; t: true pace; + -: faster, slower; z x: zoom, as a drag with shift; "
    "< >: scroll; Enter: why; Escape closes that; up, down on the map: a message."
)
NO_TREES = "Which pages of the trees differ was not recorded: call lab.keep_pictures() before the run."
BUTTONS = (
    ("play", "Play", "space"),
    ("previous", "Earlier", "Page Up"),
    ("back", "Step back", "left"),
    ("forward", "Step", "right"),
    ("next", "Later", "Page Down"),
    ("slower", "Slower", "-"),
    ("faster", "Faster", "+"),
    ("true", "True pace", "t"),
    ("ask", "Why?", "Enter"),
    ("in", "Zoom in", "z"),
    ("out", "Zoom out", "x"),
)
"""The buttons: identifier, words, and the key that does the same."""
APART = ("apart", "First difference", "d")


class Section:
    """A part of the page beside the player: its heading and its HTML, which is trusted.

    What is to be looked up, and not read first, is ``looked_up``: it stands at the end.
    """

    __slots__ = ("heading", "html", "looked_up")

    def __init__(self, heading: str, html: str, *, looked_up: bool = False) -> None:
        self.heading, self.html, self.looked_up = heading, html, looked_up

    @property
    def shown(self) -> str:
        """The section as a part of the page."""
        return f"<section><h2>{escape(self.heading)}</h2>{self.html}</section>"

    def __repr__(self) -> str:
        return f"Section({self.heading})"


def page_of(shown: Shown, sections: Sequence[Section] = (), beside: RunBeside | None = None) -> str:
    """Return the document: below the player stand ``sections``, what was lost, what happened, what is looked up."""
    recording, title = shown.recording, escape(shown.title)
    data = {**packed(data_of(recording, stage_of(recording))), "axis": shown.axis}
    if beside is not None:
        data |= beside.data(recording)
    left_out = frozenset(name for name, is_there in ((TREES, recording.trees), (BESIDE, beside)) if is_there is None)
    data = _with_keys(data, short_keys(left_out))
    # A text of the run must not end the script that it stands in.
    said = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    first, last = ("".join(one.shown for one in sections if one.looked_up is is_last) for is_last in (False, True))
    return "\n".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{style(has_trees=recording.trees is not None)}</style>",
            '</head><body class="still"><main>',
            f'<header><h1>{title}</h1><p class="faint">{escape(shown.facts)}</p></header>',
            "<noscript><p>Without scripts nothing moves: timeline and tables say what happened.</p></noscript>",
            _player(shown, beside),
            first,
            lost_table(recording),
            happened_table(recording),
            last,
            f"</main><script>(() => {{{script(left_out)}",
            f"window.player = startPlayer({said});}})();</script>",
            "</body></html>",
        )
    )


def _with_keys(data: Any, names: Mapping[str, str]) -> Any:
    """Return data whose keys are named as the script of a page has them; lists hold none."""
    if not isinstance(data, dict):
        return data
    return {names.get(key, key): _with_keys(value, names) for key, value in data.items()}


def parts_of_page(shown: Shown) -> dict[str, Any]:
    """Return what a page that has a player shows of a run: its data, its timeline, what happened, and its legend."""
    data = {**data_of(shown.recording, stage_of(shown.recording)), "axis": shown.axis}
    tables = f"{lost_table(shown.recording)}{happened_table(shown.recording)}"
    return {"data": data, "timeline": shown.still, "tables": tables, "legend": legend_of(shown.recording)}


def _player(shown: Shown, beside: RunBeside | None) -> str:
    """Return the parts that the script fills, hidden until it runs, around the timeline, and those of a run beside.

    What is pressed stands above the pictures, what it changes beside or below them: both are in view together.
    """
    trees = "" if shown.recording.trees is not None else f'<p class="faint">{NO_TREES}</p>'
    rows = (*BUTTONS, APART) if beside is not None and beside.found.at_ns is not None else BUTTONS
    buttons = "".join(f'<button id="{name}" title="{key}">{words}</button>' for name, words, key in rows)
    controls = (
        f'<div class="bar live"><div id="controls" role="toolbar" aria-label="controls">{buttons}</div>'
        f'<p><b id="speed"></b></p></div>{SPOKEN}'
    )
    legend = "".join(f"<span>{escape(words)}</span>" for words in legend_of(shown.recording))
    more = (
        '<section id="answer" tabindex="-1" aria-label="why" hidden></section>'
        f'<p id="said" class="said"></p><p><span id="got"></span></p><div id="trees">{trees}</div>'
    )
    below = f'<div id="zoom" class="labkit-picture" hidden></div><p id="legend" class="live faint">{legend}</p>'
    stage = two_columns("", "map with messages", shown.still, more, below)
    keys = f'<p id="keys" class="live faint">{escape(KEYS)}</p>'
    return f"{controls}{stage}{keys}{'' if beside is None else beside.html}"


def happened_table(recording: Recording) -> str:
    """Return everything that happened as a table; what is only counted is said below it."""
    rows = "".join(
        f"<tr><td>{in_seconds(one.at_ns)}<td>{one.kind}<td>{escape(one.words)}" for one in recording.happenings
    )
    left = [f"{one.words} {one.times} times" for one in recording.left]
    shown = len(recording.messages)
    left += [f"{recording.total - shown:,} of {recording.total:,} messages"] if shown < recording.total else []
    note = f"<p>Left out: {escape('; '.join(left))}.</p>" if left else ""
    return (
        f'<section><h2>What happened</h2><div class="table"><table id="happened"><thead><tr><th>second<th>kind'
        f"<th>what</thead><tbody>{rows}</tbody></table></div>{note}</section>"
    )


def lost_table(recording: Recording) -> str:
    """Return the lost writes as a table; nothing where none is lost."""
    if not recording.losses:
        return ""
    shown = recording.losses[:MAX_LOST_SHOWN]
    rows = "".join(
        f"<tr><td>{in_seconds(loss.write.at_ns)}<td>{escape(loss.write.client)}<td>{escape(loss.write.path)}"
        f'<td class="number">{in_seconds(max(loss.promoted_ns, loss.write.at_ns))}'
        for loss in shown
    )
    more = f"<p>and {len(recording.losses) - len(shown)} more</p>" if len(recording.losses) > len(shown) else ""
    more += "".join(f"<p>{escape(words)}</p>" for words in recording.lacked)
    return (
        f"<section><h2>Acknowledged writes that are lost: {len(recording.losses)}</h2>"
        '<div class="table"><table id="lost"><thead><tr><th>acknowledged, second<th>client<th>path'
        f"<th class='number'>lost, second</thead><tbody>{rows}</tbody></table></div>{more}</section>"
    )


def parts_of(value: Any) -> Any:
    """Return records as plain values, for JSON."""
    if hasattr(value, "_asdict"):
        return {name: parts_of(part) for name, part in value._asdict().items()}
    if isinstance(value, dict):
        return {str(name): parts_of(part) for name, part in value.items()}
    return [parts_of(part) for part in value] if isinstance(value, tuple | list) else value
