"""Playing: what is kept of a seed; an exception of labkit is a finding, and does not end a campaign."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from labkit.hunt import playing
from labkit.hunt.beginnings import of_blueprint, of_file
from labkit.hunt.findings import EXCEPTION
from labkit.hunt.playing import TOO_LONG, play
from labkit.lab.operations.operator_console import OperatorConsole
from labkit.lab.plan.blueprint import pair

LATE = """
scenario: its first step does not come about
lab:
  sites: [paris]
  clusters: {paris: {site: paris}}
timeline:
  - {at: 5s, do: wait, for: 1ms, when: {modes: {paris: secondary}}, within: 1s}
  - {at: 9s, do: crash, target: paris}
"""


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
    assert (found.left, found.is_judged) == ("labkit raised", False)


@pytest.mark.slow
def test_a_seed_that_does_not_come_to_rest_is_not_judged_whatever_broke(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(playing, "what_is_left", lambda world: "tokyo-1 is down")
    broken = play(3, "careless", None)

    assert not play(1, "runbook", None).is_judged
    assert broken.findings
    assert not broken.is_judged


def test_a_seed_whose_first_steps_fail_is_not_judged(tmp_path: Path):
    path = tmp_path / "late.lab.yaml"
    path.write_text(LATE)
    found = play(1, "runbook", of_file(str(path)))

    assert (found.left, found.is_judged) == ("step 1, wait, failed and ended the run", False)


def test_a_seed_for_which_its_first_steps_leave_no_room_in_a_file_is_not_judged():
    steps = ({"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "1s"}, *[{"do": "heal"}] * 190)
    found = play(1, "runbook", replace(of_blueprint(pair()), steps=steps))

    assert (found.left, found.is_judged, found.findings) == (TOO_LONG, False, ())
