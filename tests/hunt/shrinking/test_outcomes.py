"""Outcomes: a step that was refused says so, one that was done says nothing, one that was skipped stays so."""

from __future__ import annotations

from typing import Any

from labkit.hunt.labs import lab_data
from labkit.hunt.shrinking.outcomes import as_it_went
from labkit.hunt.world import read, run_of, world_of
from labkit.lab.plan.blueprint import pair
from labkit.scenario.verdict import judge

STEPS: list[dict[str, Any]] = [
    {"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "1s", "fails": "maybe", "late": "ok"},
    {"do": "demote", "cluster": "tokyo", "fails": "maybe"},
    {"do": "reindex", "cluster": "tokyo", "when": "done", "fails": "maybe"},
    {"do": "pause", "target": "tokyo-1", "at": "20s", "fails": "maybe", "idle": "fine"},
    {"do": "heal", "at": "21s", "fails": "maybe", "idle": "fine"},
]
DATA: dict[str, Any] = {"scenario": "x", "seed": 0, "lab": lab_data(pair()), "timeline": STEPS}


def test_what_may_be_is_what_was():
    went = as_it_went(DATA)

    assert went["timeline"] == [
        {"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "1s"},
        {"do": "demote", "cluster": "tokyo", "fails": True},
        {"do": "reindex", "cluster": "tokyo", "when": "done"},
        {"do": "pause", "target": "tokyo-1", "at": "20s"},
        {"do": "heal", "at": "21s", "idle": "fine"},
    ]
    assert DATA["timeline"] is STEPS
    world = world_of(read(went)).run()
    assert judge(run_of(world), world.queries, world.ledger, world.invariants).exit_code == 0


def test_what_says_nothing_of_the_kind_stays_as_it_is():
    data = {**DATA, "timeline": STEPS[:0]}

    assert as_it_went(data) is data
