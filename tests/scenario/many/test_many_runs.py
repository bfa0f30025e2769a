"""Many runs are one table: a row for each combination, a rate with its bounds, the worst seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from labkit.scenario.documents.combination import Combination
from labkit.scenario.many import many_runs
from labkit.scenario.many.many_runs import ManyRuns, PlayedRun, rate_bounds, rate_text
from labkit.scenario.measures import VerdictRow
from labkit.scenario.scenario import Scenario
from labkit.scenario.verdict import Verdict

Vary = Callable[..., str]
ScenarioOf = Callable[[str], Scenario]


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(16, 16, 81, 100), (9, 16, 33, 77), (1, 16, 1, 28), (0, 16, 0, 19), (0, 10_000, 0, 0), (50, 100, 40, 60)],
)
def test_a_rate_is_between_its_bounds(count: int, total: int, low: int, high: int) -> None:
    assert [round(100 * bound) for bound in rate_bounds(count, total)] == [low, high]


def test_a_rate_is_written_with_its_bounds() -> None:
    assert rate_text(0, 50) == "0% (at most 7.2%)"
    assert rate_text(50, 50) == "100% (at least 92.8%)"
    assert rate_text(3, 50) == "6.0% (2.0% to 16.3%)"


def test_a_rate_that_is_rare_is_not_written_as_none() -> None:
    assert rate_text(0, 10_000) == "0% (at most 0.039%)"
    assert rate_text(1, 10_000) == "0.010% (0.0017% to 0.057%)"
    assert rate_text(9_999, 10_000) == "100.0% (99.9% to 100.0%)"


@pytest.mark.parametrize("total", [7, 16, 50, 999, 10_000])
def test_bounds_hold_as_they_are_written(total: int) -> None:
    for count in range(0, total + 1, max(1, total // 50)):
        low, high = rate_bounds(count, total)
        written = [float(text.strip("(%)")) / 100 for text in rate_text(count, total).split() if "%" in text]
        assert count == 0 or written[1] <= low
        assert count == total or written[-1] >= high


def test_a_share_that_is_given_exactly_is_written_exactly() -> None:
    assert [many_runs.percent(share) for share in (0, 0.003, 0.07, 1 / 3, 1)] == [
        "0%",
        "0.30%",
        "7.0%",
        "33.3%",
        "100.0%",
    ]


def verdict(seed: int, *statuses: str) -> Verdict:
    rows = tuple([VerdictRow("x", "", "", status, "x") for status in statuses])
    return Verdict(title="A small lab", seed=seed, at_ns=0, rows=rows)


def runs_of(scenario: Scenario, verdicts: Iterable[Verdict]) -> ManyRuns:
    runs = ManyRuns(scenario.title)
    for judged in verdicts:
        runs.add(scenario, judged)
    return runs


def test_the_worst_seed_is_broken_most(vary: Vary, scenario_of: ScenarioOf) -> None:
    rows = [("ok",), ("unknown", "unknown", "unknown"), ("broken",), ("broken", "broken"), ("broken", "unknown")]
    runs = runs_of(scenario_of(vary()), [verdict(seed, *found) for seed, found in enumerate(rows)])
    heading, rule, row, _, bounds, _, summary = runs.text().splitlines()

    assert heading.split("  ")[0] == "runs"
    assert row.split() == ["5", "1", "1", "3", "60.0%", "(23.0%", "to", "88.3%)", "3"]
    assert rule.strip("- ") == ""
    assert bounds.startswith("In brackets: ")
    assert summary == runs.summary == "A small lab: not as expected in 3 of 5 runs (5 seeds)"
    assert runs.exit_code == 1


@pytest.mark.parametrize(
    ("statuses", "code", "word"),
    [(("ok", "ok"), 0, "as expected in all 2"), (("ok", "unknown"), 3, "unknown in 1 of 2")],
)
def test_the_worst_verdict_counts(
    statuses: tuple[str, ...], code: int, word: str, vary: Vary, scenario_of: ScenarioOf
) -> None:
    runs = runs_of(scenario_of(vary()), [verdict(seed, status) for seed, status in enumerate(statuses)])

    assert runs.exit_code == code
    assert f": {word} runs" in runs.summary


def test_each_combination_has_a_row(vary: Vary, scenario_of: ScenarioOf) -> None:
    runs, scenario = ManyRuns("A small lab"), scenario_of(vary())
    runs.runs = {
        Combination((("latency", latency),)): [PlayedRun(seed, 0, 0) for seed in range(3)]
        for latency in ("20ms", "80ms")
    }

    assert [line.partition("  ")[0] for line in runs.text().splitlines()[2:4]] == ["latency: 20ms", "latency: 80ms"]
    assert runs.summary == f"{scenario.title}: as expected in all 6 runs (2 combinations, 3 seeds)"
    assert max(map(len, runs.text(70).splitlines())) <= 70
