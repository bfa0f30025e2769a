"""The lessons' site: JupyterLite, a Python for the browser, and the lessons, as files that any server hands out.

1. A page asks no host but its own, and no cell installs anything.
2. What a reader changes stays in the reader's browser.
3. Nothing is written before all of it is there: the folder appears whole.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from labkit import places
from labkit.lessons.browser_python import DISTRIBUTION, CannotBuild, lay_out

KERNEL = "@jupyterlite/pyodide-kernel-extension"
EXTENSIONS = ("@jupyter-widgets/jupyterlab-manager", "anywidget", KERNEL)
"""What the page brings beside the notebook itself: controls, the explorer of an index, the kernel."""

STARTED_WITH = ("micropip", "piplite", "ipykernel", "comm", "pyodide-kernel", "jedi", "ipython", DISTRIBUTION)
"""What is there before the first cell; whatever of it were missing, the kernel would look for on an index."""

LISTING = "all.json"
LONG_AGO = "1980-01-01T00:00:00Z"
# Each page of the application reads the settings that stand in this one.
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lessons of labkit</title>
<script id="jupyter-config-data" type="application/json" data-jupyter-lite-root=".">{{}}</script>
<style>:root {{ color-scheme: light dark }} body {{ font: 1.1rem/1.5 sans-serif; max-width: 40rem; margin: 2rem auto;
padding: 0 1rem }} li {{ margin: .4rem 0 }}</style>
</head>
<body>
<h1>Lessons of labkit</h1>
<p>A lesson opens in this browser and runs in it: nothing is installed, and what you write stays here. The first one
takes some seconds to start.</p>
<ol start="0">
{rows}
</ol>
</body>
</html>
"""
ROW = '<li><a href="lab/index.html?path={path}">{title}</a></li>'


class BuiltSite(NamedTuple):
    """What was built: its folder, how many lessons are in it, its size, the packages of its Python."""

    folder: Path
    lessons: int
    size_bytes: int
    packages: tuple[str, ...]


def build_site(folder: Path, pyodide: Sequence[Path] = ()) -> BuiltSite:
    """Build the site into a folder that is not there yet, or empty; raise CannotBuild.

    ``pyodide``: folders where files of Pyodide are looked for before they are fetched.
    """
    _judge(folder, pyodide)
    try:
        lessons = sorted(places.notebooks().glob("*.ipynb"))
        with tempfile.TemporaryDirectory() as work:
            built = Path(work, "site")
            _build_application(Path(work), built)
            wheels = (built / "extensions" / KERNEL / "static" / "pypi").glob("*.whl")
            packages = lay_out(built / "pyodide", pyodide, (wheel for wheel in wheels if "-3." not in wheel.name))
            _configure(built / "jupyter-lite.json")
            _add_lessons(built, lessons)
            size_bytes = sum(path.stat().st_size for path in built.rglob("*") if path.is_file())
            shutil.copytree(built, folder, dirs_exist_ok=True)
    except OSError as error:
        raise CannotBuild(f"{error.filename or folder}: {error.strerror or error}") from None
    return BuiltSite(folder, len(lessons), size_bytes, packages)


def _judge(folder: Path, pyodide: Iterable[Path]) -> None:
    if find_spec("jupyterlite_core") is None or find_spec("jupyterlite_pyodide_kernel") is None:
        raise CannotBuild("a site needs JupyterLite: pip install '.[site]'")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CannotBuild(
            f"{folder}: expected a folder that is empty or not there yet; move it away, or choose another"
        )
    if not folder.parent.is_dir():
        raise CannotBuild(f"{folder}: expected a folder {folder.parent}, got none; make it first, or choose another")
    for given in pyodide:
        if not given.is_dir():
            raise CannotBuild(f"{given}: expected a folder with files of Pyodide, got none")


def _build_application(work: Path, target: Path) -> None:
    """Have JupyterLite lay out its application: the editor, the three extensions, no source maps."""
    extensions = [Path(sys.prefix, "share", "jupyter", "labextensions", name) for name in EXTENSIONS]
    for extension in extensions:
        if not extension.is_dir():
            raise CannotBuild(f"{extension}: expected an extension of the page, got none; pip install '.[site]' again")
    settings = {
        "federated_extensions": [str(extension) for extension in extensions],
        "ignore_sys_prefix": True,  # whatever else is installed here does not belong to the site
        "no_sourcemaps": True,
        "no_unused_shared_packages": True,
        "apps": ["lab"],
        "output_dir": str(target),
    }
    (work / "jupyter_lite_config.json").write_text(json.dumps({"LiteBuildConfig": settings}), encoding="utf-8")
    command = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", str(work)]
    environment = os.environ | {"JUPYTER_NO_CONFIG": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=work, env=environment)
    if done.returncode:
        last = ((done.stderr or done.stdout).strip().splitlines() or ["no reason given"])[-1]
        raise CannotBuild(f"JupyterLite cannot lay out its application: {last}")


def _configure(path: Path) -> None:
    """Say where the kernel finds its Python, what it starts with, and that it asks no index."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    page: dict[str, Any] = settings["jupyter-config-data"]
    page |= {"appName": "Lessons of labkit", "contentsAllJsonFile": LISTING}
    kernel = page["litePluginSettings"][f"{KERNEL}:kernel"]
    kernel["pyodideUrl"] = "./pyodide/pyodide.mjs"
    kernel["disablePyPIFallback"] = True
    kernel["loadPyodideOptions"] = {"packages": list(STARTED_WITH)}
    path.write_text(json.dumps(settings, sort_keys=True), encoding="utf-8")


def _add_lessons(site: Path, lessons: Sequence[Path]) -> None:
    """Copy the lessons, list them as JupyterLite reads a folder, and make the first page."""
    (site / "files").mkdir(exist_ok=True)
    for lesson in lessons:
        shutil.copyfile(lesson, site / "files" / lesson.name)
    listed = site / "api" / "contents" / LISTING
    listed.parent.mkdir(parents=True, exist_ok=True)
    folder = _entry("", "directory") | {"format": "json", "content": [_entry(it.name, "notebook") for it in lessons]}
    listed.write_text(json.dumps(folder, sort_keys=True), encoding="utf-8")
    rows = "\n".join(ROW.format(path=escape(lesson.name), title=escape(_title(lesson))) for lesson in lessons)
    (site / "index.html").write_text(PAGE.format(rows=rows), encoding="utf-8")
    shutil.copyfile(site / "lab" / "favicon.ico", site / "favicon.ico")  # where browsers look for it


def _entry(name: str, kind: str) -> dict[str, Any]:
    unknown = dict.fromkeys(("content", "format", "mimetype", "size"))
    return {
        "name": name,
        "path": name,
        "type": kind,
        "writable": True,
        "created": LONG_AGO,
        "last_modified": LONG_AGO,
    } | (unknown)


def _title(lesson: Path) -> str:
    first = json.loads(lesson.read_text(encoding="utf-8"))["cells"][0]["source"]
    return "".join(first).splitlines()[0].lstrip("# ")
