"""Report: lays a verdict out as a table, and a run that is not as expected with what a reader needs to see why.

A report fits on one screen: the verdict; each expectation that was not met, with its position in the file; the last
events; and the command that plays the same run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from shlex import quote
from textwrap import wrap
from typing import TYPE_CHECKING

from labkit.scenario.event_log import event_log
from labkit.scenario.problems import excerpt
from labkit.scenario.witnesses import NO_EFFECT

if TYPE_CHECKING:
    from labkit.scenario.measures import VerdictRow
    from labkit.scenario.scenario import Scenario
    from labkit.trace import Trace

MAX_FAILURES = 3
MAX_EVENTS = 5
MAX_CELL_CHARACTERS, MIN_CELL_CHARACTERS = 56, 8
GAP = "  "
HEADINGS = ("", "expected", "measured", "verdict")


def report(scenario: Scenario, seed: int, summary: str, failures: Sequence[VerdictRow], trace: Trace) -> str:
    """Return the text about a run that was not as expected."""
    # The row of the whole timeline only counts the steps that have rows of their own.
    failures = [row for row in failures if row.key != "timeline"]
    lines = [summary]
    for row in failures[:MAX_FAILURES]:
        lines += _failure(scenario, row)
    if len(failures) > MAX_FAILURES:
        more = failures[MAX_FAILURES:]
        lines.append(f"and {len(more)} more: {', '.join(row.what for row in more)}")
    lines += ["the last events:", *map(str, event_log(trace)[-MAX_EVENTS:])]
    if scenario.path:
        only = f" --only {quote(scenario.combination.id)}" if scenario.combination.values else ""
        lines.append(f"to run it again: labkit run {quote(scenario.path)} --seed {seed}{only}")
    return "\n".join(lines)


def _failure(scenario: Scenario, row: VerdictRow) -> list[str]:
    """One expectation that was not met, as ``file:line:column: what: expected this, got that``, and its excerpt."""
    position, file = scenario.position_of(row.key), f"{scenario.path}:" if scenario.path else ""
    where = f"{file}{position.line}:{position.column}: " if position else f"{file} " if file else ""
    said = f"expected {row.expected or 'something else'}, got {row.measured}"
    if row.measured.startswith(NO_EFFECT):
        said = f"{row.measured}; expected {row.expected}"
    text = f"{where}{row.what}: {said} ({row.status})"
    return [text, *(excerpt(scenario.lines, position) if position else ())]


def table(rows: Sequence[VerdictRow], summary: str, columns: int = 0) -> str:
    """Return a verdict's rows as a table in plain text, with its summary below; 0 columns: as wide as it is."""
    return "\n".join([*columns_of([HEADINGS, *(row[:4] for row in rows)], columns), "", summary])


def columns_of(cells: Sequence[Sequence[str]], columns: int) -> list[str]:
    """Lay rows out in columns, the headings first; a long cell continues on the line below."""
    widths = _widths(cells, columns)
    lines: list[str] = []
    rule = GAP.join("-" * width for width in widths)
    for row in cells:
        wrapped = [wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
        for number in range(max(map(len, wrapped))):
            parts = (column[number] if number < len(column) else "" for column in wrapped)
            lines.append(GAP.join(f"{part:<{width}}" for part, width in zip(parts, widths, strict=True)).rstrip())
        if row is cells[0]:
            lines.append(rule)
    return lines


def _widths(cells: Sequence[Sequence[str]], columns: int) -> list[int]:
    """Return the width of each column; with little room headings are wrapped first, then cells, at last words."""
    places = range(len(cells[0]))
    widths = [min(MAX_CELL_CHARACTERS, max(len(row[place]) for row in cells)) for place in places]
    words = [max((len(word) for row in cells for word in row[place].split()), default=0) for place in places]
    bodies = [max((len(row[place]) for row in cells[1:]), default=0) for place in places]
    for limits in (list(map(max, words, bodies)), words, [MIN_CELL_CHARACTERS] * len(words)):
        while columns and sum(widths) + len(GAP) * places[-1] > columns:
            spare = [width if width > limit else 0 for width, limit in zip(widths, limits, strict=True)]
            if not any(spare):
                break
            widths[spare.index(max(spare))] -= 1
    return widths


def html_table(rows: Sequence[VerdictRow], summary: str) -> str:
    """Return a verdict's rows as a table in HTML, with its summary as the caption."""
    heads = "".join(f"<th scope='col'>{escape(head)}</th>" if head else "<td></td>" for head in HEADINGS)
    body = "".join(
        f"<tr><th scope='row'>{escape(row.what)}</th>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in (row.expected, row.measured, row.status))
        + "</tr>"
        for row in rows
    )
    return f"<table><caption>{escape(summary)}</caption><tr>{heads}</tr>{body}</table>"
