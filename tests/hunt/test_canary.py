"""Canary: it is found, shrunk and written; where the shrinker or the rules fail, it is not."""

from __future__ import annotations

import pytest

from labkit.hunt.canary import CANARY, canary_of
from labkit.hunt.shrinking.shrinker import Shrinker
from labkit.lab.invariants import Invariants


@pytest.mark.parametrize("operator", ["runbook", "careless"])
def test_it_becomes_a_file_of_one_step(operator: str):
    found = canary_of(operator)

    assert found is not None
    assert (found.steps, found.name.startswith("the-canary")) == (1, True)
    assert CANARY in found.text


def test_it_is_missed_where_nothing_is_shrunk(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Shrinker, "shrink", lambda self: False)

    assert canary_of("runbook") is None


@pytest.mark.slow
def test_it_is_missed_where_no_rule_is_ever_broken(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Invariants, "found", lambda self, name, detail: None)

    assert canary_of("runbook") is None
