"""lessons: lists the lesson notebooks, says how to open one, copies them; what readers and teachers need beside."""

from __future__ import annotations

import argparse
import sys
from itertools import takewhile
from pathlib import Path
from shlex import quote

from labkit.commands.copies import CannotCopy, copy_files, report_copies
from labkit.commands.exit_codes import AS_EXPECTED, refuse
from labkit.commands.own_name import own_name
from labkit.commands.terminal import say


def lessons(given: argparse.Namespace) -> int:
    """List the lessons by title and what is learned, copy them, or do what an option asks for."""
    from labkit import places

    if given.copy is None and (given.reset or given.solutions or given.print or given.review):
        from labkit.commands import lesson_papers  # a list of lessons is light

        return lesson_papers.answer(given)
    if given.site is not None or given.pyodide:
        return _build(given)
    try:
        folder = places.notebooks()
    except FileNotFoundError as error:
        return refuse(str(error))
    paths = sorted(folder.glob("*.ipynb"))
    if given.copy is not None:
        try:
            written = copy_files(folder, paths, Path(given.copy))
        except CannotCopy as error:
            return refuse(str(error))
        say(report_copies(written, len(paths), "lesson", given.copy))
        folder = Path(given.copy)
    else:
        for path in paths:
            title, about = _heading(path)
            say(f"{path.stem}  {title}" if title else path.stem)
            for line in about:
                say(f"    {line}")
    first_name = paths[0].name if paths else "NAME.ipynb"
    say(f"\nto open them: {_opening(folder / first_name)}")
    if given.copy is None:
        say(f"to have copies of your own: {own_name()} lessons --copy FOLDER")
    return AS_EXPECTED


def _build(given: argparse.Namespace) -> int:
    """Build a site of the lessons, and say how to look at it."""
    from labkit.lessons.browser_python import CannotBuild
    from labkit.lessons.site import build_site

    if given.site is None:
        return refuse("--pyodide: expected --site FOLDER beside it, got none; Pyodide is part of a site only")
    if given.copy is not None:
        return refuse("--site: expected no --copy beside it, got both; a site has its own copies")
    try:
        built = build_site(Path(given.site), tuple(map(Path, given.pyodide)))
    except CannotBuild as error:
        return refuse(str(error))
    size_mb = round(built.size_bytes / 1_000_000)
    say(f"built a site of {built.lessons} lessons in {given.site}, {size_mb} MB; any server of files can hand it out")
    say(f"\nto look at it: python -m http.server --bind 127.0.0.1 --directory {quote(given.site)}")
    return AS_EXPECTED


def _opening(path: Path) -> str:
    """The command that opens a notebook here, and before it the one that installs what it needs."""
    from importlib.util import find_spec

    python = quote(sys.executable)
    command = f"{python} -m jupyterlab {quote(str(path))}"
    if find_spec("jupyterlab") is not None:
        return command
    return f"make notebook in a checkout, or\n    {python} -m pip install jupyterlab\n    {command}"


def _heading(path: Path) -> tuple[str, list[str]]:
    """Return a notebook's title and the first line below it, or the items that this one announces; else nothing."""
    import json

    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    except (OSError, ValueError, LookupError, TypeError, StopIteration):
        return "", []
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    title = next((line.lstrip("# ") for line in lines if line.startswith("#")), "")
    first, *others = [line for line in lines if not line.startswith("#")] or [""]
    items = list(takewhile(lambda line: line.startswith("- "), others)) if first.endswith(":") else []
    return title, items or [line for line in (first,) if line]
