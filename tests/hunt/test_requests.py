"""Requests: those of every kind are carried out, and are answered as their kind says."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.hunt.draws import Draws
from labkit.hunt.kinds import CLOUD, REQUEST, kinds_of
from labkit.hunt.labs import lab_data
from labkit.hunt.requests import REQUESTS
from labkit.hunt.world import World, read, run_of, world_of
from labkit.lab.plan.blueprint import pair

BEFORE = {"do": "ask", "cluster": "paris", "method": "POST", "path": "secret/data/shared", "body": {"data": {"n": 1}}}


def asked(kind: str, seed: int) -> World:
    steps: list[dict[str, Any]] = [BEFORE, *REQUESTS[kind](Draws("x", seed), "paris")]
    data = {"scenario": kind, "lab": lab_data(pair()), "timeline": [{**step, "fails": "maybe"} for step in steps]}
    world = world_of(read(data))
    world.run()
    return world


def test_every_kind_of_requests_is_made():
    assert {kind.name for kind in kinds_of(REQUEST, (CLOUD,))} == set(REQUESTS)


@pytest.mark.parametrize(
    ("kind", "done"),
    [
        ("wrapping", [True, True, False]),
        ("lease", [True, True, True, True, False]),
        ("spent token", [True, True, True, False]),
        ("wrong token", [False]),
        ("policy", [True]),
        ("rotation", [True]),
    ],
)
def test_what_is_answered(kind: str, done: list[bool]):
    assert [result.ok for result in run_of(asked(kind, 1)).results][1:] == done


def test_a_wrong_operation_token_is_tried_at_two_calls():
    rows = [[result.ok for result in run_of(asked("wrong token", seed)).results][1:] for seed in range(6)]

    assert [False, False] in rows
    assert not any(map(any, rows))


def test_a_token_is_asked_with_again_once_it_may_be_over():
    rows = {tuple(result.ok for result in run_of(asked("lease", seed)).results)[1:] for seed in range(12)}

    assert {len(row) for row in rows} == {3, 5}
    assert {row[-1] for row in rows if len(row) == 5} == {True, False}


@pytest.mark.parametrize("kind", ["cas", "deleted metadata"])
def test_what_is_drawn_decides_what_is_answered(kind: str):
    found = {tuple(result.ok for result in run_of(asked(kind, seed)).results) for seed in range(12)}

    assert all(row[0] for row in found)
    assert kind != "cas" or len(found) > 1
