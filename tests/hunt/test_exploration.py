"""Exploration: what a report says, and which exit code a campaign has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from labkit.hunt.campaign import FindingGroup, Plan
from labkit.hunt.exploration import Exploration
from labkit.hunt.findings import EXCEPTION, SeedFinding, Signature
from labkit.hunt.known import Known
from labkit.hunt.playing import PlayedSeed
from labkit.hunt.shrinking.handing_over import FoundFile

SPLIT = Signature("one primary", "fault", "flap", ("other",))
FILE = FoundFile("one-primary-flap.lab.yaml", "", 4, 30)
QUIET = tuple([PlayedSeed(seed, ("swarm", "all on")[seed % 2], 20, 17, 5, 1, ()) for seed in range(100)])
NOTHING = Exploration(plan=Plan(seeds=100), seeds=QUIET, groups=(), files=(), canary=FILE)
KNOWN = Known("2026-05-01", SPLIT.text, "lines flap")


def found(*signatures: Signature, **others: Any) -> Exploration:
    groups = tuple([FindingGroup(signature=one, findings=(SeedFinding(53, one, 5, "x"),)) for one in signatures])
    return replace(NOTHING, groups=groups, files=(FILE,) * len(groups), **others)


def test_a_campaign_that_found_nothing_says_how_much_that_says():
    assert NOTHING.report(seconds=13.2).split("\n") == [
        "100 seeds (50 swarm, 50 all on), runbook operator, 13 s",
        "  2,000 steps: 85 % done, 15 % refused or skipped; 20 % of 500 faults met nothing",
        "nothing in 100 seeds: at most 3.0% of schedules",
    ]


def test_a_finding_has_its_rate_its_seed_and_its_file():
    assert found(SPLIT).report("found/").split("\n")[2:] == [
        "1. one primary, after flap of other: 1 seed (1.0%; 0.17% to 5.5%), smallest 53",
        "   found/one-primary-flap.lab.yaml, 4 steps",
        "nothing else in 100 seeds: at most 3.0% of schedules",
    ]


def test_what_is_not_handed_over_is_said():
    text = str(replace(found(SPLIT), files=(None,)))

    assert text.split("\n")[3].endswith("does not break in the same way with every step done as it is written")


def test_accepted_findings_are_said_to_be_and_those_that_are_gone_too():
    text = str(found(SPLIT, known=(KNOWN, Known("2026-05-02", "loss within lag", "damage"))))

    assert "smallest 53, accepted on 2026-05-01: lines flap" in text
    assert "no longer found: loss within lag, accepted on 2026-05-02 (damage)" in text


def test_a_report_has_at_most_25_lines():
    signatures = [Signature(f"rule {number}") for number in range(30)]
    known = tuple([Known("2026-05-01", f"gone {number}", "x") for number in range(2)])
    text = str(found(*signatures, known=known, canary=None))

    assert text.count("\n") < 25
    assert "and 22 more" in text


RAISED = Signature(EXCEPTION, "ValueError", "sync.on")


@pytest.mark.parametrize(
    ("exploration", "code"),
    [
        (NOTHING, 0),
        (found(SPLIT), 1),
        (found(SPLIT, known=(KNOWN,)), 0),
        (found(RAISED, SPLIT), 4),
        (found(RAISED, known=(Known("2026-05-01", RAISED.text, "x"),)), 0),
        (found(SPLIT, plan=Plan(seeds=100, operator="careless")), 0),
        (found(RAISED, plan=Plan(seeds=100, operator="careless")), 4),
        (replace(NOTHING, canary=None), 4),
    ],
)
def test_exit_codes(exploration: Exploration, code: int):
    assert exploration.exit_code == code


@pytest.mark.parametrize(("count", "code"), [(5, 0), (6, 3)])
def test_too_many_seeds_that_do_not_come_to_rest_are_unknown(count: int, code: int):
    left = tuple([seed._replace(left="tokyo-1 is down") if seed.seed < count else seed for seed in QUIET])
    exploration = replace(NOTHING, seeds=left)

    assert exploration.exit_code == code
    assert f"  {count} seeds not judged: at the end a node is down" in str(exploration)
    assert f"nothing in {100 - count} seeds: at most {3 / (100 - count):.1%}" in str(exploration)


def test_what_many_seeds_did_not_find_is_not_written_as_impossible():
    seeds = tuple([seed for _ in range(100) for seed in QUIET])

    assert str(replace(NOTHING, seeds=seeds)).endswith("nothing in 10,000 seeds: at most 0.030% of schedules")
    assert "1 seed (0.010%; 0.0017% to 0.057%)" in str(replace(found(SPLIT), seeds=seeds))


@pytest.mark.parametrize("left", ["step 1, wait, failed and ended the run", "labkit raised"])
def test_a_seed_that_is_not_played_to_its_end_says_nothing_of_what_it_did_not_find(left: str):
    """What it found counts, among all seeds; later it may have found more."""
    one = (SeedFinding(53, SPLIT, 5, "x"),)
    ended = tuple([seed._replace(left=left, findings=one) if seed.seed < 40 else seed for seed in QUIET])
    some = found(SPLIT, seeds=ended, known=(KNOWN,))

    assert some.exit_code == 3
    assert f"  40 seeds not judged: {left}\n" in str(some)
    assert "1 seed (1.0%; at least 0.17%)" in str(some)
    assert str(some).endswith("nothing else in 60 seeds: at most 5.0% of schedules")


def test_where_no_seed_is_judged_nothing_is_no_longer_found():
    gone = Known("2026-05-02", "loss within lag", "damage")
    ended = tuple([seed._replace(left="tokyo-1 is down") for seed in QUIET])
    exploration = found(SPLIT, seeds=ended, known=(KNOWN, gone))

    assert exploration.no_longer_found == ()
    assert "no longer found" not in str(exploration)


def test_a_campaign_of_which_no_seed_is_judged_says_nothing():
    ended = "step 2, wait, failed and ended the run"
    exploration = replace(NOTHING, seeds=tuple([seed._replace(left=ended) for seed in QUIET]))

    assert exploration.exit_code == 3
    assert str(exploration).endswith(
        f"  100 seeds not judged: {ended}\nno seed was judged: what this campaign did not find says nothing"
    )
