"""Drawing: every seed is a file that the loader takes, the same every time; what it takes from a file stays in it."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from labkit.hunt.beginnings import of_file
from labkit.hunt.drawing import Beginning, drawn
from labkit.hunt.world import read
from labkit.hunt.writing import written
from labkit.places import shipped_scenarios
from labkit.scenario.file_parts import MAX_TIMELINE_STEPS

SEEDS = range(60)
PROGRAM = """
from hashlib import sha256
from labkit.hunt.drawing import drawn
from labkit.hunt.writing import written
print(sha256("".join(written(drawn(seed, "runbook").data) for seed in range(20)).encode()).hexdigest())
"""


@pytest.mark.parametrize("operator", ["runbook", "careless"])
@pytest.mark.slow
def test_every_seed_is_a_file_and_another_one(operator: str):
    found = [drawn(seed, operator).data for seed in SEEDS]

    assert [read(data).seed for data in found] == [*SEEDS]
    assert len({written(data) for data in found}) == len(SEEDS)


@pytest.mark.slow
def test_a_seed_draws_the_same_under_any_hash_seed():
    here = sha256("".join(written(drawn(seed, "runbook").data) for seed in range(20)).encode()).hexdigest()
    root = str(Path(__file__).resolve().parents[2])
    for hash_seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": root}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == here


def test_drawn_schedules_have_every_kind():
    verbs = {step["do"] for seed in range(120) for step in drawn(seed, "runbook").data["timeline"]}

    assert {
        "partition",
        "pause",
        "corrupt",
        "seal",
        "failover",
        "promote",
        "repoint",
        "demote",
        "ask",
        "unseal",
    } <= verbs


def test_requests_and_crashes_between_two_keys_are_in_most_schedules_that_have_them_on():
    all_on = [drawn(seed, "runbook").data["timeline"] for seed in range(1, 60, 2)]
    asked = [sum(step["do"] == "ask" for step in steps) for steps in all_on]
    between = [any(step.get("moment") == "between" for step in steps) for steps in all_on]
    off = [one for one in (drawn(seed, "runbook") for seed in range(0, 60, 2)) if "requests" not in one.swarm.blocks]

    assert min(asked) >= 4
    assert len(all_on) / 3 < sum(between) < len(all_on)
    assert off
    assert not any(step["do"] == "ask" for one in off for step in one.data["timeline"])


def test_quiet_begins_with_the_step_that_is_named():
    for seed in range(20):
        found = drawn(seed, "runbook")
        wait = found.data["timeline"][found.quiet_from - 1]
        assert (wait["do"], wait["for"]) == ("wait", "1ms")
        assert found.data["timeline"][-1]["for"] == "6m"


def test_lab_steps_and_conditions_of_a_beginning_stay():
    steps = ({"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "1s"},)
    lab = {
        "sites": ["paris", "tokyo"],
        "links": [{"between": ["paris", "tokyo"], "latency": "80ms"}],
        "clusters": {"paris": {"site": "paris"}, "tokyo": {"site": "tokyo"}},
        "cloud": {"site": "paris"},
    }
    over_time = {"always": [{"lag": {"at most": 5}}]}
    start = Beginning(lab=lab, steps=steps, over_time=over_time, from_ns=9_000_000_000)
    found = [drawn(seed, "runbook", start).data for seed in range(40)]

    assert all(
        one["lab"] == lab and one["timeline"][0] == steps[0] and one["always"] == over_time["always"] for one in found
    )
    assert any(step["do"] == "cloud-outage" for one in found for step in one["timeline"])
    assert all(read(one).over_time for one in found[:5])


def test_of_a_beginning_with_many_clusters_no_more_is_drawn_than_a_file_can_have():
    start = of_file(str(shipped_scenarios()["dr/seven-secondaries"]))
    found = [drawn(seed, "runbook", start) for seed in range(4)]

    assert max(len(one.data["timeline"]) for one in found) <= MAX_TIMELINE_STEPS
    assert not any(one.is_too_long for one in found)
    assert all(one.data["timeline"][-1]["for"] == "6m" for one in found)
    read(found[3].data)
