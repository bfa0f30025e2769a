"""Lesson 09: its recalls and its parts."""

from __future__ import annotations

from labkit.lessons.failing_drill import LESSON


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 35
    assert [one.name for one in LESSON.exercises] == ["drill", "rule", "cause"]
    assert [one.name for one in LESSON.questions] == ["empty", "strict"]
