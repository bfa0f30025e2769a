"""Drills: the one that is handed out is witnessed and breaks no rule, with each planted fault too."""

from __future__ import annotations

import pytest

from labkit.lessons.failing_drill.drills import (
    NO_EXPECTATIONS,
    PLANTED,
    loses_its_region,
    played,
    read,
    runs,
    verdict,
    with_fault,
)

RULES_BROKEN = {"clients cannot follow": 20, "the survivor dies": 49}


def test_its_fault_has_an_effect_and_no_rule_is_broken():
    lab = played(read(NO_EXPECTATIONS), seed=0)
    crash = lab.trace.select("fault", verb="crash")

    assert [(event.target, event.detail) for event in crash] == [("paris-1", "")]
    assert [name for name, broken in lab.invariants.verdicts().items() if broken] == []
    assert verdict(lab).exit_code == 0
    assert lab.ledger.rpo().writes == 1
    assert len(lab.ledger.writes) == 60


@pytest.mark.parametrize(
    ("name", "acknowledged", "lost"), [(*row,) for row in zip(PLANTED, (60, 20, 49), (15, 1, 1), strict=True)]
)
def test_a_planted_fault_is_seen_by_nobody_who_expects_nothing(name, acknowledged, lost):
    lab = with_fault(read(NO_EXPECTATIONS), name)

    assert verdict(lab).exit_code == 0
    assert (len(lab.ledger.writes), lab.ledger.rpo().writes) == (acknowledged, lost)


def test_runs_are_the_same_again():
    first, again, other = [runs(NO_EXPECTATIONS, [seed])[0].trace.digest() for seed in (3, 3, 4)]

    assert first == again != other


def test_another_instant_is_another_drill():
    assert loses_its_region(read(NO_EXPECTATIONS))
    assert not loses_its_region(read(NO_EXPECTATIONS.replace("at: 5s", "at: 5500ms")))
    assert not loses_its_region(read(NO_EXPECTATIONS.replace("at: 6s", "at: 6500ms")))
