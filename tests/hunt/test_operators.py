"""Operators: one who keeps to runbooks never makes two primaries; steps are skipped instead."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.hunt.draws import Draws
from labkit.hunt.labs import lab_data
from labkit.hunt.operators import OPERATOR_BLOCKS, come_back, more_requests, planned_failover, unplanned_failover
from labkit.hunt.schedule import Schedule
from labkit.hunt.swarm import BLOCKS, drawn_swarm
from labkit.hunt.world import World, read, run_of, world_of
from labkit.lab.plan.blueprint import pair
from labkit.service.durations import SECOND_NS
from tests.hunt.test_kinds import NAMES

REPLICATE = {"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "1s"}
SWARM = drawn_swarm(1, "runbook", Draws("x", 1))


def schedule() -> Schedule:
    return Schedule(NAMES, 7 * SECOND_NS)


def played(made: Schedule, *before: dict[str, Any]) -> World:
    data = {"scenario": "x", "seed": 0, "lab": lab_data(pair()), "timeline": [REPLICATE, *before, *made.steps()]}
    return world_of(read(data)).run()


def modes(world: World) -> dict[str, str]:
    return {name: world.queries.mode_of(name) for name in world.clusters}


def test_each_operator_has_a_block_for_what_may_be_on():
    assert {name for names in BLOCKS.values() for name in names} == set(OPERATOR_BLOCKS)


@pytest.mark.parametrize("seed", range(8))
def test_an_unplanned_failover_leaves_one_that_accepts_writes_whoever_is_meant(seed: int):
    made = schedule()
    unplanned_failover(made, Draws("x", seed), SWARM)
    world = played(made)

    assert world.invariants.broken == {}


def test_unplanned_failovers_are_carried_out():
    found = []
    for seed in range(8):
        made = schedule()
        unplanned_failover(made, Draws("x", seed), SWARM)
        found.append(modes(played(made))["tokyo"])

    assert "primary" in found


@pytest.mark.parametrize("seed", range(4))
def test_a_planned_failover_goes_where_the_primary_is_not(seed: int):
    made = schedule()
    planned_failover(made, Draws("x", seed), SWARM)
    world = played(made)

    assert sorted(modes(world).values()) == ["primary", "secondary"]
    assert world.invariants.broken == {}


def test_a_fenced_cluster_comes_back_only_behind_its_fence_and_as_a_secondary():
    made = schedule()
    come_back(made, "paris", "tokyo")
    world = played(made, {"do": "isolate", "target": "paris", "at": "5s"}, {"do": "promote", "cluster": "tokyo"})

    assert modes(world) == {"paris": "secondary", "tokyo": "primary"}
    assert world.invariants.broken == {}
    assert world.network.is_whole


def test_nothing_is_opened_while_the_other_is_not_the_primary():
    made = schedule()
    come_back(made, "paris", "tokyo")
    world = played(made, {"do": "isolate", "target": "paris", "at": "5s"})

    assert modes(world) == {"paris": "primary", "tokyo": "secondary"}
    assert not world.network.is_whole
    assert sum(result.skipped for result in run_of(world).results) >= 4


def test_requests_with_a_wrong_token_mostly_go_to_a_secondary():
    asked: list[str] = []
    for seed in range(40):
        made = schedule()
        more_requests(made, Draws("x", seed), SWARM._replace(requests=("wrong token",)))
        asked += [step["cluster"] for step in made.steps()]

    assert {"paris", "tokyo"} <= set(asked)
    assert asked.count("paris") < len(asked) / 3


def test_no_requests_are_sent_where_no_kind_is_on():
    made = schedule()
    more_requests(made, Draws("x", 1), SWARM._replace(requests=()))

    assert made.steps() == []
