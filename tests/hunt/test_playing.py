"""Playing: what is kept of a seed; an exception of labkit is a finding, and does not end a campaign."""

from __future__ import annotations

import pytest

from labkit.hunt import playing
from labkit.hunt.findings import EXCEPTION
from labkit.hunt.playing import PlayedSeed, play
from labkit.lab.operations.operator_console import OperatorConsole


@pytest.mark.slow
def test_steps_and_faults_of_a_seed_are_counted_up_to_the_quiet():
    found = play(1, "runbook", None)

    assert found == play(1, "runbook", None)
    assert 5 < found.done <= found.steps < 60
    assert 0 <= found.idle <= found.faults
    assert (found.findings, found.left, found.is_judged) == ((), "", True)


def test_an_exception_of_labkit_is_a_finding(monkeypatch: pytest.MonkeyPatch):
    def start(self: OperatorConsole, *_: object, **__: object) -> int:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(OperatorConsole, "start", start)
    found = play(1, "runbook", None)

    assert [(finding.signature.rule, finding.signature.origin) for finding in found.findings] == [
        (EXCEPTION, "ZeroDivisionError")
    ]
    assert found.findings[0].is_exception


@pytest.mark.slow
def test_a_seed_that_does_not_come_to_rest_is_judged_only_where_something_broke(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(playing, "what_is_left", lambda world: "tokyo-1 is down")

    assert not play(1, "runbook", None).is_judged
    assert PlayedSeed(0, "swarm", 0, 0, 0, 0, play(5, "careless", None).findings, "tokyo-1 is down").is_judged
