"""Drills: the one that is handed out is witnessed and breaks no rule, with each planted fault too."""

from __future__ import annotations

import pytest

from labkit.front.lab import lab_of
from labkit.lessons.failing_drill.drills import (
    NO_EXPECTATIONS,
    PLANTED,
    loses_its_region,
    played,
    read,
    runs,
    verdict,
    with_each_fault,
)


def test_its_fault_has_an_effect_and_no_rule_is_broken():
    lab = played(read(NO_EXPECTATIONS), seed=0)
    crash = lab.trace.select("fault", verb="crash")

    assert [(event.target, event.detail) for event in crash] == [("paris-1", "")]
    assert [name for name, broken in lab.invariants.verdicts().items() if broken] == []
    assert verdict(lab).exit_code == 0
    assert lab.ledger.rpo().writes == 1
    assert len(lab.ledger.writes) == 60


def test_planted_faults_are_seen_by_nobody_who_expects_nothing():
    labs = with_each_fault(read(NO_EXPECTATIONS))

    assert [verdict(lab).exit_code for lab in labs.values()] == [0, 0, 0]
    assert {name: (len(lab.ledger.writes), lab.ledger.rpo().writes) for name, lab in labs.items()} == {
        "copies stop": (60, 15),
        "clients cannot follow": (20, 1),
        "the survivor dies": (49, 1),
    }


@pytest.mark.slow
def test_a_fault_planted_in_a_copy_of_the_start_is_one_planted_in_a_run_of_its_own():
    for name, lab in with_each_fault(read(NO_EXPECTATIONS), seed=2).items():
        whole = lab_of(read(NO_EXPECTATIONS), 2)
        whole.run(until=PLANTED[name].at_s)
        PLANTED[name].fault(whole)
        whole.run()
        assert lab.trace.digest() == whole.trace.digest(), name


def test_runs_are_the_same_again():
    first, again, other = [runs(NO_EXPECTATIONS, [seed])[0].trace.digest() for seed in (3, 3, 4)]

    assert first == again != other


def test_another_instant_is_another_drill():
    assert loses_its_region(read(NO_EXPECTATIONS))
    assert not loses_its_region(read(NO_EXPECTATIONS.replace("at: 5s", "at: 5500ms")))
    assert not loses_its_region(read(NO_EXPECTATIONS.replace("at: 6s", "at: 6500ms")))
