"""Every notebook: its form; and its cells, run in a kernel of their own, where nearly all show something."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from labkit.places import shipped_scenario

FOLDER = Path(__file__).resolve().parent.parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LONGEST_CELL = 10
WIDGET = "application/vnd.jupyter.widget-view+json"

EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def cells_of(path: Path, kind: str) -> list[str]:
    """The sources of a notebook's cells of one kind, in order."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


def run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does; return what its last expression shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


# ---- form


def test_there_are_notebooks_of_ten_numbers_none_twice():
    numbers = [path.stem.partition("_")[0] for path in NOTEBOOKS]

    assert NOTEBOOKS
    assert len(set(numbers)) == len(numbers)
    assert set(numbers) <= {f"{number:02d}" for number in range(10)}


@EACH
def test_it_is_a_valid_notebook(path):
    nbformat.validate(nbformat.read(path, as_version=4))


@EACH
def test_it_begins_with_a_title_and_says_what_it_is_about(path):
    first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]
    title, _, text = "".join(first["source"]).partition("\n")

    assert first["cell_type"] == "markdown"
    assert title.startswith("# ")
    assert len(text.split()) >= 10


@EACH
def test_no_output_is_stored(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    stored = [cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")]

    assert stored == []


@EACH
def test_cells_are_short_and_a_reader_is_told_what_they_are_about(path):
    kinds = [cell["cell_type"] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    long = [source for source in cells_of(path, "code") if len(source.splitlines()) > LONGEST_CELL]
    empty = [number for number, source in enumerate(cells_of(path, "code")) if not source.strip()]

    assert (long, empty) == ([], [])
    asking = [source for source in cells_of(path, "code") if source.startswith("here.")]  # they explain themselves
    assert kinds.count("markdown") >= 0.75 * (kinds.count("code") - len(asking))


@EACH
def test_a_drill_that_it_names_runs_in_any_folder(path):
    text = "\n".join(cells_of(path, "markdown"))
    named = re.findall(r"`labkit run ([^`]+)`", text)

    assert [name for name in named if shipped_scenario(name) is None] == []
    assert bool(named) is ("drill" in text)


@EACH
def test_it_stands_alone(path):
    """It imports labkit and the standard library, and nothing of the machine it was written on."""
    trees = [ast.parse(source) for source in cells_of(path, "code")]
    imported = {
        (name.name if isinstance(node, ast.Import) else node.module or "").partition(".")[0]
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }

    assert imported <= {"labkit", "base64", "json"}


# ---- run


@pytest.mark.slow
@EACH
def test_it_runs_in_a_kernel(path):
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": FOLDER.parent}}
    ).execute()
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]

    assert sum(bool(output) for output in outputs) >= 0.75 * len(outputs)
    assert not [entry for output in outputs for entry in output if entry.output_type in ("error", "stream")]
    for output in outputs:
        widgets = [entry for entry in output if WIDGET in entry.get("data", {})]
        pages = [entry for entry in output if entry not in widgets and "<svg" in entry.data.get("text/html", "")]
        assert len(widgets) <= len(pages), "who reads it later, without a kernel, sees a page beside the widgets"
