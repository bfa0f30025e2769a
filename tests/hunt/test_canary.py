"""Canary: it is found, shrunk and written; where the shrinker or the rules fail, it is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit.hunt.beginnings import of_blueprint
from labkit.hunt.canary import CANARY, canary_of
from labkit.hunt.shrinking.shrinker import Shrinker
from labkit.hunt.world import World
from labkit.lab.invariants import Invariants
from labkit.lab.plan.blueprint import pair


@pytest.mark.parametrize("operator", ["runbook", "careless"])
def test_it_becomes_a_file_of_one_step(operator: str):
    found = canary_of(operator)

    assert found is not None
    assert (found.steps, found.name.startswith("the-canary")) == (1, True)
    assert CANARY in found.text


def test_it_is_found_beside_a_condition_of_its_name_and_below_steps_that_fill_a_file():
    start = of_blueprint(pair())
    condition = {"name": CANARY, "if": {"lag": 5}, "then": {"lag": 0}, "within": "3s"}

    assert canary_of("runbook", replace(start, over_time={"leads to": [condition]})) is not None
    assert canary_of("runbook", replace(start, steps=(*start.steps, *[{"do": "note", "text": "x"}] * 199))) is not None


def test_it_is_missed_where_labkit_raises_before_it_and_nothing_ends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(World, "run", lambda self, **_: 1 // 0)

    assert canary_of("runbook") is None


def test_it_is_missed_where_nothing_is_shrunk(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Shrinker, "shrink", lambda self: False)

    assert canary_of("runbook") is None


@pytest.mark.slow
def test_it_is_missed_where_no_rule_is_ever_broken(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Invariants, "found", lambda self, name, detail: None)

    assert canary_of("runbook") is None
