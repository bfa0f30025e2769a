"""Surviving tokens as table and picture."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from labkit import Lab
from labkit.lab.records.surviving_tokens import TokenSurvival
from labkit.views.charts.measured_tokens import measured_tokens


def queries(*found: TokenSurvival) -> Any:
    return SimpleNamespace(now=9_000_000_000, parts=SimpleNamespace(ledger=SimpleNamespace(tokens=list(found))))


FORCED = TokenSurvival(5_000_000_000, "tokyo", "paris", False, 1_234, 1_200, 34, 1, 1_000, 990)
PLANNED = TokenSurvival(8_000_000_000, "paris", "tokyo", True, 1, 1, 0, 0, 0, 0)


def test_the_frame_has_a_row_for_each_promotion():
    frame = measured_tokens(queries(FORCED, PLANNED)).to_frame()
    assert list(frame.index) == [1, 2]
    assert list(frame.loc[1]) == [5.0, "tokyo", "paris", False, 1_234, 1_200, 34, 1, 1_000, 990]
    assert list(frame.planned) == [False, True]


def test_the_picture_says_what_the_frame_has():
    measure = measured_tokens(queries(FORCED))
    assert measure.finding == (
        "1,200 of 1,234 tokens valid at paris survived at tokyo; 990 of 1,000 leases did; "
        "1 token ended before became valid again."
    )
    assert "5.000 s, not planned: tokyo: 1,200 of 1,234 survived, 34 lost, 1 valid again" in measure.text
    assert measured_tokens(queries(PLANNED)).finding == "1 of 1 token valid at tokyo survived at paris."
    assert "8.000 s, planned: paris: 1 of 1 survived." in measured_tokens(queries(PLANNED)).text


def test_it_is_what_the_lab_recorded(drilled_lab):
    rows = measured_tokens(drilled_lab.queries).rows
    assert [row[2:4] for row in rows] == [("tokyo", "paris")]
    assert measured_tokens(Lab.pair(seed=7).queries).finding == "No cluster took over from another."
