"""Lesson 06: its recalls and its parts."""

from __future__ import annotations

from labkit.lessons.two_primaries import LESSON


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 35
    assert [one.name for one in LESSON.exercises] == ["fence", "clean_up", "stall"]
    assert [one.name for one in LESSON.questions] == ["two", "own"]
