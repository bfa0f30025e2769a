"""Lesson 05: its recalls and its parts."""

from __future__ import annotations

from labkit.lessons.disaster import LESSON


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 30
    assert [one.name for one in LESSON.exercises] == ["alarms", "by_hand", "outlived"]
    assert [one.name for one in LESSON.questions] == ["lost", "hurry"]
