"""Exercise drill: what is said of a text that is no drill, and with which seed one fails."""

from __future__ import annotations

import pytest

from labkit.lessons.failing_drill.drill import DRILL, TRIED_SEEDS, look
from labkit.lessons.failing_drill.drills import NO_EXPECTATIONS, PLANTED, runs
from labkit.lessons.judging import attempted, judge


@pytest.mark.parametrize("text", ["", "nothing", "[1, 2]", "scenario: 1", "a: {"])
def test_a_text_that_is_no_drill_is_said(text):
    judged = judge(DRILL, (text,))

    assert judged.condition == "readable"
    assert judged.seen.startswith("the text cannot be read: ")


def test_the_first_seed_that_fails_is_named():
    seen = look(f"{NO_EXPECTATIONS}\nexpect: {{acknowledged: 59}}\n")

    assert (seen.failed, seen.reason) == (1, "writes acknowledged: expected 59, measured 60")
    assert seen.silent == ()
    assert len(PLANTED) == 3


@pytest.mark.slow
def test_the_seeds_that_are_tried_differ_in_what_is_lost():
    lost = [lab.ledger.rpo().writes for lab in runs(NO_EXPECTATIONS, TRIED_SEEDS)]

    assert set(lost) == {0, 1}


def test_blank_lines_are_no_attempt():
    assert not attempted(DRILL, (f"\n{NO_EXPECTATIONS}\n\n",))
    assert attempted(DRILL, (f"{NO_EXPECTATIONS}\nexpect: {{}}\n",))
