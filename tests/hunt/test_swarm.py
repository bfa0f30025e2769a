"""Swarm: even seeds leave kinds out, odd seeds have all on, and a fault is always among them."""

from __future__ import annotations

import pytest

from labkit.hunt.draws import Draws
from labkit.hunt.swarm import ALL_ON, BLOCKS, SWARM, Swarm, drawn_swarm


def swarm(seed: int, operator: str = "runbook") -> Swarm:
    return drawn_swarm(seed, operator, Draws(operator, seed))


@pytest.mark.parametrize("operator", BLOCKS)
def test_odd_seeds_have_all_on(operator: str):
    found = [swarm(seed, operator) for seed in range(1, 20, 2)]

    assert {one.mode for one in found} == {ALL_ON}
    assert len(set(found)) == 1
    assert found[0].blocks == BLOCKS[operator]
    assert found[0].text == ALL_ON


def test_even_seeds_leave_out_and_name_what_is_on():
    found = [swarm(seed) for seed in range(0, 200, 2)]
    most = swarm(1)

    assert {one.mode for one in found} == {SWARM}
    assert all(one.faults for one in found)
    assert {len(one.faults) for one in found} >= {1, 2, 5, len(most.faults) - 1}
    assert {bool(one.suppressors) for one in found} == {True, False}
    assert all(name in one.text for one in found for name in (*one.faults, *one.blocks))
