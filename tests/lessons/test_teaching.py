"""The trainer's page: courses with breaks, minutes that add up, and a reply for each wrong model."""

from __future__ import annotations

import pytest

from labkit.lessons import teaching
from labkit.lessons.catalogue import LESSONS, plan


@pytest.mark.parametrize("number", LESSONS)
def test_a_lesson_says_its_minutes_by_part_and_every_reply(number):
    text, lesson = teaching.guide(number), plan(number)

    assert f"Minutes: {lesson.minutes.total}" in text
    assert all(reply in text for question in lesson.questions for reply in question.replies.values())
    spent = zip(lesson.exercises, lesson.minutes.exercises, strict=True)
    assert all(f"{one.title} {length}" in text for one, length in spent)
    assert lesson.ask in text
    assert lesson.cut in text


def test_the_whole_guide_has_both_courses_and_every_lesson():
    text = teaching.guide()

    assert (
        text.index("## Half a day") < text.index("## A full day") < min(text.index(f"## {each} ") for each in LESSONS)
    )
    assert "145 minutes of lessons" in text
    assert "295 minutes of lessons" in text
    assert "- break, 15 min" in text


def test_no_stretch_without_a_break_is_too_long():
    assert teaching.timetable([15, 30, 30, 35, 35]) == [2]
    assert teaching.timetable([30, 30, 30]) == [1]
    assert teaching.timetable([80, 10]) == [0]
    assert teaching.timetable([]) == []


def test_a_number_without_a_lesson_is_refused():
    with pytest.raises(ValueError, match="number: expected the number of a lesson"):
        teaching.guide("77")
