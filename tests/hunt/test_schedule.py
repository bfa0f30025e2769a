"""Schedule: faults have instants, an operator's steps follow one another, and a fence is left alone."""

from __future__ import annotations

from typing import Any

from labkit.hunt.kinds import KINDS
from labkit.hunt.schedule import Schedule
from labkit.service.durations import SECOND_NS
from tests.hunt.test_kinds import NAMES

NAMED = {kind.name: kind for kind in KINDS}
MAY = {"fails": "maybe", "idle": "fine"}


def schedule() -> Schedule:
    return Schedule(NAMES, 7 * SECOND_NS)


def test_a_fault_has_its_instant_and_is_undone_after_its_time():
    made = schedule()
    made.fault(NAMED["cut"], {"from": "paris", "to": "tokyo"}, 16 * SECOND_NS)

    assert made.steps() == [
        {"do": "cut", "from": "paris", "to": "tokyo", "at": "7s", **MAY},
        {"do": "heal", "between": ["paris", "tokyo"], "at": "23s", **MAY},
    ]


def test_a_node_that_is_started_again_is_opened():
    made = schedule()
    made.fault(NAMED["crash of a node"], {"target": "paris-2"}, SECOND_NS)

    assert [(step["do"], step.get("cluster")) for step in made.steps()] == [
        ("crash", None),
        ("restart", None),
        ("unseal", "paris"),
    ]


def test_what_is_never_undone_stays():
    made = schedule()
    made.fault(NAMED["pause"], {"target": "paris-2"}, 0)

    assert [step["do"] for step in made.steps()] == ["pause"]


def block(made: Schedule) -> None:
    made.when({"modes": {"tokyo": "secondary"}})
    made.then({"do": "isolate", "target": "paris"})
    made.then({"do": "promote", "cluster": "tokyo"}, 5 * SECOND_NS)


def test_a_block_goes_on_while_its_steps_are_done_and_has_no_further_instant():
    made = schedule()
    block(made)

    guard, *steps = made.steps()
    assert (guard["do"], guard["at"], guard["when"]) == ("wait", "7s", {"modes": {"tokyo": "secondary"}})
    assert [(step["when"], step.get("after"), "at" in step) for step in steps] == [
        ("done", None, False),
        ("done", "5s", False),
    ]


def test_a_fault_that_falls_into_a_block_counts_from_its_beginning():
    made = schedule()
    made.fault(NAMED["pause"], {"target": "tokyo-1"}, 0)
    made.now_ns += SECOND_NS
    block(made)
    made.now_ns -= 2 * SECOND_NS
    made.fault(NAMED["pause"], {"target": "paris-1"}, 0)

    found = made.steps(above=2)
    assert [step["do"] for step in found] == ["pause", "wait", "isolate", "pause", "promote"]
    assert found[3]["after"] == {"step": 4, "began": "3.001s"}


def test_what_an_operator_does_alone_comes_after_the_block():
    made = schedule()
    block(made)
    made.now_ns -= 2 * SECOND_NS
    made.begin({"do": "seal", "cluster": "tokyo"})

    assert [(step["do"], step.get("at")) for step in made.steps()][-1] == ("seal", "12.001s")


def heals(made: Schedule) -> list[dict[str, Any]]:
    return [step for step in made.steps() if step["do"] == "heal"]


def test_nothing_heals_the_lines_of_a_cluster_that_an_operator_fenced():
    made = schedule()
    made.fault(NAMED["partition"], {"between": ["paris", "tokyo"]}, SECOND_NS)
    made.fault(NAMED["isolate"], {"target": "tokyo"}, 5 * SECOND_NS)
    made.fault(NAMED["partition"], {"between": ["lisbon", "paris"]}, 6 * SECOND_NS)
    made.now_ns += 2 * SECOND_NS
    made.fence("paris")

    assert heals(made) == [
        {"do": "heal", "between": ["paris", "tokyo"], "at": "8s", **MAY},
        {"do": "heal", "target": "tokyo", "at": "12s", **MAY},
    ]
    assert made.fenced == ("paris",)


def test_at_the_end_nothing_is_undone_as_it_was_drawn():
    made = schedule()
    made.fault(NAMED["isolate"], {"target": "tokyo"}, 5 * SECOND_NS)
    made.now_ns += SECOND_NS
    before = made.end()

    assert [step["do"] for step in before] == ["isolate"]
    assert heals(made) == []


def test_what_an_operator_does_alone_comes_after_all_blocks_that_follow_one_another_at_once():
    made = schedule()
    block(made)
    block(made)
    made.now_ns = 9 * SECOND_NS + 500_000
    made.begin({"do": "seal", "cluster": "tokyo"})
    found = made.steps()

    assert [step["do"] for step in found] == ["wait", "isolate", "promote"] * 2 + ["seal"]
    assert (found[3]["at"], found[6]["at"]) == ("12.001s", "17.002s")
