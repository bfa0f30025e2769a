"""Names: a public class once in the package, limits that say so, units and rates in full words."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.trees import nodes, tree

# A limit is MAX_ or MIN_, per is PER: `MAX_DEPTH`, `NONCES_PER_DRAW`.
OTHER_LIMIT = re.compile(r"^_?(?:MOST|LONGEST|SHORTEST|DEEPEST|LARGEST|SMALLEST|KEPT)(?:_|$)")
OTHER_RATE = re.compile(r"(?<!_IN)_AN?_")


@pytest.mark.slow
def test_a_public_class_name_exists_once(modules: list[Path], checkout: Path) -> None:
    homes = defaultdict(list)
    for path in modules:
        for name in public_classes(path.read_text()):
            homes[name].append(str(path.relative_to(checkout)))

    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


@pytest.mark.slow
def test_a_limit_is_called_max_or_min(modules: list[Path], checkout: Path) -> None:
    found = [f"{path.relative_to(checkout)}:{said}" for path in modules for said in misnamed(path.read_text())]

    assert found == [], "\n".join(found)


def test_public_classes_are_seen_wherever_they_stand() -> None:
    source = "class A: ...\nclass _B: ...\nif True:\n    class C:\n        class D: ...\ndef f():\n    class E: ...\n"

    assert sorted(public_classes(source)) == ["A", "C", "D"]


@pytest.mark.parametrize(
    "source",
    ["MOST_BYTES = 1", "_KEPT_LINES: int = 1", "class C:\n    LONGEST_NS = 1", "DEEPEST = 1", "NONCES_A_DRAW = 256"],
)
def test_another_name_for_a_limit_is_found(source: str) -> None:
    assert len(misnamed(source)) == 1


@pytest.mark.parametrize(
    "source",
    ["MAX_BYTES = 1", "NONCES_PER_DRAW = 1", "kept_lines = 1", "KEPTS = 1", "DATA_AGE = 1", "NOT_IN_A_NAME = 1"],
)
def test_other_names_are_accepted(source: str) -> None:
    assert misnamed(source) == []


def public_classes(source: str) -> Iterator[str]:
    """The classes of a module that can be reached from outside: those of functions are not."""
    waiting: list[ast.AST] = [tree(source)]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            waiting.append(node)
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name


def misnamed(source: str) -> list[str]:
    """The constants of a module that name a limit or a rate otherwise, as `line name`."""
    found = []
    for node in nodes(source):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Store) or not node.id.isupper():
            continue
        if OTHER_LIMIT.search(node.id) or OTHER_RATE.search(node.id):
            found.append(f"{node.lineno} {node.id}")
    return found
