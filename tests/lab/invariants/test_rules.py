"""The table of standing rules: one row for each, and each file that it names is there and says the same."""

from __future__ import annotations

import re
from pathlib import Path

from labkit.lab.invariants import JUDGES, RULES, STANDING
from labkit.scenario.loading import load

CHECKOUT = Path(__file__).resolve().parents[3]


def test_each_rule_has_a_row_of_its_own():
    assert len(set(STANDING)) == len(STANDING) == len(RULES)
    assert set(JUDGES) <= set(STANDING)
    assert all(rule.says.endswith(".") for rule in RULES)


def test_a_file_that_breaks_a_rule_expects_so():
    named = [(rule.name, path) for rule in RULES for path in re.findall(r"scenarios/\S+\.yaml", rule.broken_by)]

    assert len(named) > 3
    for name, path in named:
        assert dict(load(CHECKOUT / path).expect.invariants).get(name) == "broken", f"{path}: {name}"
