"""One anatomy for engines, auth methods and the system's endpoints: what stands in which file.

1. A table file (``table.py``, ``table_v1.py``) holds one assignment, ``TABLE``.
2. An endpoint file ends with ``ROUTES``.
3. Every other file is the domain: it makes no routes.
4. A handler with more than six fields takes them as one declared record.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FIELDS = 6
PLACES = ("vault/engines", "vault/auth", "vault/system")


@pytest.fixture(scope="module")
def cut(checkout: Path) -> list[Path]:
    """The files that keep the anatomy."""
    return sorted(path for place in PLACES for path in (checkout / "labkit" / place).rglob("*.py"))


def test_every_file_is_a_table_endpoints_or_domain(cut: list[Path], checkout: Path) -> None:
    wrong = [
        f"{path.relative_to(checkout)}: {fault}" for path in cut if (fault := fault_of(path.name, path.read_text()))
    ]

    assert wrong == [], "\n".join(wrong)


def test_every_package_of_endpoints_has_a_table(cut: list[Path], checkout: Path) -> None:
    with_endpoints = {path.parent for path in cut if names_of(path.read_text())[-1:] == ["ROUTES"]}
    missing = [str(folder.relative_to(checkout)) for folder in with_endpoints if not (folder / "table.py").is_file()]

    assert missing == [], "\n".join(missing)


def test_many_fields_are_one_record(cut: list[Path], checkout: Path) -> None:
    wide = [
        f"{path.relative_to(checkout)}: {node.name} takes {len(node.args.args) - 1} fields, not one record"
        for path in cut
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.args.args[:1] and node.args.args[0].arg == "ctx"
        if len(node.args.args) - 1 > FIELDS
    ]

    assert wide == [], "\n".join(wide)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("table.py", "TABLE = Groups({})"),
        ("data.py", "def read(ctx): ...\nROUTES = (Route('read', 'a', read),)"),
        ("keyring.py", "def rotate(): ...\nLIMIT = 3"),
    ],
)
def test_a_file_of_each_kind_is_well_cut(name: str, source: str) -> None:
    assert fault_of(name, source) == ""


@pytest.mark.parametrize(
    ("name", "source", "fault"),
    [
        ("table.py", "GROUPS = {}\nTABLE = Groups(GROUPS)", "a table file holds only TABLE, not ['GROUPS', 'TABLE']"),
        ("table_v1.py", "from x import ROUTES", "a table file holds only TABLE, not []"),
        ("data.py", "TABLE = Table(())", "TABLE stands in a table file"),
        ("data.py", "ROUTES = ()\nLIMIT = 3", "ROUTES is not the last name of the file"),
        ("keyring.py", "ENDPOINT = Route('read', 'a', read)", "makes routes and has no ROUTES"),
    ],
)
def test_what_is_cut_otherwise_is_found(name: str, source: str, fault: str) -> None:
    assert fault_of(name, source) == fault


def fault_of(name: str, source: str) -> str:
    """What is wrong with a file's cut; empty for a good one."""
    names = names_of(source)
    if name.startswith("table"):
        return "" if names == ["TABLE"] else f"a table file holds only TABLE, not {names}"
    if "TABLE" in names:
        return "TABLE stands in a table file"
    if "ROUTES" in names:
        return "" if names[-1] == "ROUTES" else "ROUTES is not the last name of the file"
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    routes = [called for called in calls if isinstance(called, ast.Name) and called.id == "Route"]
    return "makes routes and has no ROUTES" if routes else ""


def names_of(source: str) -> list[str]:
    """The names that a module defines at its top level, in their order; what it imports is left out."""
    names: list[str] = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
    return names
