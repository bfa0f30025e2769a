"""Said: what a lesson answers, as text and as HTML that says the same; tables of results.

1. Nothing here needs a widget, a script or a kernel: an export and a printed page show the same words.
2. The outcome is a word; a sign stands beside it, never colour only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from labkit.service.arguments import wrong

NOT_ATTEMPTED, NOT_YET, RIGHT, CANNOT_JUDGE = "not attempted", "not yet", "right", "cannot judge"
READABLE_EXPORT = (
    f"<style>{Path(__file__).with_name('export_template').joinpath('export.css').read_text('utf-8')}</style>"
)
"""What makes a page of a lesson readable, on paper too, whatever template nbconvert makes it with."""
LEFT, BROKEN = "text-align:left", ";overflow-wrap:anywhere"
MAX_WHOLE = 16
SIGNS = {NOT_ATTEMPTED: "○", NOT_YET: "△", RIGHT: "●", CANNOT_JUDGE: "?"}


class Said(NamedTuple):
    """An answer: its first word or two, its sentences, and what is drawn below them, if anything."""

    outcome: str
    lines: tuple[str, ...]
    drawn: Any = None

    def __repr__(self) -> str:
        first, *others = self.lines or ("",)
        shown = [repr(self.drawn)] if self.drawn is not None else []
        return "\n".join((f"{self.outcome.upper()}: {first}", *(f"  {line}" for line in [*others, *shown])))

    def _repr_html_(self) -> str:
        sign = f"{SIGNS[self.outcome]} " if self.outcome in SIGNS else ""
        first, *others = self.lines or ("",)
        page = f"<p><strong>{sign}{escape(self.outcome)}</strong>: {_html(first)}</p>"
        page += "".join(f"<p>{_html(line)}</p>" for line in others)
        drawn = "" if self.drawn is None else self.drawn._repr_html_()
        return f'<section class="labkit-said">{page}{drawn}</section>'


class GivenText(str):
    """A text that a lesson hands out, shown as it stands."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f'<pre tabindex="0"><code>{escape(self)}</code></pre>'


class RowTable:
    """Rows of results under named columns; every row has the same."""

    __slots__ = ("columns", "rows", "title")

    def __init__(self, title: str, rows: Iterable[Mapping[str, Any]]) -> None:
        kept = [{str(name): str(value) for name, value in row.items()} for row in rows]
        self.title = title
        self.columns = tuple(kept[0]) if kept else ()
        if any(tuple(row) != self.columns for row in kept):
            raise wrong("rows", f"rows with the columns {', '.join(self.columns)}", [tuple(row) for row in kept])
        self.rows = tuple([tuple(row.values()) for row in kept])

    def __repr__(self) -> str:
        every = (self.columns, *self.rows)
        widths = [max(len(row[place]) for row in every) for place in range(len(self.columns))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in every
        ]
        return "\n".join((self.title, *lines))

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col" style="{LEFT}">{escape(name)}</th>' for name in self.columns)
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in self.rows)
        caption = f'<caption style="{LEFT};white-space:nowrap">{escape(self.title)}</caption>'
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def table(title: str, rows: Iterable[Mapping[str, Any]]) -> RowTable:
    """Show rows, each a mapping of column names to values, as a table with a title."""
    return RowTable(title, rows)


def raised(error: BaseException) -> str:
    """Return an error in words: its kind and its text, also where it has none."""
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else f"{type(error).__name__} without a text"


def _cell(text: str) -> str:
    """Return a cell as HTML; a word that would make its table wider than a page is broken where the page ends."""
    is_long = any(len(word) > MAX_WHOLE for word in text.split())
    return f'<td style="{LEFT}{BROKEN if is_long else ""}">{escape(text)}</td>'


def _html(line: str) -> str:
    """Return a sentence as HTML; what stands between backticks is code."""
    parts = line.split("`")
    if len(parts) % 2 == 0:
        return escape(line)
    return "".join(f"<code>{escape(part)}</code>" if place % 2 else escape(part) for place, part in enumerate(parts))
