"""Steps: fewer of them, two said by one, weaker ones; each is a file again."""

from __future__ import annotations

from typing import Any

from labkit.hunt.labs import lab_data
from labkit.hunt.shrinking import steps
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


def test_only_steps_of_the_chain_stay_or_those_from_its_root_on():
    chain = [12_000_000_000, 7_000_000_000, 5_000_000_000]

    assert kept(results(lambda start: steps.of_chain(start, chain[:2]), data(*FAULTS))) == [
        ["replicate", "isolate"],
        ["replicate", "restart", "isolate"],
    ]
    assert kept(results(lambda start: steps.of_chain(start, chain), data(*FAULTS))) == [
        ["replicate", "crash", "isolate"]
    ]


def test_many_steps_that_follow_one_another_go_together():
    many = data(*[{"do": "pause", "target": "tokyo-1", "at": f"{second}s"} for second in range(5, 16)])
    sizes = {len(many["timeline"]) - len(one["timeline"]) for one in results(steps.several, many)}

    assert sizes == {6, 4, 3, 2}


def test_a_step_goes_with_what_undoes_it():
    first, *others = kept(results(steps.several, data(*FAULTS)))

    assert first == ["replicate", "isolate"]
    assert others == [
        ["replicate"],
        ["isolate"],
        ["replicate", "crash"],
        ["replicate", "isolate"],
        ["restart", "isolate"],
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
