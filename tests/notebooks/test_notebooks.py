"""Every notebook: its form, its cells run from top to bottom, and once in a kernel of its own; what the tour claims."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

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


def show(value: Any) -> None:
    """Make what a notebook would show of a value."""
    bundle = getattr(value, "_repr_mimebundle_", None)
    assert bundle() if bundle is not None else repr(value)


@pytest.fixture(scope="module")
def played() -> dict[str, tuple[dict[str, Any], list[Any]]]:
    """Each notebook, run from top to bottom in a namespace of its own: its names at the end, and what was shown."""
    ended = {}
    for path in NOTEBOOKS:
        names: dict[str, Any] = {"__name__": "__main__"}
        shown = [run(source, names) for source in cells_of(path, "code")]
        ended[path.stem] = (names, shown)
    return ended


# ---- form


def test_there_are_notebooks_numbered_without_a_gap():
    assert [path.stem.partition("_")[0] for path in NOTEBOOKS] == [f"{number:02d}" for number in range(len(NOTEBOOKS))]
    assert NOTEBOOKS


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
    assert kinds.count("markdown") >= 0.75 * kinds.count("code")


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


@EACH
def test_every_cell_runs_and_shows_something(path, played):
    _, shown = played[path.stem]

    assert len(shown) == len(cells_of(path, "code"))
    for value in shown:
        if value is not None:
            show(value)
    assert sum(value is not None for value in shown) >= 0.75 * len(shown)


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


# ---- what the tour claims


def test_the_tour_tells_the_truth_about_versions_and_check_and_set(played):
    names, _ = played["00_tour"]

    assert (names["first"], names["latest"]) == ({"user": "ada"}, {"user": "ada", "team": "engines"})
    assert names["late"].status == 400


def test_about_rewrapping(played):
    names, shown = played["00_tour"]

    assert (names["old"][:9], names["new"][:9]) == ("vault:v1:", "vault:v2:")
    assert any(isinstance(value, tuple) and value[-1] == b"meet me at noon" for value in shown)


def test_about_roots(played):
    names, _ = played["00_tour"]

    assert (names["at_once"], names["later"]) == (False, True)


def test_about_lag(played):
    names, shown = played["00_tour"]
    (lags,) = [value for value in shown if isinstance(value, tuple) and hasattr(value[0], "entries")]

    assert lags[0].entries == 2
    assert 1.9 < lags[0].seconds < 2.3
    assert lags[1] == (0, 0.0)
    assert names["lab"].map().description.count("paris streams to tokyo") == 1


def test_about_the_planned_failover(played):
    names, shown = played["00_tour"]

    assert ([200] * 5, 0) in shown
    assert "tokyo streams to paris" in names["planned"].map().description


def test_about_what_is_lost_and_how_long_it_takes(played):
    names, shown = played["00_tour"]
    (told,) = [value for value in shown if isinstance(value, tuple) and hasattr(value[0], "writes")]

    assert names["found"] == [404] * 5
    assert told[0].writes == 5
    assert 20 < told[1].seconds < 21


def test_about_the_branch(played):
    names, shown = played["00_tour"]

    assert 0 in [value for value in shown if type(value) is int]
    assert names["other"].ledger.rpo().writes == 0
    assert names["lab"].ledger.promotions == [], "what happened in the branch stayed there"


def test_about_what_the_reader_is_invited_to_try(played):
    """One node's crash needs no promotion; a promotion behind a cut line breaks the rule of one primary."""
    from labkit import Lab

    names, _ = played["00_tour"]
    lab = Lab.restore(names["before"])
    lab.crash("paris-1")
    lab.run("10s")
    assert (lab["paris"].active, lab["paris"].mode) == ("paris-2", "primary")
    lab.partition("paris", "tokyo")
    lab["tokyo"].promote()
    assert "rule broken: one primary" in lab.dashboard().page
