"""Lesson 04: its parts, and the minutes it says it takes."""

from __future__ import annotations

from labkit.lessons.distance import LESSON


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 30
    assert [one.name for one in LESSON.exercises] == ["law", "backlog", "silence"]
