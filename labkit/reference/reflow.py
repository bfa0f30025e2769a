"""Reflow: the lines of a page are made as wide as the reader's terminal, whatever the width of its source.

1. Paragraphs, items of lists and the texts of rows are joined and wrapped again; other lines that are too wide go on
   below, indented.
2. A table that is too wide becomes rows: the first cell, and the others indented below it.
3. Code is never broken: a comment behind it that does not fit stands above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap

FULL_LINE = 70
"""A line of a paragraph that goes on has at least that many columns in the source."""

_FENCE = "```"
_ITEM = re.compile(r"(?:[-*]|\d+\.) +")
_ROW = re.compile(r"\*\*.+\*\*")
_DEFINITION = re.compile(r"[\w*-]+(?: [\w*-]+){0,2}: ")
_COLUMN = re.compile(r"(?<=\S) {2,}(?=\S)")


def reflow(text: str, width: int) -> str:
    """Return a page in which no prose is wider than a number of columns."""
    return "\n".join(_lines(text.split("\n"), width))


def _lines(lines: list[str], width: int) -> Iterator[str]:
    block: list[str] = []
    in_code = in_row = False
    wide = any(len(line) > width for line in lines if line.startswith("|"))
    for line in lines:
        if in_code or line.startswith((_FENCE, "|", "#", "=", "---")):
            yield from _filled(block, width)
            block = []
            is_code, in_code = in_code, in_code ^ line.startswith(_FENCE)
            yield from _kept(line, width, is_code, wide)
            continue
        row_text = in_row and line.startswith("    ") and line[4:5] not in ("", " ")
        if not line.strip() or _begins(line, block, row_text):
            yield from _filled(block, width)
            block = []
        if not line.strip():
            in_row = False
            yield line
            continue
        in_row = in_row or bool(_ROW.match(line))
        block.append(line)
    yield from _filled(block, width)


def _kept(line: str, width: int, is_code: bool, is_wide: bool) -> Iterator[str]:
    """A line that is joined with no other: a heading, a fence, a row of a table, code."""
    code, gap, comment = line.partition("  # ")
    if line.startswith("|") and is_wide and not is_code:
        first, *others = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if first.strip("-| "):
            yield from _wrapped(first, width)
            yield from (part for cell in others if cell for part in _wrapped(f"    {cell}", width))
    elif is_code and len(line) > width and gap:
        yield from _wrapped(f"{' ' * _indent(line)}# {comment}", width)
        yield code.rstrip()
    elif line.startswith("|") or (is_code and not _COLUMN.search(line)):
        yield line
    else:
        yield from _wrapped(line, width)


def _begins(line: str, block: list[str], row_text: bool) -> bool:
    """Whether a line begins a block of its own."""
    if not block:
        return False
    if len(block[-1]) < FULL_LINE or (row_text and _indent(block[0]) != 4) or _DEFINITION.match(line):
        return True
    if row_text:
        return False
    return _indent(line) >= 4 or _ITEM.match(line) is not None or _indent(line) < _indent(block[0])


def _filled(block: list[str], width: int) -> Iterator[str]:
    if not block:
        return
    if len(block) == 1:
        yield from _wrapped(block[0], width)
        return
    yield from _wrapped(" " * _indent(block[0]) + " ".join(line.strip() for line in block), width)


def _wrapped(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    indent = _indent(line)
    item = _ITEM.match(line, indent)
    starts = [found.end() for found in _COLUMN.finditer(line) if found.end() <= width // 2]
    definition = indent >= 4 and not starts and re.match(r" *[\w .*-]+: ", line)
    hang = item.end() if item else starts[-1] if starts else indent + (4 if definition else 0)
    return wrap(
        line,
        width,
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
