"""Campaign: findings of one signature are one, exceptions come first, and any number of processes plays the same."""

from __future__ import annotations

import pytest

from labkit.hunt.campaign import Plan, grouped, played
from labkit.hunt.findings import EXCEPTION, SeedFinding, Signature
from labkit.hunt.playing import PlayedSeed

SPLIT, LOSS = Signature("one primary", "operator", "request"), Signature("loss within lag", "fault", "crash")
RAISED = Signature(EXCEPTION, "ValueError", "sync.on")


def seed_with(seed: int, *findings: tuple[Signature, int]) -> PlayedSeed:
    found = tuple([SeedFinding(seed, signature, at_ns, "x") for signature, at_ns in findings])
    return PlayedSeed(seed, "swarm", 1, 1, 0, 0, found)


def test_findings_are_grouped_by_signature_the_most_frequent_first_after_exceptions():
    seeds = [seed_with(0, (LOSS, 9)), seed_with(1, (SPLIT, 5)), seed_with(2, (SPLIT, 3), (LOSS, 7)), seed_with(3)]
    seeds += [seed_with(4, (SPLIT, 3)), seed_with(5, (RAISED, 1))]
    groups = grouped(seeds)

    assert [(group.signature, len(group.findings)) for group in groups] == [(RAISED, 1), (SPLIT, 3), (LOSS, 2)]
    assert [(group.smallest.seed, group.smallest.at_ns) for group in groups] == [(5, 1), (2, 3), (2, 7)]


@pytest.mark.slow
def test_any_number_of_processes_plays_the_same_in_order():
    done: list[int] = []
    one = played(Plan(seeds=4, operator="careless"), 1, lambda: done.append(1))
    two = played(Plan(seeds=4, operator="careless"), 2, lambda: done.append(1))

    assert one == two
    assert [seed.seed for seed in one] == list(range(4))
    assert len(done) == 8
