"""A report fits on a screen: the verdict, what was wanted where, what happened last, and how to see it again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from labkit.lab.invariants import Violation
from labkit.lab.lab import Lab
from labkit.scenario.report import report
from labkit.scenario.verdict import judge

Vary = Callable[..., str]


def test_one_wrong_expectation(vary: Vary, scenario_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = scenario_file(vary(("primary: tokyo", "primary: paris")))
    monkeypatch.chdir(path.parent)
    lab = Lab.load(path.name).run()
    told = report(lab, judge(lab)).splitlines()

    assert told[:4] == [
        "A small lab: not as expected (seed 7, 10s of lab time)",
        "small.lab.yaml:16:3: primary: wanted paris, came tokyo (paris has no active node) (broken)",
        "   16 |   primary: paris",
        "      |   ^^^^^^^",
    ]
    assert told[4] == "the last that happened:"
    assert told[-2].endswith(": tokyo is the primary now")
    assert told[-1] == "to see it again: labkit run small.lab.yaml --seed 7"
    assert len(told) <= 25


def test_many_wrong_expectations_are_counted(vary: Vary, scenario_file: Callable[..., Path]) -> None:
    wrong = "acknowledged: 7\n  refused: 7\n  unknown: 7\n  lost: 7\n  roots: equal"
    path = scenario_file(vary(("lost: 0", wrong)), "with space.lab.yaml")
    lab = Lab.load(path, seed=3).run()
    told = report(lab, judge(lab)).splitlines()

    assert "and 2 more: operations refused, roots" in told
    assert len(told) <= 25
    assert told[-1] == f"to see it again: labkit run '{path}' --seed 3"


def test_an_expectation_that_is_not_written_names_the_file(vary: Vary, scenario_file: Callable[..., Path]) -> None:
    path = scenario_file(vary())
    lab = Lab.load(path).run()
    lab.invariants.broken["one primary"] = Violation("one primary", lab.now, "planted")
    told = report(lab, judge(lab))

    assert f"{path}: one primary: wanted held, came broken at 10s: planted (broken)" in told


def test_a_failed_step_is_shown_where_it_stands(vary: Vary, scenario_file: Callable[..., Path]) -> None:
    path = scenario_file(vary(("do: promote", "do: demote")))
    lab = Lab.load(path).run()
    told = report(lab, judge(lab)).splitlines()

    assert told[1].startswith(
        f"{path}:12:5: step 3: demote tokyo: wanted done, came refused: demote tokyo: answered 400: "
    )
    assert told[2] == "   12 |   - {do: demote, cluster: tokyo, after: 2s}"
    assert len(told) <= 25


def test_a_restored_lab_has_no_file_to_name(vary: Vary, scenario_file: Callable[..., Path]) -> None:
    lab = Lab.load(scenario_file(vary(("lost: 0", "lost: 3"))))
    restored = Lab.restore(lab.snapshot()).run()
    told = report(restored, judge(restored)).splitlines()

    assert told[1] == "of them lost: wanted 3, came 0 (broken)"
    assert not any(line.startswith("to see it again") for line in told)


def test_a_lab_of_no_scenario_is_not_reported_on() -> None:
    with pytest.raises(ValueError, match=r"Lab\.load"):
        report(SimpleNamespace(scenario=None), None)  # type: ignore[arg-type]  # stand-ins
