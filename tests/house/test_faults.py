"""Each fault of a lab reaches every surface from its one row, and no other module lists faults."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from labkit import Lab
from labkit.lab.cloud_fault_table import OBSERVED
from labkit.lab.fault_table import AROUND, FAULTS, LINE, NAMED, NODE, WAY, Fault
from labkit.lab.faults import LabFaults
from labkit.reference import entry
from labkit.scenario.acts import ACTS
from labkit.scenario.verb import FAULT
from labkit.scenario.verbs import VERBS
from labkit.views.dashboard_faults import BUTTONS, LINE_FAULTS, NODE_FAULTS
from tests.house.trees import nodes

NAMES = {name for fault in FAULTS for name in (fault.name, fault.verb, fault.method)}
MAX_NAMES = 2  # a module may know a fault or two; who lists more has a table of its own
LISTS = {
    "labkit/lab/fault_table.py",
    "labkit/lab/cloud_fault_table.py",
    "labkit/reference/examples.py",  # a file for each verb of scenario files
    "labkit/reference/python_examples.py",  # an example for each method of a lab
    "labkit/views/acts_now.py",  # which choices of each verb make sense in a state, and what is said of none
    "labkit/lessons/damaged_tree/three_pages.py",  # the only faults that an exercise allows
    "labkit/hunt/kinds.py",  # what a search may do with each verb: a lab knows nothing of searches
    "labkit/hunt/quiet.py",  # in which order all faults are undone
    "labkit/hunt/schedule.py",  # what would undo an operator's fence
}

each_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)


def sentence(fault: Fault) -> str:
    """What every help says of a fault."""
    return (inspect.getdoc(getattr(LabFaults, fault.method)) or "").partition("\n\n")[0]


@each_fault
def test_a_lab_has_it_as_a_method(fault: Fault) -> None:
    method = getattr(Lab, fault.method)

    assert inspect.signature(method) == inspect.signature(getattr(LabFaults, fault.method))
    assert sentence(fault).endswith(".")
    assert (inspect.getdoc(method) or "").partition("\n\n")[0] == sentence(fault)


@each_fault
def test_scenario_files_and_served_labs_have_it_as_a_verb(fault: Fault) -> None:
    verb = VERBS[fault.verb]

    assert verb.kind == FAULT
    assert verb.about == sentence(fault)
    assert VERBS[fault.verb] is ACTS[fault.verb]
    assert verb.undo == (fault.opposite.verb if fault.opposite is not None else "")
    assert {field.key for field in fault.fields} <= {parameter.name for parameter in verb.parameters}


@each_fault
def test_the_help_describes_it(fault: Fault) -> None:
    page = entry("verbs", fault.verb)

    assert page.startswith(f"{fault.verb}: {sentence(fault)}\n")
    assert all(f"    {field.key}: {field.expected}" in page for field in fault.fields)
    assert fault.opposite is None or f"(undone by {fault.opposite.verb})" in page


@each_fault
def test_the_dashboard_has_it_where_its_target_can_be_chosen(fault: Fault) -> None:
    forms = [form for form in (*NODE_FAULTS, *LINE_FAULTS) if fault.method in (form.verb, form.undoing)]

    assert forms or fault.name in BUTTONS or fault.target not in (NODE, LINE, WAY, AROUND)


@each_fault
def test_history_and_timeline_have_words_for_it(fault: Fault) -> None:
    if fault.observed:
        assert OBSERVED[fault.observed].cause
        assert OBSERVED[fault.observed].mark.startswith(fault.verb)
    else:
        assert fault.cause.format(target="paris", detail="for a while")


def test_who_undoes_what_is_the_same_on_every_surface() -> None:
    undone = {fault.method: NAMED[fault.undone_by].method for fault in FAULTS if fault.undone_by}

    assert all(undone[form.verb] == form.undoing for form in (*NODE_FAULTS, *LINE_FAULTS))
    assert all(
        NAMED[name].observed == OBSERVED[fault.observed].undone_by
        for fault in FAULTS
        if fault.observed and (name := fault.undone_by)
    )


@pytest.mark.slow
def test_no_other_module_lists_faults(modules: list[Path], checkout: Path) -> None:
    found = [
        f"{path.relative_to(checkout)}:{line} lists {', '.join(names)}; each fact about a fault stands in its row"
        for path in modules
        if path.relative_to(checkout).as_posix() not in LISTS
        for line, names in lists_of_faults(path.read_text())
    ]

    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("UNDOING = ('heal', 'restart', 'resume')", ["heal", "restart", "resume"]),
        ("BACK = {'heal', 'steady', 'expose', 'x'}", ["expose", "heal", "steady"]),
        (
            "def f(verb):\n    return {'crash': 1, 'pause': 2, 'crash-in-commit': 3}[verb]",
            ["crash", "crash-in-commit", "pause"],
        ),
        ("ROWS = [Form('a', 'skew'), Form('b', 'lose'), Form('c', 'duplicate')]", ["duplicate", "lose", "skew"]),
    ],
)
def test_a_list_of_faults_is_found(source: str, names: list[str]) -> None:
    assert [found for _, found in lists_of_faults(source)] == [names]


@pytest.mark.parametrize(
    "source", ["A = ('crash', 'pause')", "A = ('crash', 'x', 'y', 'crash')", "f('heal', 'cut', 'x')"]
)
def test_a_fault_or_two_may_be_named(source: str) -> None:
    assert list(lists_of_faults(source)) == []


def lists_of_faults(source: str) -> list[tuple[int, list[str]]]:
    """The outermost tuples, lists, sets and dicts of a module that name more faults than it may know."""
    found, known = [], range(0)
    for node in nodes(source):
        if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict) and node.lineno not in known:
            parts = node.keys if isinstance(node, ast.Dict) else node.elts
            texts = {text for part in parts if part is not None for text in texts_of(part)}
            if len(texts & NAMES) > MAX_NAMES:
                found.append((node.lineno, sorted(texts & NAMES)))
                known = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return found


def texts_of(part: ast.expr) -> list[str]:
    """The texts of a part of a list: it itself, or the arguments of a call there."""
    parts = [*part.args, *(word.value for word in part.keywords)] if isinstance(part, ast.Call) else [part]
    return [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
