"""Steps: fewer of them, two said by one, weaker ones; each is a file again."""

from __future__ import annotations

from typing import Any

from labkit.hunt.labs import lab_data
from labkit.hunt.shrinking import steps
from labkit.hunt.world import read
from labkit.lab.plan.blueprint import pair
from tests.hunt.shrinking.edits import REPLICATE, data, kept, results

FAULTS: list[dict[str, Any]] = [
    {"do": "crash", "target": "paris-1", "at": "5s"},
    {"do": "restart", "target": "paris-1", "at": "9s"},
    {"do": "isolate", "target": "tokyo", "at": "12s"},
]


def test_steps_go_alone_the_last_first():
    assert kept(results(steps.singles, data(*FAULTS))) == [
        ["replicate", "crash", "restart"],
        ["replicate", "crash", "isolate"],
        ["replicate", "restart", "isolate"],
        ["crash", "restart", "isolate"],
    ]


def test_only_steps_of_the_chain_stay_or_those_from_its_first_on():
    promote = {"do": "promote", "cluster": "tokyo", "at": "13s"}
    heal = {"do": "heal", "at": "14s"}
    timeline = data(*FAULTS, promote, heal)

    assert kept(results(lambda start: steps.of_chain(start, [3]), timeline)) == [
        ["replicate", "isolate"],
        ["replicate", "isolate", "heal"],
        ["replicate", "isolate", "promote", "heal"],
        ["replicate", "isolate", "promote", "heal"],
    ]
    assert kept(results(lambda start: steps.of_chain(start, [3, 1]), timeline))[0] == ["replicate", "crash", "isolate"]
    assert kept(results(lambda start: steps.of_chain(start, []), timeline)) == [
        ["replicate"],
        ["replicate"],
        ["replicate", "promote"],
    ]


def test_each_step_may_be_refused():
    note = {"do": "note", "text": "x"}
    found = steps.may_be_refused(data(*FAULTS, note))

    read(found)
    assert [step.get("fails") for step in found["timeline"]] == ["maybe"] * 4 + [None]
    assert "fails" not in FAULTS[0]


def test_steps_that_follow_one_another_go_together_unless_they_begin_by_undoing_something():
    pause = {"do": "pause", "target": "tokyo-1", "at": "15s"}
    unseal = {"do": "unseal", "cluster": "paris", "at": "9.5s"}
    timeline = data(*FAULTS[:2], unseal, FAULTS[2], pause)

    assert kept(results(steps.several, timeline)) == [
        ["replicate", "unseal", "isolate", "pause"],  # pairs, in which the second undoes the first
        ["replicate", "crash", "isolate", "pause"],
        ["replicate", "pause"],  # four
        ["replicate", "isolate", "pause"],  # three
        ["replicate", "crash", "restart", "unseal"],  # two
        ["replicate", "unseal", "isolate", "pause"],
    ]


def test_a_step_goes_with_what_undoes_it():
    assert kept(results(steps.several, data(*FAULTS))) == [
        ["replicate", "isolate"],
        ["replicate"],
        ["replicate", "isolate"],
    ]


def test_two_steps_are_said_by_one():
    enable = [
        {"do": "enable-primary", "cluster": "paris", "at": "1s"},
        {"do": "enable-secondary", "cluster": "tokyo", "primary": "paris"},
        {"do": "pause", "target": "tokyo-1", "at": "9s"},
        {"do": "pause", "target": "tokyo-2", "at": "9s"},
    ]
    found = results(steps.kinds, {**data(), "timeline": enable})

    assert found[0]["timeline"][0] == REPLICATE
    assert {"do": "pause", "target": "tokyo", "at": "9s"} in found[-1]["timeline"]


def test_faults_become_weaker_and_options_go():
    two = {**lab_data(pair()), "sites": ["paris", "tokyo"]}
    two["links"] = two["links"][:1]
    timeline: list[dict[str, Any]] = [
        {"do": "isolate", "target": "tokyo", "at": "5s"},
        {"do": "crash", "target": "paris", "at": "6s"},
        {"do": "promote", "cluster": "tokyo", "force": True},
    ]
    made = [step for one in results(steps.kinds, data(*timeline, lab=two)) for step in one["timeline"]]

    assert {"do": "partition", "between": ["paris", "tokyo"], "at": "5s"} in made
    assert {"do": "crash", "target": "paris-1", "at": "6s"} in made
    assert {"do": "promote", "cluster": "tokyo"} in made
