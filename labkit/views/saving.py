"""Saving: a picture with its words and its table as a file: SVG, PNG, a page, or data.

1. The page holds picture, description and table, and asks nobody for anything; the data hold all but the drawing.  A
   narrow page scrolls its picture, by keys too: its words stay as large as they are.
2. A PNG is made from the same SVG, in the tones of a light page, at twice its size; that needs the extra ``png``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from labkit.service.arguments import wrong

SUFFIXES = (".svg", ".png", ".html", ".json")
MAX_ROWS = 200
ZOOM = 2
STYLE = (
    ":root{color-scheme:light dark}body{margin:1rem auto;padding:0 1rem;max-width:80rem;font:16px/1.5 system-ui,"
    "sans-serif}div,details{overflow-x:auto}th,td{text-align:left;padding:.1rem .6rem;vertical-align:top}"
    ".unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
)


class Saved(NamedTuple):
    """What is saved of a picture: title, description, SVG document, and the columns and rows of its table."""

    title: str
    description: str
    svg: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


def save(path: str | Path, saved: Saved) -> None:
    """Write a picture to a file whose name says as what."""
    if not isinstance(path, str | Path) or Path(path).suffix not in SUFFIXES:
        raise wrong("path", f"the name of a file that ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}", path)
    suffix = Path(path).suffix
    if suffix == ".png":
        Path(path).write_bytes(_png(saved.svg))
        return
    texts = {".svg": lambda: f"{saved.svg}\n", ".html": lambda: _page(saved), ".json": lambda: _data(saved)}
    Path(path).write_text(texts[suffix](), encoding="utf-8")


def table_of(columns: Sequence[str], rows: Sequence[tuple[Any, ...]], most: int = MAX_ROWS) -> str:
    """Return the first rows as a table that is opened below a picture."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(_said(value))}</td>' for value in row)}</tr>" for row in list(rows)[:most]
    )
    more = f"<p>and {len(rows) - most} more rows: <code>to_frame()</code></p>" if len(rows) > most else ""
    said = f"as a table: {counted(len(rows))}"
    return f"<details><summary>{said}</summary><table><tr>{head}</tr>{body}</table>{more}</details>"


def counted(rows: int) -> str:
    """Say how many rows a table has."""
    return f"{rows:,} row{'' if rows == 1 else 's'}"


def _page(saved: Saved) -> str:
    table = table_of(saved.columns, saved.rows, max(1, len(saved.rows))).replace("<details>", "<details open>")
    title = escape(saved.title)
    unseen = ' class="unseen"' if f">{title}</text>" in saved.svg else ""  # the picture has it in view already
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><main><h1{unseen}>{title}</h1>"
        f'<div tabindex="0" role="region" aria-label="picture">{saved.svg}</div>'
        f"<p>{escape(saved.description)}</p>{table}</main></body></html>\n"
    )


def _data(saved: Saved) -> str:
    rows = [dict(zip(saved.columns, row, strict=True)) for row in saved.rows]
    data = {"title": saved.title, "description": saved.description, "rows": rows}
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _png(svg: str) -> bytes:
    try:
        import resvg_py
    except ModuleNotFoundError:
        raise ValueError("path: a .png needs the package resvg-py: pip install '.[png]'; .svg needs nothing") from None
    plain = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL)  # it knows no variables; colours stand beside
    return bytes(resvg_py.svg_to_bytes(svg_string=plain, zoom=ZOOM, background="#ffffff"))


def _said(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
