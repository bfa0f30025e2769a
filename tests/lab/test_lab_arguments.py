"""Lab arguments: what a lab can be made of, and the sentences about instants."""

from __future__ import annotations

import pytest

from labkit.lab.lab_arguments import cannot_repeat, judge_checkpoints, judge_instant, judge_lab, judge_scenario
from labkit.lab.plan.blueprint import pair
from labkit.lab.snapshot import Snapshot


def test_what_is_right_is_taken():
    judge_lab(pair(), 7, True, None)

    assert judge_checkpoints("250ms", 2) == (250_000_000, 2)
    assert judge_checkpoints(3, 256) == (3_000_000_000, 256)
    assert judge_instant("1500ms", 2_000_000_000) == judge_instant("1.5s", 1_500_000_000) == 1_500_000_000


def test_a_snapshot_with_a_scenario_needs_somebody_who_restores_it():
    plain, played = (
        Snapshot(blueprint=pair(), seed=7, at_ns=0, state={"scenario": kept})
        for kept in (None, {"scenario": {"title": "A drill"}})
    )
    for snapshot, restores in ((None, None), (plain, None), (played, print)):
        judge_scenario(snapshot, restores)

    said = "^snapshot: expected one without a scenario, got one of 'A drill'; use labkit.Lab.restore$"
    with pytest.raises(ValueError, match=said):
        judge_scenario(played, None)


@pytest.mark.parametrize(
    ("judge", "says"),
    [
        (lambda: judge_lab("paris", 7, True, None), "blueprint: expected a Blueprint"),
        (lambda: judge_lab(pair(), -1, True, None), "seed: expected a whole number"),
        (lambda: judge_lab(pair(), 7, 1, None), "trace: expected"),
        (lambda: judge_lab(pair(), 7, True, {}), r"snapshot: expected what lab\.snapshot\(\) gave"),
        (lambda: judge_checkpoints("1us", 5), "every: expected a duration from 1ms up, got '1us'"),
        (lambda: judge_checkpoints("1s", 1), "limit: expected a whole number from 2 up, got 1"),
        (
            lambda: judge_instant("3s", 2_000_000_000),
            "instant: expected an instant up to now, that is up to 2s, got '3s'",
        ),
        (lambda: judge_instant(-1, 2_000_000_000), "instant: expected a duration"),
    ],
)
def test_what_is_wrong_is_refused(judge, says):
    with pytest.raises(ValueError, match="^" + says):
        judge()


def test_what_cannot_be_repeated_is_said_with_what_is_kept():
    assert "got '2s'; kept: no checkpoint; what was done by hand" in cannot_repeat("2s", None)
