"""A report fits on a screen: the verdict, what was expected where, what happened last, and how to run it again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.front.lab import Lab
from labkit.lab.invariants import Violation
from labkit.scenario.measures import VerdictRow
from labkit.scenario.report import columns_of, report
from labkit.scenario.scenario import Scenario
from labkit.scenario.verdict import Verdict
from labkit.trace import Trace

Vary = Callable[..., str]
Judged = Callable[[Lab], Verdict]


def test_one_wrong_expectation(
    vary: Vary, judged: Judged, scenario_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = scenario_file(vary(("primary: tokyo", "primary: paris")))
    monkeypatch.chdir(path.parent)
    lab = Lab.load(path.name).run()
    lines = report_of(lab, judged).splitlines()

    assert lines[:4] == [
        "A small lab: not as expected (seed 7, 10s of lab time)",
        "small.lab.yaml:16:3: primary: expected paris, got tokyo (paris has no active node) (broken)",
        "   16 |   primary: paris",
        "      |   ^^^^^^^",
    ]
    assert lines[4] == "the last events:"
    assert lines[-2].endswith(": tokyo is the primary now")
    assert lines[-1] == "to run it again: labkit run small.lab.yaml --seed 7"
    assert len(lines) <= 25


def test_many_wrong_expectations_are_counted(vary: Vary, judged: Judged, scenario_file: Callable[..., Path]) -> None:
    wrong = "acknowledged: 7\n  refused: 7\n  in doubt: 7\n  lost: 7\n  roots: equal"
    path = scenario_file(vary(("lost: 0", wrong)), "with space.lab.yaml")
    lab = Lab.load(path, seed=3).run()
    lines = report_of(lab, judged).splitlines()

    assert "and 2 more: operations refused, roots" in lines
    assert len(lines) <= 25
    assert lines[-1] == f"to run it again: labkit run '{path}' --seed 3"


@pytest.mark.parametrize(("failed", "more"), [(1, []), (3, []), (4, ["and 1 more: row 3"])])
def test_the_first_three_failures_are_shown(
    failed: int, more: list[str], vary: Vary, scenario_of: Callable[[str], Scenario]
) -> None:
    rows = [VerdictRow(f"row {number}", "0", "1", "broken", "none of the file") for number in range(failed)]
    lines = report(scenario_of(vary()), 7, "summary", rows, Trace()).splitlines()

    shown = [f"small.lab.yaml: row {number}: expected 0, got 1 (broken)" for number in range(min(failed, 3))]
    assert lines == [
        "summary",
        *shown,
        *more,
        "the last events:",
        "to run it again: labkit run small.lab.yaml --seed 7",
    ]


def test_the_last_five_events_are_shown(vary: Vary, scenario_of: Callable[[str], Scenario]) -> None:
    trace = Trace()
    for number in range(7):
        trace.record(("note", number, f"note {number}"))
    lines = report(scenario_of(vary()), 7, "summary", [], trace).splitlines()

    assert [line.split("note")[-1].strip() for line in lines[2:-1]] == [str(number) for number in range(2, 7)]


def test_an_expectation_that_is_not_written_names_the_file(
    vary: Vary, judged: Judged, scenario_file: Callable[..., Path]
) -> None:
    path = scenario_file(vary())
    lab = Lab.load(path).run()
    lab.invariants.broken["one primary"] = Violation("one primary", lab.now, "planted")
    lines = report_of(lab, judged)

    assert f"{path}: one primary: expected held, got broken at 10s: planted (broken)" in lines


def test_a_failed_step_is_shown_where_it_stands(vary: Vary, judged: Judged, scenario_file: Callable[..., Path]) -> None:
    path = scenario_file(vary(("do: promote", "do: enable-primary")))
    lab = Lab.load(path).run()
    lines = report_of(lab, judged).splitlines()

    assert lines[1].startswith(f"{path}:12:5: step 3: enable-primary tokyo: expected done, got refused: ")
    assert lines[2] == "   12 |   - {do: enable-primary, cluster: tokyo, after: 2s}"
    assert len(lines) <= 25


def test_a_restored_lab_has_no_file_to_name(vary: Vary, judged: Judged, scenario_file: Callable[..., Path]) -> None:
    lab = Lab.load(scenario_file(vary(("lost: 0", "lost: 3"))))
    restored = Lab.restore(lab.snapshot()).run()
    lines = report_of(restored, judged).splitlines()

    assert lines[1] == "of them lost: expected 3, got 0 (broken)"
    assert not any(line.startswith("to run it again") for line in lines)


def report_of(lab: Lab, judged: Judged) -> str:
    assert lab.scenario is not None
    return judged(lab).report(lab.scenario.scenario, lab.trace)


ROWS = (
    VerdictRow("timeline", "3 steps", "2 as written", "broken", "timeline"),
    VerdictRow("step 1: crash paris", "done", "refused: " + "word " * 30, "broken", "step 1"),
)
LONG = Verdict(title="<script>", seed=7, at_ns=10**10, rows=ROWS)


def test_the_table_is_aligned_and_wraps() -> None:
    lines = str(LONG).splitlines()
    column = lines[0].index("measured")

    assert lines[1].startswith("---")
    assert max(map(len, lines)) < 160
    assert sum(line[column:].startswith("word word") for line in lines) >= 2
    assert lines[-1] == LONG.summary


def test_every_row_stands_below_the_rule() -> None:
    rows = (VerdictRow("lost", "0", "3", "broken", "lost"), VerdictRow("roots", "equal", "equal", "ok", "roots"))

    assert str(Verdict(title="x", seed=7, at_ns=0, rows=rows)).splitlines()[:-2] == [
        "       expected  measured  verdict",
        "-----  --------  --------  -------",
        "lost   0         3         broken",
        "roots  equal     equal     ok",
    ]


MANY_RUNS = (
    ("combination", "runs", "not as expected", "share not as expected"),
    ("latency: 20ms, nodes: 3", "20", "20", "100% (at least 83.9%)"),
)


@pytest.mark.parametrize(("columns", "heading", "body"), [(80, 1, 1), (64, 2, 1), (48, 2, 2)])
def test_where_there_is_little_room_headings_are_wrapped_first(columns: int, heading: int, body: int) -> None:
    found = columns_of(MANY_RUNS, columns)

    assert max(map(len, found)) <= columns
    assert found[heading].startswith("----"), "the rule stands below the whole of the headings"
    assert len(found) == heading + 1 + body


def test_the_html_table_escapes() -> None:
    html = LONG._repr_html_()

    assert "<script>" not in html
    assert html.count("<tr>") == len(ROWS) + 1
    assert "<caption>" in html
    assert "scope='row'" in html
