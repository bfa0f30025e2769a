"""Nothing more: a run a step, to the same end; the point is where stopping helps for the last time."""

from __future__ import annotations

import pytest

from labkit.hunt.no_return.breaking_runs import WrittenRun
from labkit.hunt.no_return.nothing_more import StoppedRun, point_of_no_return, stopped_runs


def test_one_run_a_step(lossy: WrittenRun):
    runs = stopped_runs(lossy, "lost")

    assert [run.steps for run in runs] == [0, 1, 2, 3, 4]
    assert [run.breaks for run in runs] == [False, False, False, True, True]
    assert point_of_no_return(runs) == 3


@pytest.mark.parametrize(
    ("broken", "point"),
    [([True, True], 0), ([False, True, True], 1), ([False, True, False, True], 3), ([False, True, False], None)],
)
def test_the_first_step_after_which_nothing_helps(broken: list[bool], point: int | None):
    assert point_of_no_return(tuple([StoppedRun(steps, one) for steps, one in enumerate(broken)])) == point
