"""Lesson 08: its recalls and its parts."""

from __future__ import annotations

from labkit.lessons.safe_order import LESSON


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 30
    assert [one.name for one in LESSON.exercises] == ["lossless", "back", "logins"]
    assert [one.name for one in LESSON.questions] == ["at_once", "after_a_wait"]
