"""Paper: no answer stands before the pages of answers, and no line leaves the sheet."""

from __future__ import annotations

import pytest

from labkit.lessons import paper
from labkit.lessons.catalogue import LESSONS, plan
from labkit.lessons.paper import NEW_PAGE, WIDTH, booklet

PLANS = [plan(number) for number in sorted(LESSONS)]


def joined(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("number", LESSONS)
def test_questions_come_first_and_all_answers_at_the_end(number):
    lesson = plan(number)
    page, at_the_end = booklet([lesson]).split(NEW_PAGE)
    asked, answers = joined(page), joined(at_the_end)
    replies = [reply for question in lesson.questions for reply in question.replies.values()]

    assert all(question.asks in asked for question in lesson.questions)
    assert all(exercise.goal in asked for exercise in lesson.exercises)
    assert asked.count("( ) certain") == len(lesson.questions)
    assert [said for said in (*replies, *[one.says for one in lesson.recalls]) if said in asked] == []
    assert [said for said in (*replies, *[one.says for one in lesson.recalls]) if said not in answers] == []
    assert page.count(paper.LINE) >= 7 * len(lesson.exercises)


def test_no_answer_of_any_lesson_shares_a_page_with_a_question():
    pages = booklet(PLANS).split(NEW_PAGE)

    assert [page.split()[0] for page in pages] == [*sorted(LESSONS), *sorted(LESSONS)]
    assert ["To compare with" in page for page in pages] == [False] * len(PLANS) + [True] * len(PLANS)


def test_no_line_is_wider_than_the_sheet():
    assert [line for line in booklet(PLANS).splitlines() if len(line) > WIDTH] == []
