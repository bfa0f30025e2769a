"""World: a bench that goes on with a scenario, and with conditions that are watched."""

from __future__ import annotations

import pytest

from labkit.hunt.labs import lab_data
from labkit.hunt.world import World, read, run_of, world_of
from labkit.lab.plan.blueprint import pair
from labkit.scenario.problems import ScenarioError

STEPS = [
    {"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "1s"},
    {"do": "crash", "target": "paris", "at": "6s"},
]


def test_a_world_that_is_saved_goes_on_with_its_scenario():
    data = {"scenario": "x", "seed": 3, "lab": lab_data(pair()), "timeline": STEPS}
    world = world_of(read(data)).run("3s")
    again = World.restore(world.snapshot())

    assert again.run().trace.digest() == world.run().trace.digest()
    assert [result.ok for result in run_of(again).results] == [True, True]


def test_a_condition_is_watched_in_it():
    world = World.pair()
    world.watch("never a primary", {"modes": {"paris": "disabled"}})
    world.replicate("paris", "tokyo")

    assert "never a primary" in world.invariants.broken


def test_data_that_is_no_file_is_refused():
    with pytest.raises(ScenarioError):
        read({"scenario": "x"})
