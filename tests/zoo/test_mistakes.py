"""Mistakes are found in their pinned number of schedules, controls are not, and what is found becomes a small file."""

from __future__ import annotations

import pytest

from labkit.hunt.drawing import drawn
from labkit.hunt.findings import SeedFinding
from labkit.hunt.playing import play
from labkit.hunt.shrinking.handing_over import breaks_again, hand_over
from labkit.hunt.swarm import RUNBOOK
from labkit.lab.nodes import replication_link
from labkit.proof.planted_bugs import PLANTED_BUGS
from labkit.vault.replication.sync import on
from tests.examples import examples
from tests.zoo.mistakes import CONTROLS, FOUND_BY_EXPLORE, planted

CONTROL_SEEDS = examples(4)
MAX_STEPS, MAX_LINES = 6, 40


def first_finding(seeds: int) -> SeedFinding | None:
    """What breaks first in so many schedules."""
    return next((finding for seed in range(seeds) for finding in play(seed, RUNBOOK, None).findings), None)


@pytest.mark.parametrize("name", FOUND_BY_EXPLORE)
@pytest.mark.slow
def test_a_mistake_breaks_its_rule_in_so_many_schedules(name: str):
    mistake = FOUND_BY_EXPLORE[name]
    with planted(mistake):
        finding = first_finding(mistake.seeds)

    assert finding is not None
    assert finding.signature.rule == mistake.rule


@pytest.mark.parametrize("name", CONTROLS)
@pytest.mark.slow
def test_a_control_breaks_nothing(name: str):
    with planted(CONTROLS[name]):
        found = [finding for seed in range(CONTROL_SEEDS) for finding in play(seed, RUNBOOK, None).findings]

    assert found == []
    assert CONTROLS[name].harmless


@pytest.mark.parametrize("name", ["version-reused", pytest.param("gap-ignored", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_what_is_found_becomes_a_file_that_holds_once_the_mistake_is_mended(name: str):
    mistake = FOUND_BY_EXPLORE[name]
    with planted(mistake):
        finding = first_finding(mistake.seeds)
        assert finding is not None
        file = hand_over(drawn(finding.seed), finding, RUNBOOK)
        assert file is not None
        assert breaks_again(file.text, finding.signature)
    print(file.runs, file.text, sep="\n")

    assert file.steps <= MAX_STEPS
    assert file.text.count("\n") <= MAX_LINES
    assert not breaks_again(file.text, finding.signature)


def test_mistakes_are_those_of_prove_where_it_has_them_and_nothing_stays_planted():
    assert {"gap-ignored", "stream-from-newest", "deletions-forgotten"} <= set(PLANTED_BUGS) & set(FOUND_BY_EXPLORE)
    assert replication_link.__dict__["on"] is on
