"""Which module may import which library: an allow-list, so that nothing comes in by the way."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.house.trees import nodes

# The longest name that fits a module decides.  A name that is not here may import the standard library alone.
MAY_IMPORT: dict[str, frozenset[str]] = {
    "labkit.trace": frozenset({"pandas"}),
    "labkit.keymaking": frozenset({"cryptography"}),
    "labkit.rsa_keys": frozenset({"cryptography"}),
    "labkit.sealed_box": frozenset({"cryptography"}),
    "labkit.vault": frozenset({"cryptography"}),
    "labkit.cloud": frozenset({"cryptography"}),
    "labkit.vault.auth.cloud": frozenset({"cryptography", "jwt"}),
    "labkit.vault.sealing.pgp": frozenset({"pysequoia"}),
    "labkit.vault.password_hashing": frozenset({"cryptography", "bcrypt"}),
    "labkit.sim": frozenset({"networkx"}),
    "labkit.sim.clock": frozenset({"simpy"}),
    "labkit.scenario": frozenset({"yaml", "pydantic"}),
    "labkit.hunt.writing": frozenset({"yaml"}),
    "labkit.hunt.sweeping.frames": frozenset({"pandas"}),
    "labkit.hunt.sweeping.dask_workers": frozenset({"distributed"}),
    "labkit.views": frozenset({"ipywidgets", "IPython"}),
    "labkit.views.cause_chain": frozenset({"pandas"}),
    "labkit.views.merkle": frozenset({"pandas", "IPython"}),
    "labkit.views.repair": frozenset({"pandas"}),
    "labkit.views.keyboard": frozenset({"anywidget"}),
    "labkit.views.merkle_explorer": frozenset({"anywidget", "traitlets"}),
    "labkit.views.charts.measure": frozenset({"pandas"}),
    "labkit.views.charts.clusters_apart": frozenset({"pandas"}),
    "labkit.views.picture": frozenset({"pandas"}),
    "labkit.views.runs_apart": frozenset({"pandas"}),
    "labkit.views.saving": frozenset({"resvg_py"}),
    "labkit.reference": frozenset({"pydantic"}),
    "labkit.front.lab_file.encoding": frozenset({"cbor2"}),
    "labkit.front.pytest_plugin": frozenset({"pytest"}),
    "labkit.front.scenario_items": frozenset({"pytest"}),
    "labkit.doors.requests": frozenset({"requests", "urllib3"}),
    "labkit.doors.httpx": frozenset({"httpx"}),
    "labkit.doors.hvac": frozenset({"hvac", "requests"}),
    "labkit.doors.connections.loop_server": frozenset({"uvicorn"}),
    "labkit.doors.connections.plain_connection": frozenset({"uvicorn", "h11"}),
    "labkit.doors.server_thread": frozenset({"uvicorn"}),
    "labkit.commands": frozenset({"tqdm"}),
}

# The distributions whose import has another name.
IMPORTED_AS = {"azure-identity": "azure", "ipython": "IPython", "pyjwt": "jwt", "pyyaml": "yaml"}

# What is run or read by a tool and imported by no file, and by what.
TOOLS = {
    "jupyterlab": "make notebook opens the lessons in it",
    "jupyterlite-core": "labkit lessons --site runs it",
    "jupyterlite-pyodide-kernel": "jupyterlite-core takes the kernel from it",
    "ipykernel": "nbclient starts it",
    "pytest-xdist": "make test runs on two processes",
    "coverage": "make coverage measures with it",
    "hatchling": "make dist builds with it",
    "ruff": "tests/house/test_tools.py runs it",
    "mypy": "tests/house/test_tools.py runs it",
    "import-linter": "tests/house/test_imports.py runs it",
    "pandas-stubs": "mypy reads it",
    "types-networkx": "mypy reads it",
    "types-hvac": "mypy reads it",
    "types-requests": "mypy reads it",
    "types-pyyaml": "mypy reads it",
    "types-tqdm": "mypy reads it",
}


@pytest.mark.slow
def test_a_module_imports_only_the_libraries_of_its_row(modules: list[Path], checkout: Path) -> None:
    strangers = []
    for path in modules:
        name = dotted(path.relative_to(checkout))
        strangers += [f"{name} imports {library}" for library in sorted(libraries(path.read_text()) - allowed(name))]

    assert strangers == [], "\n".join(strangers)


def test_a_row_allows_nothing_that_is_not_used(modules: list[Path], checkout: Path) -> None:
    used: dict[str, set[str]] = {row: set() for row in MAY_IMPORT}
    for path in modules:
        name = dotted(path.relative_to(checkout))
        if rows(name):
            used[max(rows(name), key=len)] |= libraries(path.read_text())

    assert [(row, idle) for row, names in MAY_IMPORT.items() if (idle := sorted(names - used[row]))] == []


def test_what_is_installed_is_imported_or_run(
    python_files: list[Path], project_files: list[Path], checkout: Path
) -> None:
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    installed = {re.split(r"[^\w.-]", requirement)[0].lower() for requirement in wanted}
    idle = {IMPORTED_AS.get(name, name).replace("-", "_") for name in installed - set(TOOLS)}
    for path in python_files:
        source = path.read_text()
        if any(name in source for name in idle):  # what names none of them need not be parsed
            idle -= libraries(source)
    idle -= {library for path in project_files if path.suffix == ".ipynb" for library in cells_import(path)}

    assert sorted(idle) == []
    assert sorted(set(TOOLS) - installed) == []


def test_the_longest_name_decides() -> None:
    assert allowed("labkit.sim.clock") == {"simpy"}
    assert allowed("labkit.sim.network") == {"networkx"}
    assert allowed("labkit.simulated") == frozenset()
    assert allowed("labkit.service.message") == frozenset()


def test_every_form_of_import_is_seen() -> None:
    source = "import os, simpy.core\nfrom . import near\ndef late():\n    from pandas.io import sql\n"

    assert libraries(source) == {"simpy", "pandas"}


def dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def allowed(name: str) -> frozenset[str]:
    return MAY_IMPORT[max(rows(name), key=len)] if rows(name) else frozenset()


def rows(name: str) -> list[str]:
    return [row for row in MAY_IMPORT if name == row or name.startswith(row + ".")]


def cells_import(path: Path) -> set[str]:
    """The libraries that the code cells of a notebook import."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {name for cell in cells if cell["cell_type"] == "code" for name in libraries("".join(cell["source"]))}


@cache
def libraries(source: str) -> frozenset[str]:
    """The top-level names that a module imports from neither labkit nor the standard library."""
    imported: set[str] = set()
    for node in nodes(source):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            imported.add(node.module.split(".")[0])
    return frozenset(imported - sys.stdlib_module_names - {"labkit"})
