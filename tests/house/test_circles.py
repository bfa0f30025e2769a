"""No circle of modules: neither by what is loaded, nor by imports inside functions, nor by those for annotations."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import networkx as nx

from tests.house.trees import nodes

Edges = set[tuple[str, str]]


def test_there_is_no_circle_of_modules(modules: list[Path], checkout: Path) -> None:
    sources = {dotted(path.relative_to(checkout)): path.read_text() for path in modules}

    found = circles(edges(sources))

    assert found == [], "\n".join(" ".join(circle) for circle in found)


def test_a_circle_of_any_kind_is_found() -> None:
    loaded = "from labkit import b"
    late = "def f():\n    from labkit.b import name"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import labkit.b"

    for source in (loaded, late, typed):
        sources = {"labkit.a": source, "labkit.b": "from labkit.c import x", "labkit.c": "from labkit.a import y"}
        assert circles(edges(sources)) == [["labkit.a", "labkit.b", "labkit.c"]]
        assert circles(edges(sources) - {("labkit.c", "labkit.a")}) == []


def test_a_module_is_distinguished_from_a_name_in_its_package() -> None:
    sources = {"labkit.p": "", "labkit.p.m": "", "labkit.x": "from labkit.p import m, NAME\nimport json, labkit.p.m"}

    assert edges(sources) == {("labkit.x", "labkit.p"), ("labkit.x", "labkit.p.m")}


def dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def edges(sources: dict[str, str]) -> Edges:
    """Who imports whom, wherever in a module the import stands."""
    found = set()
    for name, source in sources.items():
        imported = {within if within in sources else module for module, within in imports(source)}
        found |= {(name, target) for target in imported if target in sources and target != name}
    return found


@cache
def imports(source: str) -> frozenset[tuple[str, str]]:
    """The module of each import, and what is taken from it: a name inside, or a module of its own."""
    found = set()
    for node in nodes(source):
        if isinstance(node, ast.Import):
            found |= {(alias.name, alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found |= {(str(node.module), f"{node.module}.{alias.name}") for alias in node.names}
    return frozenset(found)


def circles(found: Edges) -> list[list[str]]:
    """Groups of modules that all lead to one another."""
    groups = nx.strongly_connected_components(nx.DiGraph(sorted(found)))
    return sorted(sorted(group) for group in groups if len(group) > 1)
