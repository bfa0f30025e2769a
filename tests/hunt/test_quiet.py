"""Quiet: what was done to a lab is undone, and what is left over is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.hunt.beginnings import of_file
from labkit.hunt.drawing import drawn
from labkit.hunt.quiet import what_is_left
from labkit.hunt.world import World, read, world_of


@pytest.mark.parametrize(
    ("harm", "left"),
    [
        (lambda world: None, ""),
        (lambda world: world.cut("paris", "tokyo"), "a line is not as it was"),
        (lambda world: world.slow("paris", "tokyo", factor=3), "a line is not as it was"),
        (lambda world: world.flap("paris", "tokyo", "1s", "1s"), "a line flaps"),
        (lambda world: world.crash("tokyo-2"), "tokyo-2 is down"),
        (lambda world: world.seal("paris"), "paris-1 is sealed"),
        (lambda world: world.pause("paris-3"), "paris-3 is not itself"),
        (lambda world: world.skew("paris-3", "90s"), "paris-3 is not itself"),
        (lambda world: world.impersonate("tokyo-1"), "tokyo-1 is not itself"),
    ],
)
def test_what_is_left_is_named(harm: Callable[[World], object], left: str):
    world = World.pair()
    harm(world)

    assert what_is_left(world) == left


@pytest.mark.parametrize("seed", [3, 5, 13, 15, 16])
def test_a_node_that_was_to_go_down_in_a_commit_is_not_so_when_it_is_quiet(seed: int):
    found = drawn(seed, "runbook", of_file(str(Path(__file__).parents[1] / "zoo" / "lossy.yaml")))
    assert any(step["do"] == "crash-in-commit" for step in found.data["timeline"])
    world = world_of(read(found.data))
    world.run()

    assert what_is_left(world) == ""
    assert not any("interruption" in store.state() for store in world.parts.stores.values())


@pytest.mark.slow
def test_nearly_every_drawn_lab_comes_to_rest():
    found = []
    for seed in range(12):
        world = world_of(read(drawn(seed, "runbook").data))
        world.run()
        found.append(what_is_left(world))

    assert sum(bool(left) for left in found) <= 1
