"""The engine context: engines are held to it."""

from __future__ import annotations

import ast

import pytest


@pytest.fixture(scope="module")
def engine_modules(checkout):
    """Every module of every engine, parsed."""
    paths = sorted((checkout / "labkit" / "vault" / "engines").rglob("*.py"))
    assert len(paths) > 20
    return [(path.name, ast.parse(path.read_text())) for path in paths]


def test_engines_name_no_other_context(engine_modules):
    """The type checker then holds them to what ``EngineContext`` has: no whole store, no core, no other mounts."""
    imported = {
        (name, alias.name)
        for name, tree in engine_modules
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in ("labkit.vault.context", "labkit.vault.engine_context")
        for alias in node.names
    }

    assert {alias for _, alias in imported} == {"EngineContext"}
    assert len(imported) > 10


def test_every_handler_of_an_engine_declares_its_context(engine_modules):
    """An undeclared one could be reached into unchecked."""
    undeclared = [
        f"{name}:{node.name}"
        for name, tree in engine_modules
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for argument in node.args.args
        if argument.arg == "ctx" and ast.unparse(argument.annotation or ast.Name("nothing")) != "EngineContext"
    ]

    assert undeclared == []


def test_engines_reach_nothing_private_and_no_core(engine_modules):
    reached = [
        f"{name}:{node.lineno} {ast.unparse(node)}"
        for name, tree in engine_modules
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and ((node.attr.startswith("_") and not node.attr.startswith("__")) or node.attr in FORBIDDEN)
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
        and node.attr not in ("_replace", "_asdict", "_fields")  # named tuples' own
    ]

    assert reached == []


FORBIDDEN = {"core", "full_storage", "source", "resolved"}
