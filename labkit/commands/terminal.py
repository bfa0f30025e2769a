"""Terminal: what a command prints fits the terminal that shows it, from 60 columns to 200.

1. A line that is too wide goes on below, under its own text: under the last column of a table's row, else indented by
   four more spaces.  Words are never broken: an address or a token stays whole.
2. Where nothing says how wide that is, as in a pipe, lines are left as they are: a program may read them.
3. Pages are shown by the reader's pager where a terminal shows them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from shutil import get_terminal_size
from textwrap import wrap

MIN_COLUMNS, MAX_COLUMNS = 60, 200
PROSE_COLUMNS = 100

_EXCERPT = re.compile(r"(?: *\d+| {6}) ?\| ")
_COLUMN = re.compile(r"(?<=\S) {2,}(?=\S)")


def columns() -> int:
    """Return how wide lines may be: as ``COLUMNS`` says, or as the terminal is; 0 where neither is known."""
    known = get_terminal_size((0, 0)).columns if "COLUMNS" in os.environ or sys.stdout.isatty() else 0
    return max(MIN_COLUMNS, min(MAX_COLUMNS, known)) if known else 0


def prose_columns() -> int:
    """Return how wide a paragraph may be: wider ones are hard to read."""
    return min(columns() or PROSE_COLUMNS, PROSE_COLUMNS)


def say(*texts: object, sep: str = "\n", end: str = "\n", flush: bool = False) -> None:
    """Print texts, fitted to the terminal."""
    print(fitted(sep.join(map(str, texts)), columns()), end=end, flush=flush)


def show_page(text: str) -> None:
    """Print a page, by the reader's pager where a terminal shows it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print(text)
        return
    from pydoc import pager

    os.environ.setdefault("LESS", "-FRX")  # as git does: a short page is only printed
    pager(f"{text}\n")


def fitted(text: str, width: int) -> str:
    """Return a text whose lines are no wider than a number of columns; 0 leaves them as they are."""
    if not width:
        return text
    lines = text.split("\n")
    return "\n".join(part for number in range(len(lines)) for part in _parts(lines, number, width))


def _parts(lines: list[str], number: int, width: int) -> Iterator[str]:
    line = lines[number]
    gutter = _EXCERPT.match(line)
    if gutter:
        yield _window(lines, number, gutter.end(), width)
        return
    if len(line) <= width:
        yield line
        return
    hang = " " * _hang(line, width)
    yield from wrap(
        line,
        width,
        subsequent_indent=hang,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )


def _hang(line: str, width: int) -> int:
    """Where a line goes on: below its last column that begins in the first half, else indented by four more."""
    starts = [found.end() for found in _COLUMN.finditer(line) if found.end() <= width // 2]
    return starts[-1] if starts else min(len(line) - len(line.lstrip()) + 4, width // 2)


def _window(lines: list[str], number: int, gutter: int, width: int) -> str:
    """A line of an excerpt, or the carets below it, cut to the part around the carets."""
    line = lines[number]
    below = lines[number + 1] if number + 1 < len(lines) else ""
    carets = line if line[gutter:].strip("^ ") == "" else below
    longest = max(len(line), len(below) if carets is below else len(lines[number - 1]))
    if longest <= width:
        return line
    start = max(0, carets.find("^") - gutter - (width - gutter) // 2)
    return f"{line[:gutter]}{line[gutter:][start : start + width - gutter]}".rstrip()
