"""Context: a step's writes, what a refusal keeps, and nonces."""

from __future__ import annotations

import ast

from labkit.service.message import Request
from labkit.vault.context import NONCES_PER_DRAW, Context

REQUEST = Request("GET", "")


def test_a_step_reads_its_own_writes_and_leaves_the_store_alone(service):
    ctx = Context(service.core, REQUEST, 0)
    ctx.write("node/x", b"1")

    assert ctx.read("node/x") == b"1"
    assert "x" in ctx.list("node/")
    assert service.core.storage.get("node/x") is None


def test_a_step_is_one_transaction(service):
    ctx = Context(service.core, REQUEST, 0)
    ctx.write("node/x", b"1")
    ctx.write("node/y", None)
    commits = service.core.commits
    service.core.commit(ctx.writes)

    assert service.core.storage.get("node/x") == b"1"
    assert service.core.commits == commits + 1
    assert service.core.commit({}) is None


def test_a_step_begins_with_no_writes(service):
    ctx = Context(service.core, REQUEST, 0)
    ctx.write("node/x", b"1")
    ctx.write_even_if_refused("node/y", b"1")
    ctx.begin(2)

    assert (ctx.writes, ctx.refused_writes) == ({}, {})


def test_no_two_writes_have_the_same_nonce(service):
    ctx = Context(service.core, REQUEST, 0)
    nonces = [ctx.nonce(12) for _ in range(3 * NONCES_PER_DRAW)]

    assert len(set(nonces)) == len(nonces)
    assert {len(nonce) for nonce in nonces} == {12}
    assert ctx.nonce(12) != Context(service.core, REQUEST, 0).nonce(12)


def engine_modules(checkout):
    """Every module of every engine, parsed."""
    paths = sorted((checkout / "labkit" / "vault" / "engines").rglob("*.py"))
    assert len(paths) > 20
    return [(path.name, ast.parse(path.read_text())) for path in paths]


def test_engines_name_no_other_context(checkout):
    """The type checker then holds them to what ``EngineContext`` has: no whole store, no core, no other mounts."""
    imported = {
        (name, alias.name)
        for name, tree in engine_modules(checkout)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "labkit.vault.context"
        for alias in node.names
    }

    assert {alias for _, alias in imported} == {"EngineContext"}
    assert len(imported) > 10


def test_every_handler_of_an_engine_declares_its_context(checkout):
    """An undeclared one could be reached into unchecked."""
    undeclared = [
        f"{name}:{node.name}"
        for name, tree in engine_modules(checkout)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for argument in node.args.args
        if argument.arg == "ctx" and ast.unparse(argument.annotation or ast.Name("nothing")) != "EngineContext"
    ]

    assert undeclared == []


def test_engines_reach_nothing_private_and_no_core(checkout):
    reached = [
        f"{name}:{node.lineno} {ast.unparse(node)}"
        for name, tree in engine_modules(checkout)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and ((node.attr.startswith("_") and not node.attr.startswith("__")) or node.attr in FORBIDDEN)
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
        and node.attr not in ("_replace", "_asdict", "_fields")  # named tuples' own
    ]

    assert reached == []


FORBIDDEN = {"core", "full_storage", "source", "resolved"}
