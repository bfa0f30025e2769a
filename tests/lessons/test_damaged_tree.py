"""Lesson 07: its recalls and its parts."""

from __future__ import annotations

from labkit.lessons.damaged_tree import LESSON


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 35
    assert [one.name for one in LESSON.exercises] == ["report", "mend", "three_pages"]
    assert [one.name for one in LESSON.questions] == ["differ", "copies"]
