"""Each kind of row that a trace can hold has its rule of causes: a new kind is found here until it has one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.lab.causes import observation_causes
from labkit.lab.causes.event_choice import EXPLAINED
from labkit.lab.causes.why import RULES
from labkit.lab.cloud_fault_table import OBSERVED as DONE_TO_CLOUD
from labkit.trace import EVENTS
from tests.house.trees import nodes, tree

OF_MESSAGES = ("request", "lost")  # by what became of it, a message is explained by one rule or the other
EMITS = {"observe": 0, "_observe": 0, "Observe": 0, "Observed": 2}
"""{what is called to report an observation: which of its arguments is the kind}."""

UNREAD = "a kind that cannot be read off the code"


@pytest.mark.parametrize("kind", EVENTS)
def test_each_kind_of_row_is_explained(kind: str) -> None:
    assert kind in EXPLAINED
    assert {*OF_MESSAGES} <= RULES.keys() if kind == "message" else kind in RULES


def test_each_kind_of_observation_has_its_rule_and_no_rule_is_for_none(modules: list[Path], checkout: Path) -> None:
    emitted = {
        (path.relative_to(checkout).as_posix(), kind) for path in modules for kind in observations(path.read_text())
    }
    found = {kind: path for path, kind in sorted(emitted)}
    wanted = "give it one in lab/causes/observation_causes.py, or name it there among those of the node's item"

    assert [f"{path}: {kind!r} has no rule; {wanted}" for kind, path in found.items() if kind not in explained()] == []
    assert sorted(explained() - found.keys()) == [], "nobody reports these: take their rules out"


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("core.observe('melted', degree=1)", ["melted"]),
        ("partial(core.observe, 'melted', degree=1)", ["melted"]),
        ("effects.append(Observe('melted', {}))", ["melted"]),
        ("services.emit(Observed(now, name, 'melted', ()))", ["melted"]),
        ("KIND = 'melted'\ndef f(core):\n    core.observe(KIND)", ["melted"]),
        ("core.observe(reports.MESSAGE_REFUSED)", ["message refused"]),
        ("def f(x):\n    kind = 'melted' if x else 'frozen'\n    return Observe(kind, {})", ["frozen", "melted"]),
        ("def f(x):\n    g('melted', x)\n\ndef g(what, x):\n    observe(what, x=x)", ["melted"]),
        ("def g(what):\n    observe(what)", []),  # what is handed on is reported by who calls this
        ("def g(x):\n    observe(x.kind, **x.fields)", []),
        ("observe(f'melted {x}')", [UNREAD]),
    ],
)
def test_what_is_reported_is_read_off_the_code(source: str, kinds: list[str]) -> None:
    assert sorted(set(observations(source))) == kinds


def explained() -> set[str]:
    """Every kind of observation that has a rule."""
    return {*observation_causes.OBSERVED, *DONE_TO_CLOUD}


def observations(source: str) -> Iterator[str]:
    """The kinds of observations that a module reports."""
    if "bserve" not in source:
        return
    calls = [node for node in nodes(source) if isinstance(node, ast.Call)]
    functions = [node for node in nodes(source) if isinstance(node, ast.FunctionDef)]
    constants = {**shared_constants(), **texts_of(tree(source).body)}
    handing_on = dict(EMITS)
    for kind in kinds_given(calls, EMITS):  # a function that hands its argument on reports what it is called with
        around = function_around(kind, functions)
        names = [] if around is None else [argument.arg for argument in around.args.args if argument.arg != "self"]
        if around is not None and name_of(kind) in names and around.name not in EMITS:
            handing_on[around.name] = names.index(name_of(kind))
    for kind in kinds_given(calls, handing_on):
        yield from read(kind, constants, function_around(kind, functions))


def function_around(node: ast.expr, functions: list[ast.FunctionDef]) -> ast.FunctionDef | None:
    """The innermost function that an expression stands in."""
    holding = [each for each in functions if each.lineno <= node.lineno <= (each.end_lineno or each.lineno)]
    return max(holding, key=lambda each: each.lineno, default=None)


def kinds_given(calls: list[ast.Call], emits: dict[str, int]) -> Iterator[ast.expr]:
    """The argument of each call, or of each ``partial`` of one, that says what was observed."""
    for call in calls:
        function, arguments = call.func, call.args
        if name_of(function) == "partial" and arguments:
            function, *arguments = arguments
        place = emits.get(name_of(function))
        if place is not None and len(arguments) > place:
            yield arguments[place]


def read(kind: ast.expr, constants: dict[str, str], around: ast.FunctionDef | None) -> list[str]:
    """The texts that an expression can be; none where it is handed on from elsewhere."""
    if isinstance(kind, ast.Constant) and isinstance(kind.value, str):
        return [kind.value]
    if isinstance(kind, ast.IfExp):
        return [*read(kind.body, constants, around), *read(kind.orelse, constants, around)]
    if isinstance(kind, ast.Attribute) and kind.attr in ("kind", "what"):
        return []
    if name_of(kind) in constants:
        return [constants[name_of(kind)]]
    if isinstance(kind, ast.Name) and around is not None:
        if kind.id in [argument.arg for argument in around.args.args]:
            return []
        given = [
            node.value
            for node in ast.walk(around)
            if isinstance(node, ast.Assign) and name_of(node.targets[0]) == kind.id
        ]
        if given:
            return [text for value in given for text in read(value, constants, around)]
    return [UNREAD]


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def texts_of(body: list[ast.stmt]) -> dict[str, str]:
    """The texts that a module gives names to."""
    return {
        name_of(node.targets[0]): node.value.value
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }


def shared_constants() -> dict[str, str]:
    """The kinds that several modules report, by the names that they have in the module of reports."""
    from labkit.lab.wire import reports

    return {name: value for name, value in vars(reports).items() if name.isupper() and isinstance(value, str)}
