"""What a standing rule is when it judges nothing: it keeps how often it judged, and finds nothing."""

from __future__ import annotations

from typing import Any

from labkit.lab.invariants.scene import Scene, StandingRule


def test_a_rule_remembers_how_often_it_judged():
    queries: Any = None
    scene = Scene(queries, lambda name, detail: None, {})
    rule = StandingRule(scene, {})
    assert repr(rule) == "StandingRule(no occasion yet)"
    assert rule.judgements == {}
    rule.check_at_rest()
    rule.judged += 2
    again = StandingRule(scene, rule.state())

    assert (again.judged, again.occurred) == (2, True)
    assert repr(again) == "StandingRule(judged 2 times)"
    earlier = StandingRule(scene, {"occurred": True})
    assert (earlier.judged, earlier.state()) == (1, {"occurred": True})
