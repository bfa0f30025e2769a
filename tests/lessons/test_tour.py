"""Lesson 00: its parts, the minutes it says it takes, and what its text says beside the predictions."""

from __future__ import annotations

import pytest

from labkit.lessons.tour import LESSON
from labkit.lessons.tour.questions import ORDERS, PATH
from labkit.lessons.tour.sixth import start


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 15
    assert [one.name for one in LESSON.exercises] == ["sixth"]


@pytest.mark.slow
def test_a_planned_switch_loses_nothing():
    lab = start()
    lab["paris"].post(f"{PATH}/6", {"data": {}})
    lab.failover("paris", "tokyo")

    assert all(lab["tokyo"].get(f"{PATH}/{number}").ok for number in range(1, ORDERS + 2))


def test_lisbon_is_empty():
    assert "lisbon has nobody" in start().map().description
