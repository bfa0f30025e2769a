"""What a small mistake in a module may be: every place where one can stand, and the text of the module that has it.

1. A mutation replaces one expression or statement; what stands before it keeps its line.
2. What no test can or should see is left alone: docstrings, annotations, assertions, imports for the type checker,
   words inside texts.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import NamedTuple

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}

ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}


class Mutation(NamedTuple):
    """One small mistake: where it stands, what stood there, and what stands there instead."""

    line: int
    before: str
    after: str
    source: str  # the whole module with the mistake

    def __str__(self) -> str:
        return f"{self.line}: {_one_line(self.before)} -> {_one_line(self.after)}"


class Site(NamedTuple):
    """A place in a module where a mistake can be made, and what would stand there."""

    node: ast.expr | ast.stmt
    changed: ast.AST


def sites(source: str) -> list[Site]:
    """Every mistake that can be made in a module, in the order of its text."""
    return [site for node in _visited(ast.parse(source)) for site in _mutated(node)]


def mutate(source: str, site: Site) -> Mutation:
    """Make one mistake."""
    encoded = source.encode()
    starts = [0, *(place + 1 for place, byte in enumerate(encoded) if byte == 10)]
    node = site.node
    begin = starts[node.lineno - 1] + node.col_offset
    end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
    text = ast.unparse(site.changed)
    text = f"({text})" if isinstance(node, ast.expr) else text
    mutated = (encoded[:begin] + text.encode() + encoded[end:]).decode()
    return Mutation(node.lineno, encoded[begin:end].decode(), text, mutated)


def _visited(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Walk over all that may be mutated, in the order of the text."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params", "bases", "cause"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Assert | ast.JoinedStr) or _for_types(child):
                continue
            if isinstance(child, ast.expr | ast.stmt):
                yield child
            yield from _visited(child)


def _for_types(node: ast.AST) -> bool:
    """Whether only the type checker reads it: ``if TYPE_CHECKING`` and the declaration of a type."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.BinOp | ast.Subscript):
        return False
    target = node.targets[0]
    return isinstance(target, ast.Name) and target.id[0].isupper() and not target.id.isupper()


def _mutated(node: ast.expr | ast.stmt) -> Iterator[Site]:
    """Yield the mistakes that can be made at one node."""
    if isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp):
        yield Site(node.test, ast.UnaryOp(ast.Not(), node.test))
    changed = _statements(node) if isinstance(node, ast.stmt) else _expressions(node)
    yield from (Site(node, each) for each in changed)


def _expressions(node: ast.expr) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[index] = COMPARISONS[type(operator)]()
            yield changed
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _is_text(node.left, node.right):
        yield ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        yield ast.Constant(_other(node.value))
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        yield from _unfiltered(node)


def _statements(node: ast.stmt) -> Iterator[ast.AST]:
    if isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Call | ast.Yield | ast.YieldFrom):
            yield ast.Pass()
    elif isinstance(node, ast.Return):
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Assign):
        if not isinstance(node.targets[0], ast.Name | ast.Tuple):
            yield ast.Pass()
    elif isinstance(node, ast.AugAssign | ast.Delete | ast.Raise):
        yield ast.Pass()
    elif isinstance(node, ast.Continue):
        yield ast.Break()
    elif isinstance(node, ast.Break):
        yield ast.Continue()


def _unfiltered(node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Iterator[ast.AST]:
    """Yield a comprehension without each of its conditions."""
    for index, part in enumerate(node.generators):
        for condition in range(len(part.ifs)):
            changed = copy.deepcopy(node)
            del changed.generators[index].ifs[condition]
            yield changed


def _other(value: bool | int) -> bool | int:
    """Return another value: the next of a small number, the double of a large one."""
    if isinstance(value, bool):
        return not value
    return value + 1 if value < 10 else value * 2


def _is_text(*nodes: ast.expr) -> bool:
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return any(isinstance(node, ast.JoinedStr) for node in nodes) or any(isinstance(v, str | bytes) for v in constants)


def _one_line(text: str) -> str:
    short = " ".join(text.split())
    return short if len(short) <= 90 else short[:87] + "..."
