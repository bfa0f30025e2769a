"""Lesson 04: its parts, the minutes it says it takes, what its pictures show, and what its stretch does to the law."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.lessons.distance import LESSON
from labkit.lessons.distance.law import by_formula
from labkit.lessons.distance.line import ONE_WAY_S
from tests.notebooks.test_form import cells_of
from tests.notebooks.test_notebooks import run


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the cells of the lesson leave, without its exercises."""
    left: dict[str, Any] = {"__name__": "__main__"}
    for kind, source in cells_of("04"):
        if kind == "code" and "here.check" not in source:
            run(source, left)
    return left


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 30
    assert [one.name for one in LESSON.exercises] == ["law", "backlog", "silence"]


@pytest.mark.parametrize(("name", "orders"), [("lab", 8), ("far", 32)])
def test_at_the_instant_of_the_crash_there_is_nothing_but_orders_on_the_line(names, name, orders):
    trace = names[name].trace
    crash = trace.select("fault", verb="crash")[0].at_ns
    between = [
        (event.source, event.target, event.what)
        for event in trace.select("message", fate="lost")
        if event.sent_ns < crash <= event.at_ns and "operator" not in event.source + event.target
    ]

    assert between == [("paris-1", "tokyo-1", "stream")] * orders


def test_over_a_line_that_loses_messages_the_law_does_not_hold(names):
    behind = [row["behind"] for row in names["rows"]]

    assert len(behind) == 5
    assert max(behind) > 3 * by_formula(0.01, ONE_WAY_S)
    assert {row["by the law"] for row in names["rows"]} == {by_formula(0.01, ONE_WAY_S)}
