"""Acts: a verb's arguments are checked by hand as they are in a file; what a parameter may be can be shown."""

from __future__ import annotations

import pytest

from labkit.lab.plan.blueprint import pair
from labkit.scenario.acts import ACTS, choices_of, names_of, read_act, shape_of
from labkit.scenario.loading import load
from labkit.scenario.verb import FAULT, RUNBOOK
from labkit.scenario.verbs import VERBS

NAMES = names_of(pair())


def test_an_act_has_the_arguments_that_a_step_has(tmp_path):
    given = {"between": ["paris", "tokyo"], "latency": "1.5s", "one way": True}
    (tmp_path / "x.lab.yaml").write_text(
        "scenario: x\nlab:\n  sites: [paris, tokyo]\n  links:\n    - {between: [paris, tokyo], latency: 80ms}\n"
        "  clusters:\n    paris: {site: paris}\n    tokyo: {site: tokyo}\n"
        "timeline:\n  - {do: slow, between: [paris, tokyo], latency: 1.5s, one way: true}\n"
    )
    (step,) = load(tmp_path / "x.lab.yaml").timeline
    act = read_act("slow", given, NAMES)

    assert act.arguments == dict(step.arguments)
    assert (act.text, act.verb) == (step.text, VERBS["slow"])
    assert repr(act) == f"ActToDo({step.text})"


@pytest.mark.parametrize(
    ("verb", "given", "said"),
    [
        ("dance", {}, "verb: expected a verb, got 'dance'"),
        ("check", {}, "verb: expected a verb, got 'check'"),
        ("crash", {}, "target: expected a cluster or one of its nodes, got none"),
        ("crash", {"target": "pari"}, "target: expected a cluster or a node, got 'pari' — did you mean 'paris'?"),
        ("crash", {"target": 3}, "target: expected a cluster or one of its nodes, got 3"),
        ("crash", {"target": None}, "target: expected a cluster or one of its nodes, got nothing"),
        ("crash", {"target": "paris", "force": 1}, "expected an argument, got 'force'; there are: target"),
        ("roll-keys", {"force": 1}, "expected no argument, got 'force'"),
        ("crash", {"target": "paris", "late": "ok"}, "late: expected only what the verb itself takes"),
        ("crash", {"do": "seal", "target": "paris"}, "do: expected only what the verb itself takes"),
        ("slow", {"between": ["paris", "tokyo"]}, "do: expected latency or factor, got neither"),
        ("slow", {"between": ["paris"], "factor": 2}, "between: expected two sites or clusters"),
        ("slow", {"between": ["paris", "osaka"], "factor": 2}, "between: expected a site or a cluster, got 'osaka'"),
        ("slow", {"between": ["paris", "tokyo"], "latency": 5}, "latency: expected a duration with its unit"),
        ("flap", {"between": ["paris", "tokyo"], "down": "1ns", "up": "1s"}, "down: expected a duration from 1ms up"),
        ("unseal", {"cluster": "paris", "node": "tokyo-1"}, "node: expected a node of paris, got 'tokyo-1'"),
    ],
)
def test_what_is_wrong_is_said(verb, given, said):
    with pytest.raises(ValueError, match="expected") as raised:
        read_act(verb, given, NAMES)

    assert str(raised.value).startswith(said)


def test_only_runbooks_and_faults_are_acts():
    assert {verb.kind for verb in ACTS.values()} == {RUNBOOK, FAULT}
    assert set(VERBS) - set(ACTS) == {"wait", "check", "luck", "note"}


def test_each_parameter_has_a_shape_and_the_names_that_it_may_be():
    rows = {f"{verb.name} {row.name}": row for verb in ACTS.values() for row in verb.parameters}
    shapes = {name: shape_of(row) for name, row in rows.items()}

    assert {name for name, shape in shapes.items() if shape == "pair"} == {
        f"{verb} between" for verb in ("partition", "heal", "slow", "lose", "duplicate", "restore", "flap", "steady")
    }
    assert {name for name, shape in shapes.items() if shape == "number"} == {"ask repeat", "slow factor"}
    assert {name for name, shape in shapes.items() if shape == "mapping"} == {
        "ask body",
        "ask headers",
        "ask keep",
        "promote furthest ahead",
        "ask answer",
    }
    assert {name for name, shape in shapes.items() if shape == "flag"} == {
        "promote force",
        "reindex diff",
        "reindex force",
        "reindex skip_flush",
        "slow one way",
    }
    assert choices_of(rows["crash target"], NAMES) == (
        "paris",
        "tokyo",
        *(f"paris-{n}" for n in (1, 2, 3)),
        *(f"tokyo-{n}" for n in (1, 2, 3)),
    )
    assert choices_of(rows["corrupt layer"], NAMES) == ("root", "subtree", "page", "subpage", "storage")
    assert choices_of(rows["crash-in-commit moment"], NAMES) == ("before", "between", "after")
    assert choices_of(rows["partition between"], NAMES) == ("paris", "tokyo", "lisbon")
    assert choices_of(rows["ask path"], NAMES) == ()
