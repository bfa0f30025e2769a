"""Flattening: what was done, when it began, and nothing else."""

from __future__ import annotations

from typing import Any

from labkit.hunt.labs import lab_data
from labkit.hunt.shrinking.flattening import flattened, is_flat, whole_end
from labkit.hunt.world import read, world_of
from labkit.lab.plan.blueprint import pair

STEPS: list[dict[str, Any]] = [
    {"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "1s", "late": "ok"},
    {"do": "wait", "for": "1s"},
    {"do": "demote", "cluster": "tokyo", "fails": "maybe"},
    {"do": "heal", "when": "done", "fails": "maybe", "idle": "fine"},
    {"do": "pause", "target": "tokyo-1", "when": {"roots": "equal"}, "name": "stop"},
    {"do": "promote", "cluster": "tokyo", "after": "20s", "fails": "maybe"},
    {"do": "crash", "target": "paris", "at": "5m"},
]


def test_only_what_was_done_is_left_at_its_instants():
    data = {"scenario": "x", "seed": 0, "lab": lab_data(pair()), "timeline": STEPS, "always": [{"lag": {"at most": 5}}]}
    world = world_of(read(data)).run("100s")
    flat = flattened(data, world, 90_000_000_000)

    assert [step["do"] for step in flat["timeline"]] == ["replicate", "pause", "promote"]
    assert [sorted(step) for step in flat["timeline"]] == [
        ["at", "do", "primary", "secondary"],
        ["at", "do", "target"],
        ["at", "cluster", "do"],
    ]
    assert flat["timeline"][0]["at"] == "1s"
    assert (flat["end"], flat["always"]) == ("91s", data["always"])
    assert data["timeline"] is STEPS
    read(flat)
    assert is_flat(flat)
    assert not is_flat(data)


def test_a_pace_is_flat_and_a_wait_or_what_may_fail_is_not():
    promote = {"do": "promote", "cluster": "tokyo", "after": "1s"}

    assert is_flat({"timeline": [promote]})
    assert not is_flat({"timeline": [STEPS[1]]})
    assert not is_flat({"timeline": [{**promote, "fails": "maybe"}]})


def test_steps_are_left_out_by_number_and_an_earlier_end_stays():
    data = {"scenario": "x", "seed": 0, "lab": lab_data(pair()), "timeline": STEPS[:6], "end": "90s"}
    world = world_of(read(data)).run()

    assert [step["do"] for step in flattened(data, world, 90_000_000_000, {5, 6})["timeline"]] == ["replicate"]
    assert flattened(data, world, 90_000_000_000)["end"] == "90s"
    assert flattened(data, world, 80_000_000_000)["end"] == "81s"


def test_what_has_not_ended_is_among_them():
    data = {"scenario": "x", "seed": 0, "lab": lab_data(pair()), "timeline": STEPS[:1]}
    world = world_of(read(data)).run("1200ms")

    assert [step["do"] for step in flattened(data, world, 1_200_000_000)["timeline"]] == ["replicate"]


def test_the_end_is_a_whole_second_later():
    assert [whole_end(at_ns) for at_ns in (0, 999_999_999, 1_000_000_000)] == ["1s", "1s", "2s"]
