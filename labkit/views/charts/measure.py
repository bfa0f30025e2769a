"""Measure: something counted of a lab, as a finding in one sentence, a table of typed columns, a data frame, pictures.

1. Columns, their types and the index are the same whatever was counted, nothing included; units stand last in a name.
2. The picture's words and the table come from the same rows.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.trace import Trace
from labkit.views.picture import Picture, stacked
from labkit.views.saving import Saved, counted, save

if TYPE_CHECKING:
    from pathlib import Path

    from pandas import DataFrame

MAX_ROWS = 200
TEXT, WHOLE, REAL, FLAG = "string", "int64", "float64", "bool"


class MeasuredColumn(NamedTuple):
    """One column of a measure's table: its name, its type, what it says, and whether it is part of the index."""

    name: str
    kind: str
    meaning: str
    is_index: bool = False


class Measure(NamedTuple):
    """What was counted: a name, the finding, columns, rows of plain values, and pictures of them."""

    name: str
    finding: str
    columns: tuple[MeasuredColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    pictures: tuple[Picture, ...]

    def __repr__(self) -> str:
        return f"Measure({self.name}: {self.finding})"

    @property
    def text(self) -> str:
        """All that the pictures show, in words."""
        return "\n".join(picture.description for picture in self.pictures)

    def to_frame(self) -> DataFrame:
        """Return the rows as a pandas data frame; ``columns`` says what stands in each column."""
        from pandas import DataFrame, Index, MultiIndex, Series

        values = {
            column.name: Series([row[place] for row in self.rows], dtype=column.kind)
            for place, column in enumerate(self.columns)
        }
        index = [column.name for column in self.columns if column.is_index]
        levels = [values.pop(name) for name in index]
        frame = DataFrame(values)
        frame.index = (
            Index(levels[0], name=index[0]) if len(levels) == 1 else MultiIndex.from_arrays(levels, names=index)
        )
        return frame

    def save(self, path: str | Path) -> None:
        """Write it to a file: ``.svg``, ``.png`` (needs the extra ``png``), ``.html`` with its table, or ``.json``."""
        drawn = stacked(self.pictures)
        save(
            path, Saved(drawn.title, drawn.description, drawn.svg, tuple([one.name for one in self.columns]), self.rows)
        )

    def _repr_html_(self) -> str:
        return "".join(picture.figure for picture in self.pictures) + self._table()

    def _table(self) -> str:
        """Return the first rows as a table that can be opened, and what its columns say."""
        head = "".join(f'<th scope="col">{escape(column.name)}</th>' for column in self.columns)
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(_said(value))}</td>' for value in row)}</tr>" for row in self.rows[:MAX_ROWS]
        )
        left = len(self.rows) - MAX_ROWS
        more = f"<p>and {left} more rows: <code>to_frame()</code></p>" if left > 0 else ""
        meanings = "".join(
            f"<li><code>{escape(column.name)}</code>: {escape(column.meaning)}</li>" for column in self.columns
        )
        summary = f"<summary>{escape(self.name)} as a table: {counted(len(self.rows))}</summary>"
        table = f"<div style='overflow-x:auto'><table><tr>{head}</tr>{rows}</table></div>"
        return f"<details>{summary}{table}{more}<ul>{meanings}</ul></details>"


def _said(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def needs_trace(trace: Trace, name: str) -> Trace:
    """Return a trace; ValueError where a lab keeps none, for a measure that is made from it."""
    if not trace.enabled:
        raise ValueError(f"measures.{name}(): expected a lab that keeps a trace, got one with trace=False")
    return trace
