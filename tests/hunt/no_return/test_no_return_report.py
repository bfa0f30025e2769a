"""No return report: a row a step, a row an instant, and what they say; the same for the same runs."""

from __future__ import annotations

import pytest

from labkit.hunt.no_return.breaking_runs import WrittenRun
from labkit.hunt.no_return.no_return_report import is_decided, report_of
from labkit.hunt.no_return.nothing_more import StoppedRun
from labkit.hunt.no_return.other_luck import Branched, Curve
from labkit.service.durations import SECOND_NS

NEVER = tuple([StoppedRun(steps, False) for steps in range(5)])
LATE = tuple([StoppedRun(steps, steps > 2) for steps in range(5)])
EARLY = tuple([StoppedRun(steps, True) for steps in range(5)])
BEFORE, AFTER = Branched(2 * SECOND_NS, 20, 9), Branched(3 * SECOND_NS, 20, 20)
NONE = Branched(1, 20, 0)


def test_the_jump_and_the_point_are_named(lossy: WrittenRun):
    text = report_of(lossy, "lost", LATE, Curve((BEFORE, AFTER), (BEFORE, AFTER)))

    assert "of interest: lost\n" in text
    assert "3 promote tokyo 2.72s lost breaks" in " ".join(text.split())
    assert "point of no return: after step 3 (promote tokyo) lost breaks anyway" in text
    assert "2s 20 9 45.0% (25.8% to 65.8%) #########" in " ".join(text.split())
    assert "luck is decided between 2s and 3s: there the rate goes from 45% to 100% (40 branches)" in text
    assert "  step 2 begins then, at 2.62s: crash paris" in text
    assert "step 1 begins" not in text


@pytest.mark.parametrize(
    ("rows", "written", "said"),
    [
        ([AFTER, AFTER], "lossy", "luck changes nothing: it breaks in all 40 branches"),
        ([NONE], "harmless", "luck changes nothing: it breaks in none of 20 branches"),
        ([AFTER], "harmless", "as it is written it does not break, unlike in all 20 branches: a rare luck, that of"),
        (
            [NONE, NONE],
            "lossy",
            "as it is written it breaks, unlike in all 40 branches: a rare luck, that of at most 8.8%",
        ),
        ([BEFORE, Branched(1, 20, 8)], "lossy", "luck decides, but at no instant by itself"),
    ],
)
@pytest.mark.parametrize("key", ["", "lost"])
def test_without_a_jump(rows: list[Branched], written: str, said: str, key: str, request: pytest.FixtureRequest):
    run = request.getfixturevalue(written)

    assert said in report_of(run, key, NEVER, Curve(tuple(rows), None))


def test_what_is_decided(lossy: WrittenRun):
    flat, jump = Curve((AFTER,), None), Curve((BEFORE, AFTER), (BEFORE, AFTER))

    assert [is_decided(*pair) for pair in ((NEVER, flat), (NEVER, jump), (LATE, flat), (EARLY, flat))] == [
        *(False, True, True, True)
    ]
    assert "no step is a point of no return: as it is written it does not break" in report_of(lossy, "", NEVER, flat)
    assert "lost breaks though no step is done" in report_of(lossy, "lost", EARLY, flat)
    assert max(map(len, report_of(lossy, "lost", LATE, flat, 60).splitlines())) <= 130
