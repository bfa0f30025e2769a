"""A tuple of what a loop gives is made of a list: ``tuple([… for …])`` takes two thirds of the time of a generator."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.trees import nodes


@pytest.mark.slow
def test_no_tuple_is_made_of_a_generator(modules: list[Path], checkout: Path) -> None:
    found = [f"{path.relative_to(checkout)}:{line}" for path in modules for line in of_generators(path.read_text())]

    assert found == [], "\n".join(found)


def test_a_tuple_of_a_generator_is_found() -> None:
    assert of_generators("a = tuple(x for x in y)\nb = tuple(\n    x\n    for x in y\n)\n") == [1, 2]
    assert of_generators("a = tuple([x for x in y])\nb = tuple(map(f, y))\nc = sorted(x for x in y)\n") == []


def of_generators(code: str) -> list[int]:
    """The lines that make a tuple of a generator."""
    return [
        node.lineno
        for node in nodes(code)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tuple"
        if any(isinstance(argument, ast.GeneratorExp) for argument in node.args)
    ]
