"""Lessons run in a browser: its libraries fit the lower bounds, and no lesson needs what a browser lacks."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path

from labkit.lessons.browser_python import versions

# What a Python in a browser has not, or only as an empty shell.
LACKING = {
    *("threading", "concurrent", "multiprocessing", "subprocess", "asyncio", "queue"),
    *("socket", "socketserver", "ssl", "http", "urllib", "select", "selectors"),
}
# A lock can be taken there; nobody else wants it.
THERE = {"Lock"}
# These build the site, elsewhere.
BUILDERS = ("site.py", "browser_python.py")


def test_each_lower_bound_is_at_or_below_what_a_browser_has(checkout: Path) -> None:
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    bounds = dict(re.findall(r"^([\w-]+)>=([\d.]+)", "\n".join(project["dependencies"]), re.MULTILINE))
    there = {name: version for name, version in versions().items() if name in bounds}

    assert {"cryptography", "pyjwt", "simpy", "networkx", "ipywidgets", "anywidget", "pydantic"} <= set(there)
    assert {name: (bounds[name], has) for name, has in there.items() if numbers(bounds[name]) > numbers(has)} == {}


def test_no_lesson_needs_threads_or_sockets(checkout: Path) -> None:
    lessons = {
        path.relative_to(checkout).as_posix(): path.read_text()
        for path in sorted((checkout / "labkit" / "lessons").rglob("*.py"))
        if path.name not in BUILDERS
    }
    for path in sorted((checkout / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text())["cells"]
        lessons[path.name] = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")

    assert len(lessons) > 10
    assert {name: found for name, text in lessons.items() if (found := lacking(text))} == {}


def test_what_a_browser_lacks_is_found() -> None:
    assert lacking("import threading\nfrom http.server import x\nimport json") == ["http.server", "threading"]
    assert lacking("with vault.serve() as url:\n    pass") == [".serve()"]
    assert lacking("from threading import Lock, Thread") == ["threading"]
    assert lacking("from labkit import Lab\nfrom threading import Lock") == []


def lacking(source: str) -> list[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level and {alias.name for alias in node.names} - THERE:
            names = [node.module or ""]
        found |= {name for name in names if name.partition(".")[0] in LACKING}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "serve":
            found.add(".serve()")
    return sorted(found)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
