"""A scenario is frozen plain data, and all that playing it needs can be saved and read again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import pytest

from labkit.scenario.problems import FilePosition
from labkit.scenario.scenario import Scenario, Step

Vary = Callable[..., str]
ScenarioOf = Callable[[str], Scenario]


def test_it_does_not_change(vary: Vary, scenario_of: ScenarioOf) -> None:
    scenario = scenario_of(vary())

    with pytest.raises(FrozenInstanceError):
        scenario.seed = 8  # type: ignore[misc]  # that is the point


def test_its_state_builds_it_again_without_a_file(vary: Vary, scenario_of: ScenarioOf) -> None:
    scenario = scenario_of(vary(("lost: 0", "lost: {at most: 3}\n  invariants: {one primary: held}\n  roots: equal")))
    # Tuples come back from JSON as lists: what is restored is made of plain values only.
    state = json.loads(json.dumps(scenario.state()))

    again = Scenario.from_state(scenario.blueprint, scenario.seed, scenario.state())

    assert again.state() == scenario.state()
    assert json.loads(json.dumps(again.state())) == state
    assert (again.path, again.lines, again.positions) == ("", (), {})


def test_a_step_by_itself_follows_the_one_before_must_succeed_and_be_in_time() -> None:
    step = Step(1, "crash", (("target", "paris"),), "crash paris")

    assert (step.at_ns, step.after_ns, step.fails, step.late_ok) == (None, 0, None, False)


def test_it_knows_the_positions_of_expectations_and_steps(vary: Vary, scenario_of: ScenarioOf) -> None:
    scenario = scenario_of(vary(("lost: 0", "lost: 0\n  invariants: {one primary: held}")))

    assert scenario.position_of("lost") == FilePosition(15, 3, 4)
    assert scenario.position_of("one primary") == FilePosition(16, 16, 11)
    assert scenario.position_of("step 2") == FilePosition(11, 5, 1)
    assert scenario.position_of("rto") is None


def test_what_is_left_out_has_its_defaults(scenario_of: ScenarioOf, vary: Vary) -> None:
    bare = Scenario(title="x", blueprint=scenario_of(vary()).blueprint)

    assert (bare.seed, bare.settle_ns, bare.end_ns, bare.work_until_ns) == (7, 5_000_000_000, None, 0)
    assert (bare.about, bare.path, bare.timeline, bare.positions, bare.lines) == ("", "", (), {}, ())


def test_where_its_lines_stand_makes_no_other_scenario_of_it(vary: Vary, scenario_of: ScenarioOf) -> None:
    scenario = scenario_of(vary())
    moved = scenario_of("# a remark\n" + vary())

    assert moved.positions != scenario.positions
    assert moved == scenario
