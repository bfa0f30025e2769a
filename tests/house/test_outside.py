"""Which module may import which library: an allow-list, so that nothing comes in by the way."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

# The longest name that fits a module decides.  A name that is not here may import the standard library alone.
MAY_IMPORT: dict[str, frozenset[str]] = {
    "labkit.trace": frozenset({"pandas"}),
    "labkit.keymaking": frozenset({"cryptography", "jwt"}),
    "labkit.sealed_box": frozenset({"cryptography"}),
    "labkit.vault": frozenset({"cryptography", "jwt", "pysequoia"}),
    "labkit.cloud": frozenset({"cryptography", "jwt", "pysequoia"}),
    "labkit.sim": frozenset({"networkx"}),
    "labkit.sim.clock": frozenset({"simpy"}),
    "labkit.lab": frozenset({"networkx"}),
    "labkit.scenario": frozenset({"yaml", "pydantic"}),
    "labkit.scenario.plugin": frozenset({"pytest"}),
    "labkit.scenario.sweep": frozenset({"joblib", "dask", "distributed", "pandas", "pyarrow"}),
    "labkit.scenario.shrink": frozenset({"hypothesis"}),
    "labkit.views": frozenset({"ipywidgets", "anywidget", "pandas"}),
    "labkit.lessons": frozenset({"ipywidgets", "anywidget", "pandas", "IPython"}),
    "labkit.doors": frozenset({"requests", "httpx", "hvac", "uvicorn", "h11"}),
    "labkit.cli": frozenset({"tqdm"}),
}


def test_a_module_imports_only_the_libraries_of_its_row(modules: list[Path], checkout: Path) -> None:
    strangers = []
    for path in modules:
        name = dotted(path.relative_to(checkout))
        strangers += [f"{name} imports {library}" for library in sorted(libraries(path.read_text()) - allowed(name))]

    assert strangers == [], "\n".join(strangers)


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
    rows = [row for row in MAY_IMPORT if name == row or name.startswith(row + ".")]
    return MAY_IMPORT[max(rows, key=len)] if rows else frozenset()


def libraries(source: str) -> set[str]:
    """The top-level names that a module imports from neither labkit nor the standard library."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            imported.add(node.module.split(".")[0])
    return imported - sys.stdlib_module_names - {"labkit"}
