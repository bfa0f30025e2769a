"""The lists of a file that say what holds over time are read item by item, with the steps from which windows count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from labkit.scenario.problems import ScenarioError
from labkit.scenario.scenario import Scenario
from labkit.scenario.timed.points import AfterPoint
from labkit.scenario.timed.timed_conditions import TIMED_PARTS
from labkit.scenario.timed.timed_sections import EXAMPLES
from labkit.service.durations import SECOND_NS

Vary = Callable[..., str]
ScenarioOf = Callable[[str], Scenario]


@pytest.mark.parametrize(
    ("written", "point", "words"),
    [
        ("step 3", AfterPoint(3), "after step 3"),
        ("{step: 3}", AfterPoint(3), "after step 3"),
        ("{step: 2, began: 2s}", AfterPoint(2, True, 2 * SECOND_NS), "2s after step 2 began"),
        ("{step: '1', began: 0s}", AfterPoint(1, True, 0), "0s after step 1 began"),
        ("{step: step 2, ended: 1500ms}", AfterPoint(2, False, 1_500_000_000), "1.5s after step 2 ended"),
    ],
)
def test_a_window_counts_from_a_step(
    vary: Vary, scenario_of: ScenarioOf, written: str, point: AfterPoint, words: str
) -> None:
    text = f"{vary()}eventually:\n  - {{roots: equal, within: 15s, after: {written}}}\n"
    (timed,) = scenario_of(text).over_time

    assert timed.after == point
    assert timed.text == f"eventually roots equal within 15s, {words}"


def test_every_kind_is_read_with_its_place_and_its_position(vary: Vary, scenario_of: ScenarioOf) -> None:
    lists = "".join(f"{kind}:\n  - {example}\n" for kind, example in EXAMPLES.items())
    scenario = scenario_of(f"{vary()}{lists}covers: [takeover]\n")

    assert [timed.kind for timed in scenario.over_time] == list(TIMED_PARTS) == list(EXAMPLES)
    lines = [position.line for timed in scenario.over_time if (position := scenario.position_of(timed.key))]
    assert lines == [18, 20, 22, 24]
    assert (scenario.covers, scenario.position_of("covers takeover") is not None) == (("takeover",), True)


def test_a_saved_scenario_has_its_conditions(vary: Vary, scenario_of: ScenarioOf) -> None:
    lists = "".join(f"{kind}:\n  - {example}\n" for kind, example in EXAMPLES.items())
    scenario = scenario_of(f"{vary()}{lists}always:\n".removesuffix("always:\n"))
    again = Scenario.from_state(scenario.blueprint, scenario.seed, scenario.state())

    assert again == replace(scenario, path="", positions={}, lines=())


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        ("one primary", "a rule of each lab"),
        ("exception of labkit", "what a campaign calls what labkit raises"),
    ],
)
def test_a_condition_is_not_called_what_is_no_condition(
    vary: Vary, scenario_of: ScenarioOf, name: str, whose: str
) -> None:
    with pytest.raises(ScenarioError, match=f"expected another name, since '{name}' is {whose}"):
        scenario_of(f"{vary()}always:\n  - {{name: {name}, lag: 0}}\n")
