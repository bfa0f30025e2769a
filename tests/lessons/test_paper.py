"""A sheet of paper: no answer stands before the page of answers."""

from __future__ import annotations

import pytest

from labkit.lessons import paper
from labkit.lessons.catalogue import LESSONS, plan


@pytest.mark.parametrize("number", LESSONS)
def test_questions_come_first_and_all_answers_at_the_end(number):
    lesson = plan(number)
    asked, answers = paper.sheet(lesson).split("\f")
    replies = [reply for question in lesson.questions for reply in question.replies.values()]

    assert all(question.asks in asked for question in lesson.questions)
    assert all(exercise.goal in asked for exercise in lesson.exercises)
    assert asked.count("( ) certain") == len(lesson.questions)
    assert [said for said in (*replies, *[one.says for one in lesson.recalls]) if said in asked] == []
    assert [said for said in (*replies, *[one.says for one in lesson.recalls]) if said not in answers] == []
    assert asked.count(paper.LINE) >= 7 * len(lesson.exercises)
