"""The table of standing rules: one row for each, and each file that it names is there and says the same."""

from __future__ import annotations

import re

from labkit.lab.invariants import JUDGES, RULES, STANDING
from labkit.places import shipped_scenario
from labkit.scenario.loading import load


def test_each_rule_has_a_row_of_its_own():
    assert len(set(STANDING)) == len(STANDING) == len(RULES)
    assert set(JUDGES) <= set(STANDING)
    assert all(rule.says.endswith(".") for rule in RULES)


def test_a_file_that_breaks_a_rule_expects_so():
    named = [(rule.name, name) for rule in RULES for name in re.findall(r"labkit run (\S+)", rule.broken_by)]

    assert len(named) > 3
    for name, scenario in named:
        path = shipped_scenario(scenario)
        assert path is not None, scenario
        assert dict(load(path).expect.invariants).get(name) == "broken", f"{path}: {name}"
