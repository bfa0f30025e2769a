"""Paper: lessons to be printed: their questions with room to write, and at the end of all what to compare with.

1. A form feed stands before each lesson's questions but the first, and before each lesson's answers.
2. No line is longer than a sheet of plain text is wide.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from labkit.lessons.plan import LessonPlan

WIDTH = 76
LINE = "." * (WIDTH - 3)
SURE = "I am   ( ) guessing   ( ) fairly sure   ( ) certain"
NEW_PAGE = "\f"


def booklet(lessons: Sequence[LessonPlan]) -> str:
    """Return the questions of lessons with room to write, then all answers, each lesson on pages of its own."""
    pages = [*map(_questions, lessons), *map(_answers, lessons)]
    return NEW_PAGE.join(["\n".join(_wrapped(page)) + "\n" for page in pages])


def _wrapped(lines: Iterator[str]) -> Iterator[str]:
    """Give lines that are no wider than a sheet; what goes on is set under what began."""
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 3)
        yield from textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False) or [""]


def _questions(lesson: LessonPlan) -> Iterator[str]:
    yield from (f"{lesson.number}  {lesson.title}", "=" * WIDTH, "")
    for number, recall in enumerate(lesson.recalls, 1):
        yield f"Recall {number}. {recall.asks}"
        yield from (f"   ( ) {choice}" for choice in recall.choices)
        yield ""
    for question in lesson.questions:
        yield f"Prediction {question.name}. {question.asks}"
        choices = [f"   ( ) {choice}" for choice in question.choices]
        yield from (choices or ["", f"   {LINE[:20]} {question.unit}".rstrip()])
        yield from ("", f"   {SURE}", "")
    for exercise in lesson.exercises:
        yield f"Exercise {exercise.name}: {exercise.title}"
        yield from (f"Wanted: {exercise.goal}", "My steps:", *[f"   {LINE}"] * 6, "What the check said first:")
        yield from (f"   {LINE}", "")


def _answers(lesson: LessonPlan) -> Iterator[str]:
    yield from (f"{lesson.number}  To compare with", "=" * WIDTH, "")
    for number, recall in enumerate(lesson.recalls, 1):
        yield from (f"Recall {number}: {recall.answer}. {recall.says} (lesson {recall.of})", "")
    for question in lesson.questions:
        yield f"Prediction {question.name}. Your lab shows it: here.reveal({question.name!r}, …)."
        yield from (f"   {answer}: {reply}" for answer, reply in question.replies.items())
        yield ""
    for exercise in lesson.exercises:
        yield f"Exercise {exercise.name}. Ways that are right: {', '.join(exercise.ways)}."
        yield from (f"   {condition.asks}" for condition in exercise.conditions)
        yield ""
