"""Runbook arguments: each runbook is judged as it is declared, before it begins."""

from __future__ import annotations

from inspect import signature

import pytest

from labkit.lab.operations.runbook_arguments import JUDGES, ONE_OF, judge
from labkit.lab.operations.runbooks import RUNBOOKS
from labkit.lab.plan.blueprint import triangle

RIGHT = {
    "furthest_ahead": ["tokyo", "lima"],
    "cluster": "tokyo",
    "primary": "paris",
    "secondary": "lima",
    "to": "lima",
    "old": "paris",
    "new": "lima",
    "node": "tokyo-2",
    "force": True,
    "diff": False,
    "skip_flush": True,
    "method": "GET",
    "path": "sys/health",
    "body": {"a": 1},
    "options": {"token": "none", "keep": {"drop": "data.token"}, "answer": {"status": 403}},
    "keep": "drop",
    "token": "$(drop)",
    "address": "http://paris-2:8200",
    "value": "$(drop)",
    "otp": "$(otp)",
}


@pytest.mark.parametrize("runbook", RUNBOOKS)
def test_every_parameter_of_every_runbook_has_a_judge(runbook):
    names = list(signature(RUNBOOKS[runbook]).parameters)

    assert set(names) <= set(JUDGES)
    for choice in ONE_OF.get(runbook, ((),)):
        for left_out in choice or ("",):
            judge(triangle(), runbook, {name: RIGHT[name] for name in names if name != left_out})


@pytest.mark.parametrize("runbook", RUNBOOKS)
def test_each_argument_is_wanted_unless_it_has_a_default(runbook):
    names = list(signature(RUNBOOKS[runbook]).parameters)
    wanted = [name for name, given in signature(RUNBOOKS[runbook]).parameters.items() if given.default is given.empty]
    for name in names:
        others = {other: RIGHT[other] for other in names if other != name and (other in wanted)}
        others |= {choice[0]: RIGHT[choice[0]] for choice in ONE_OF.get(runbook, ())}
        if name not in wanted:
            judge(triangle(), runbook, others)
            continue
        with pytest.raises(ValueError, match=f"{runbook}: expected {name} too; its arguments are: {', '.join(names)}"):
            judge(triangle(), runbook, others)


@pytest.mark.parametrize(
    ("runbook", "first", "second"),
    [
        ("replicate", "primary", "secondary"),
        ("enable-secondary", "cluster", "primary"),
        ("repoint", "cluster", "to"),
        ("failover", "old", "new"),
    ],
)
def test_two_clusters_are_two(runbook, first, second):
    with pytest.raises(ValueError, match=f"expected two different clusters, got lima as {first} and {second}"):
        judge(triangle(), runbook, {first: "lima", second: "lima"})


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"cluster": "osaka"}, "cluster: expected a cluster, got 'osaka'"),
        ({"cluster": "tokyo", "force": "yes"}, "force: expected True or False, got 'yes'"),
        ({}, "promote: expected cluster or furthest_ahead, got neither"),
        (
            {"cluster": "tokyo", "furthest_ahead": ["tokyo", "lima"]},
            "promote: expected cluster or furthest_ahead, got b",
        ),
        ({"furthest_ahead": ["tokyo"]}, "furthest_ahead: expected a list of two clusters or more, each once, got a l"),
        ({"furthest_ahead": ["tokyo", "tokyo", "lima"]}, "furthest_ahead: expected a list of two clusters or more"),
        (
            {"furthest_ahead": "tokyo"},
            "furthest_ahead: expected a list of two clusters or more, each once, got 'tokyo'",
        ),
        ({"furthest_ahead": ["tokyo", "osaka"]}, "furthest_ahead: expected a cluster, got 'osaka'"),
        ({"cluster": "tokyo", "node": "tokyo-1"}, "promote: expected its own arguments, got 'node'"),
    ],
)
def test_each_argument_is_judged(arguments, says):
    with pytest.raises(ValueError, match=says):
        judge(triangle(), "promote", arguments)


def test_a_node_belongs_to_the_cluster():
    judge(triangle(), "unseal", {"cluster": "paris", "node": ""})
    with pytest.raises(ValueError, match="node: expected a node of paris, got 'tokyo-1'"):
        judge(triangle(), "unseal", {"cluster": "paris", "node": "tokyo-1"})
