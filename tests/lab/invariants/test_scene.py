"""What a standing rule is when it judges nothing: it keeps whether there was an occasion, and finds nothing."""

from __future__ import annotations

from typing import Any

from labkit.lab.invariants.scene import Scene, StandingRule


def test_a_rule_remembers_whether_there_was_an_occasion():
    queries: Any = None
    scene = Scene(queries, lambda name, detail: None, {})
    rule = StandingRule(scene, {})
    assert repr(rule) == "StandingRule(no occasion yet)"
    assert rule.judgements == {}
    rule.check_at_rest()
    rule.occurred = True

    assert StandingRule(scene, rule.state()).occurred
