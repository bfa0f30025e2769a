"""Shrinking: what is found by a careless operator becomes small, quickly, and fails alike when it is loaded.

The bounds are of all findings together; the seconds are printed and not judged.
"""

from __future__ import annotations

import re
from statistics import median
from time import process_time
from typing import NamedTuple

import pytest

from labkit.hunt.drawing import drawn
from labkit.hunt.findings import SeedFinding
from labkit.hunt.playing import play
from labkit.hunt.shrinking.handing_over import breaks_again
from labkit.hunt.shrinking.shrinker import Shrinker
from labkit.hunt.writing import written
from tests.examples import examples

FINDINGS = examples(8, fewest=2)
LIKELY = (3, 5, 16, 17, 20, 33, 37, 38)  # what broke when this was written: others are played where these do not
SEEDS = 200
STEPS_MEDIAN, LINES, RUNS_MEDIAN, RUNS_WORST = 6, 40, 40, 200


class Shrunk(NamedTuple):
    """A finding and what it became."""

    finding: SeedFinding
    shrinker: Shrinker
    steps_before: int
    seconds: float


@pytest.fixture(scope="module")
def shrunk() -> list[Shrunk]:
    """The first findings of a careless campaign, shrunk."""
    found: list[Shrunk] = []
    for seed in dict.fromkeys((*LIKELY, *range(SEEDS))):
        for finding in play(seed, "careless", None).findings:
            data, began = drawn(seed, "careless").data, process_time()
            shrinker = Shrinker(data, finding.signature)
            assert shrinker.shrink(), f"seed {seed}: {finding}"
            found.append(Shrunk(finding, shrinker, len(data["timeline"]), process_time() - began))
        if len(found) >= FINDINGS:
            break
    assert len(found) >= FINDINGS
    return found


@pytest.mark.slow
def test_few_runs_few_steps_and_few_lines(shrunk: list[Shrunk]):
    runs = [one.shrinker.runs for one in shrunk]
    steps = [len(one.shrinker.best["timeline"]) for one in shrunk]
    lines = [written(one.shrinker.best).count("\n") for one in shrunk]
    before, seconds = median(one.steps_before for one in shrunk), sum(one.seconds for one in shrunk)
    print(f"{len(shrunk)} findings: runs {runs}, steps {steps} of {before}, lines {lines}, {seconds:.1f} s")

    assert median(runs) <= RUNS_MEDIAN
    assert max(runs) <= RUNS_WORST
    assert median(steps) <= STEPS_MEDIAN
    assert median(lines) <= LINES


def test_each_fails_alike_when_it_is_written_and_loaded(shrunk: list[Shrunk]):
    for one in shrunk:
        assert breaks_again(written(one.shrinker.best), one.finding.signature), written(one.shrinker.best)


def test_no_step_can_go(shrunk: list[Shrunk]):
    for one in shrunk:
        timeline = one.shrinker.best["timeline"]
        for place in range(len(timeline)):
            less = {**one.shrinker.best, "timeline": timeline[:place] + timeline[place + 1 :]}
            assert not breaks_again(written(less), one.finding.signature), written(less)


@pytest.mark.slow
def test_what_is_shrunk_again_stays_as_it_is(shrunk: list[Shrunk]):
    for one in shrunk:
        again = Shrinker(one.shrinker.best, one.finding.signature)
        assert again.shrink()
        assert written(again.best) == written(one.shrinker.best)


def test_what_does_not_break_is_not_shrunk(shrunk: list[Shrunk]):
    other = Shrinker(drawn(0, "runbook").data, shrunk[0].finding.signature)

    assert not other.shrink()
    assert re.search(r"failed|broken", written(other.best)) is None
