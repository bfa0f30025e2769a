"""The catalogue: each lesson by its number, with a notebook and everything a reader asks for by name."""

from __future__ import annotations

import pytest

from labkit.lessons.catalogue import LESSONS, plan
from labkit.places import notebooks


@pytest.mark.parametrize("number", LESSONS)
def test_a_plan_is_whole(number):
    lesson = plan(number)
    exercises = [one.name for one in lesson.exercises]
    conditions = [[one.name for one in exercise.conditions] for exercise in lesson.exercises]

    assert lesson.number == number
    assert (notebooks() / lesson.file).is_file()
    assert lesson.file.startswith(f"{number}_")
    assert lesson.title.endswith("?")
    assert len(lesson.questions) >= 2
    assert len(exercises) == len(set(exercises)) == (1 if number == "00" else 3)
    assert len(lesson.recalls) == (0 if number == "00" else 3)
    assert all(recall.of < number and recall.answer in recall.choices for recall in lesson.recalls)
    assert all(len(names) == len(set(names)) for names in conditions)
    assert len(lesson.minutes.exercises) == len(exercises)
    assert lesson.ask
    assert lesson.cut


@pytest.mark.parametrize("number", LESSONS)
def test_each_wrong_answer_has_two_sentences_and_each_condition_three_hints(number):
    lesson = plan(number)
    replies = [reply for question in lesson.questions for reply in question.replies.values()]
    hints = [one.hints for exercise in lesson.exercises for one in exercise.conditions]

    assert [reply for reply in replies if reply.count(". ") < 1] == []
    assert [row for row in hints if len(set(row)) != 3 or not all(row)] == []
    assert [question.name for question in lesson.questions if len(question.replies) < 1] == []


def test_a_number_that_has_no_lesson_is_refused():
    with pytest.raises(ValueError, match=r"number: expected the number of a lesson.*06"):
        plan("6")
