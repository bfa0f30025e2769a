"""The trees of modules, parsed once for all tests of the house; ``conftest.py`` forgets them after the last."""

from __future__ import annotations

import ast
from functools import cache


@cache
def tree(source: str) -> ast.Module:
    """The tree of a module."""
    return ast.parse(source)


@cache
def nodes(source: str) -> list[ast.AST]:
    """All nodes of a module."""
    return [*ast.walk(tree(source))]


def forget() -> None:
    """Keep none of them any longer: they are a hundred megabytes."""
    tree.cache_clear()
    nodes.cache_clear()
