"""One anatomy for engines, auth methods, system and replication, as the page `labkit help architecture` describes it.

An *endpoint file* has ``ROUTES``, a *table file* gathers them in ``TABLE``, and every other module is *domain*.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.house.trees import tree

MAX_FIELDS = 6

AREAS = ("engines", "auth", "system", "replication")


class Module(NamedTuple):
    """One module of an area: its name, its tree, and the names that it assigns at its top."""

    name: str
    file: str
    tree: ast.Module
    assigned: tuple[str, ...]

    @property
    def has_routes(self) -> bool:
        return "ROUTES" in self.assigned


@pytest.fixture(scope="module")
def vault(checkout: Path) -> dict[str, Module]:
    """Every module of the vault, by dotted name."""
    paths = sorted((checkout / "labkit" / "vault").rglob("*.py"))
    return {module.name: module for module in (read(path.read_text(), path, checkout) for path in paths)}


@pytest.fixture(scope="module")
def areas(vault: dict[str, Module]) -> dict[str, Module]:
    """The modules that the anatomy holds for."""
    return {name: module for name, module in vault.items() if name.split(".")[2:3] and name.split(".")[2] in AREAS}


@pytest.mark.slow
def test_an_endpoint_file_is_docstring_handlers_routes(areas: dict[str, Module]) -> None:
    wrong = [said for module in areas.values() if module.has_routes for said in misshapen(module)]

    assert wrong == [], "\n".join(wrong)


def test_a_handler_with_many_fields_takes_one_record(areas: dict[str, Module]) -> None:
    wide = [
        f"{module.name}: {node.name} takes {len(node.args.args) - 1} fields, not one record"
        for module in areas.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef) and node.args.args and node.args.args[0].arg == "ctx"
        if len(node.args.args) - 1 > MAX_FIELDS
    ]

    assert wide == [], "\n".join(wide)


def test_a_table_stands_in_a_table_file_or_below_the_routes_of_its_only_endpoint_file(areas: dict[str, Module]) -> None:
    wrong = []
    for module in areas.values():
        gathers = "TABLE" in module.assigned and not module.file.startswith("table")
        if gathers and not (module.has_routes and uses_only_its_own_routes(module)):
            wrong.append(f"{module.name}: a table of several files' routes belongs into table.py")
        if module.file.startswith("table") and module.has_routes:
            wrong.append(f"{module.name}: routes belong into an endpoint file")

    assert wrong == [], "\n".join(wrong)


def test_replication_has_one_endpoint_file_a_group(areas: dict[str, Module]) -> None:
    found = [module.name for module in areas.values() if ".replication" in module.name and module.has_routes]

    assert found == ["labkit.vault.replication.endpoints", "labkit.vault.replication.maintenance"]


def test_a_domain_file_imports_no_endpoint_file(areas: dict[str, Module]) -> None:
    wrong = []
    for module in areas.values():
        if module.has_routes or "TABLE" in module.assigned:
            continue
        leaned_on = [name for name in imported(module, areas) if areas[name].has_routes]
        wrong += [f"{module.name} imports the endpoint file {name}" for name in leaned_on]

    assert wrong == [], "\n".join(wrong)


def test_every_endpoint_file_is_reachable_from_a_table(vault: dict[str, Module], areas: dict[str, Module]) -> None:
    """The catalogue names tables, a table names endpoint files, and one of these may hold another's routes too."""
    reached: set[str] = set()
    waiting = [name for module in vault.values() if module.name not in areas for name in named_in(module, areas)]
    while waiting:
        module = areas[waiting.pop()]
        if module.name not in reached:
            reached.add(module.name)
            waiting += [*named_in(module, areas), *routes_of_others(module, areas)]

    assert sorted(name for name, module in areas.items() if module.has_routes and name not in reached) == []


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ('"""It reads."""\ndef read(ctx): ...\nROUTES = ()\n', 0),
        ('"""It reads."""\ndef read(ctx): ...\nROUTES = ()\nTABLE = Table(ROUTES)\n', 0),
        ('"""It reads."""\nROUTES = ()\ndef read(ctx): ...\n', 1),
        ('"""It reads."""\nROUTES = ()\n', 1),
        ("def read(ctx): ...\nROUTES = ()\n", 1),
        ('"""It reads."""\ndef read(ctx): ...\nROUTES = ()\nLIMIT = 3\n', 1),
    ],
)
def test_the_shape_of_an_endpoint_file(source: str, wrong: int, tmp_path: Path) -> None:
    module = read(source, tmp_path / "labkit/vault/engines/x.py", tmp_path)

    assert len(list(misshapen(module))) == wrong


def read(source: str, path: Path, checkout: Path) -> Module:
    parts = path.relative_to(checkout).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    body = tree(source).body
    return Module(name, path.name, tree(source), tuple(name for statement in body for name in names(statement)))


def names(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
    return [target.id for target in targets if isinstance(target, ast.Name)]


def misshapen(module: Module) -> Iterator[str]:
    """What is wrong with the order of an endpoint file."""
    if not ast.get_docstring(module.tree):
        yield f"{module.name}: an endpoint file begins with its docstring"
    kinds = [names(statement)[:1] or [type(statement).__name__] for statement in module.tree.body]
    after = kinds[kinds.index(["ROUTES"]) + 1 :]
    if after not in ([], [["TABLE"]]):
        yield f"{module.name}: ROUTES is the last statement"
    elif ["FunctionDef"] not in kinds:
        yield f"{module.name}: an endpoint file has the handlers of its routes"


def uses_only_its_own_routes(module: Module) -> bool:
    used = [node.attr for node in ast.walk(module.tree) if isinstance(node, ast.Attribute)]
    return "ROUTES" not in used


def imported(module: Module, areas: dict[str, Module]) -> list[str]:
    """The modules of the areas that a module imports, wherever in it and whatever for."""
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return sorted({name for name in found if name in areas})


def named_in(module: Module, areas: dict[str, Module]) -> list[str]:
    """The modules of the areas that a module names in a text, to be loaded when they are asked for."""
    texts = [node.value for node in ast.walk(module.tree) if isinstance(node, ast.Constant)]
    named = [text.partition(":")[0] for text in texts if isinstance(text, str)]
    return [name for name in named if name in areas]


def routes_of_others(module: Module, areas: dict[str, Module]) -> list[str]:
    """The modules whose ROUTES a module puts among its own."""
    used = {
        node.value.id
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr == "ROUTES" and isinstance(node.value, ast.Name)
    }
    by_name = {
        node.module
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and "ROUTES" in [alias.name for alias in node.names]
    }
    return [name for name in imported(module, areas) if name.rpartition(".")[2] in used or name in by_name]
