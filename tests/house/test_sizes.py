"""The limits: a module has at most 400 lines, a function 40 and six parameters."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.house.trees import nodes

MODULE_LINES = 400
FUNCTION_LINES = 40
PARAMETERS = 6

Function = ast.FunctionDef | ast.AsyncFunctionDef


def test_nothing_in_the_package_is_too_large(modules: list[Path], checkout: Path) -> None:
    found = [f"{path.relative_to(checkout)}:{said}" for path in modules for said in too_large(path.read_text())]

    assert found == [], "\n".join(found)


def test_a_long_module_is_found() -> None:
    assert too_large("x = 1\n" * MODULE_LINES) == []
    assert too_large("x = 1\n" * (MODULE_LINES + 1)) == ["1 the module has 401 lines, limit 400"]


def test_a_long_function_is_found() -> None:
    body = "    x = 1\n"

    assert too_large("def f():\n" + body * 39) == []
    assert too_large("def f():\n" + body * 40) == ["1 f has 41 lines, limit 40"]
    assert too_large("class C:\n    async def f(self):\n" + ("    " + body) * 40) == ["2 f has 41 lines, limit 40"]


def test_too_many_parameters_are_found() -> None:
    assert too_large("def f(a, b, /, c, *d, e, **g): ...") == []
    assert too_large("class C:\n    def f(self, a, b, c, d, e, g): ...") == []
    assert too_large("def f(a, b, c, *, d, e, g, h): ...") == ["1 f has 7 parameters, limit 6"]


def test_the_declared_fields_of_a_handler_are_apart() -> None:
    fields = ", ".join(f"field_{number}" for number in range(20))
    lines = ",\n".join(f"    field_{number}" for number in range(20))

    assert too_large(f"def create(ctx, {fields}): ...") == []
    assert too_large(f"def create(\n    ctx,\n{lines},\n):\n" + "    x = 1\n" * 39) == []
    assert too_large(f"def create(\n    ctx,\n{lines},\n):\n" + "    x = 1\n" * 40) == [
        "1 create has 41 lines, limit 40"
    ]


def too_large(source: str) -> list[str]:
    """What in a module's text passes a limit, as `line what`."""
    found = []
    lines = len(source.splitlines())
    if lines > MODULE_LINES:
        found.append(f"1 the module has {lines} lines, limit {MODULE_LINES}")
    for node in nodes(source):
        if isinstance(node, Function):
            found += too_large_function(node)
    return found


def too_large_function(node: Function) -> list[str]:
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    names += [argument.arg for argument in (node.args.vararg, node.args.kwarg) if argument]
    handler = names[:1] == ["ctx"]
    # A handler's signature is the list of its fields: it counts as one line.
    first = node.body[0].lineno - 1 if handler else node.lineno
    lines = (node.end_lineno or node.lineno) - first + 1
    parameters = [name for name in names if name not in {"self", "cls"}]
    found = []
    if lines > FUNCTION_LINES:
        found.append(f"{node.lineno} {node.name} has {lines} lines, limit {FUNCTION_LINES}")
    if len(parameters) > PARAMETERS and not handler:
        found.append(f"{node.lineno} {node.name} has {len(parameters)} parameters, limit {PARAMETERS}")
    return found
