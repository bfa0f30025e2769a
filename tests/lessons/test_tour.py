"""Lesson 00: its parts, the minutes it says it takes, and what its text says beside the predictions."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.lessons.tour import LESSON
from labkit.lessons.tour.questions import ORDERS, PATH
from labkit.lessons.tour.sixth import start
from tests.notebooks.test_form import cells_of
from tests.notebooks.test_notebooks import run


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 15
    assert [one.name for one in LESSON.exercises] == ["sixth"]


@pytest.mark.slow
def test_a_planned_switch_loses_nothing():
    lab = start()
    lab["paris"].post(f"{PATH}/6", {"data": {}})
    lab.failover("paris", "tokyo")

    assert all(lab["tokyo"].get(f"{PATH}/{number}").ok for number in range(1, ORDERS + 2))


def test_what_led_to_the_loss_of_the_stretch_is_the_line():
    left: dict[str, Any] = {"__name__": "__main__"}
    for kind, source in cells_of("00"):
        if kind == "code" and ("calm" in source or "import" in source):
            shown = run(source, left)

    assert "from paris-1 to tokyo-1, sent at" in shown.steps[1].sentence
    assert "is lost on its way: paris-1 goes down" in shown.steps[1].sentence


def test_lisbon_is_empty():
    assert "lisbon has nobody" in start().map().description
