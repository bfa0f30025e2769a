"""World: a bench that plays scenarios, and one run of drawn data in it."""

from __future__ import annotations

from typing import Any

from labkit.hunt.writing import written
from labkit.lab.bench import Bench
from labkit.lab.invariants import Invariants
from labkit.lab.queries import Queries
from labkit.scenario.loading import loads
from labkit.scenario.running import Run
from labkit.scenario.scenario import Scenario
from labkit.scenario.watched import Watched


class World(Bench):
    """A bench that goes on with scenarios."""

    scenario: Run | None
    _restore_scenario = Run.from_state

    @staticmethod
    def _make_condition(name: str, says: Any, queries: Queries, invariants: Invariants, schedule: Any) -> Watched:
        return Watched(name, says, queries, invariants, schedule)


def world_of(scenario: Scenario) -> World:
    """Build the world of a scenario."""
    world = World(scenario.blueprint, scenario.seed)
    world.scenario = Run(world.parts, world.faults, world.invariants, scenario)
    return world


def read(data: dict[str, Any]) -> Scenario:
    """Read data as the loader of scenario files does; ScenarioError when it cannot be a file."""
    return loads(written(data).encode(), "a drawn scenario")


def run_of(world: World) -> Run:
    """Return the run of a world."""
    assert world.scenario is not None, "a world is built for a scenario"
    return world.scenario
