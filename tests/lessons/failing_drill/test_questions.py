"""Both predictions of lesson 09: what is measured over twenty seeds, and what is missing before."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lessons.failing_drill.drills import NO_EXPECTATIONS, runs
from labkit.lessons.failing_drill.questions import EMPTY, STRICT, losing

pytestmark = pytest.mark.slow


def test_what_twenty_seeds_show_of_both_drills():
    empty, strict = runs(NO_EXPECTATIONS), runs(f"{NO_EXPECTATIONS}\nexpect: {{lost: 0}}\n")

    assert (EMPTY.needs(empty), EMPTY.measure(empty), losing(empty)) == ("", 20, 16)
    assert "20 of 20 runs are as expected, and some of them lost" in EMPTY.why(empty)
    assert (STRICT.needs(strict), STRICT.measure(strict)) == ("", 4)
    assert "16 of 20 runs lost one write or more" in STRICT.why(strict)
    assert {lab.ledger.rpo().writes for lab in strict} == {0, 1}
    assert "not expected that nothing is lost" in STRICT.needs(empty)
    assert "of the cell above" in EMPTY.needs(empty[:3])


def test_what_is_no_run_is_said():
    assert "20 runs" in EMPTY.needs(...)
    assert "played no drill" in EMPTY.needs([Lab.pair(seed=1)] * 20)
