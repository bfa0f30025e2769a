"""Shared start: a seed that goes on from what all share plays, to the byte, what its file plays from the beginning."""

from __future__ import annotations

import pytest

from labkit.hunt import shared_start
from labkit.hunt.beginnings import of_file
from labkit.hunt.drawing import Beginning, drawn
from labkit.hunt.shared_start import world_from
from labkit.hunt.world import World, read, run_of, world_of
from labkit.places import shipped_scenarios
from labkit.scenario.scenario import Scenario
from tests.examples import examples

SEEDS = examples(6)


@pytest.fixture(scope="module")
def beginning() -> Beginning:
    """A lab with clients, and the step that lets it replicate."""
    return of_file(str(shipped_scenarios()["first/split-brain"]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_it_is_what_its_file_plays_from_the_beginning(seed: int, beginning: Beginning):
    found = drawn(seed, "careless", beginning)
    assert found.shared is not None
    scenario = read(found.data)
    shared, whole = world_from(found.data, found.shared, scenario), world_of(scenario)
    for world in (shared, whole):
        world.run(until="20s")

    assert shared.trace.digest() == whole.trace.digest()
    assert run_of(shared).state() == run_of(whole).state()
    assert shared.parts.clock.pending() == whole.parts.clock.pending()


def test_the_start_is_played_once_and_seeds_differ_by_luck(beginning: Beginning, monkeypatch: pytest.MonkeyPatch):
    built: list[int] = []

    def counted(scenario: Scenario) -> World:
        built.append(scenario.seed)
        return world_of(scenario)

    monkeypatch.setattr(shared_start, "world_of", counted)
    shared_start._started.cache_clear()
    worlds = []
    for seed in (1, 3):
        found = drawn(seed, "runbook", beginning)
        assert found.shared == len(beginning.steps)
        worlds.append(world_from(found.data, found.shared, read(found.data)))
    shared_start._started.cache_clear()

    assert built == [0]
    assert worlds[0].now == worlds[1].now == beginning.from_ns - 500_000_001
    assert worlds[0].trace.digest() == worlds[1].trace.digest()
    for world in worlds:
        world.run("1s")
    assert worlds[0].trace.digest() != worlds[1].trace.digest()


def test_without_a_step_that_takes_luck_nothing_is_shared(beginning: Beginning):
    found = drawn(1)

    assert found.shared is None
    assert [step for step in found.data["timeline"] if step["do"] == "luck"] == []
    with pytest.raises(AssertionError, match="the steps above are those that all seeds share"):
        world_from(found.data, 0, read(found.data))
