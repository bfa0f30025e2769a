"""Paper: a lesson to be printed: its questions with room to write, and at the end what to compare with."""

from __future__ import annotations

from collections.abc import Iterator

from labkit.lessons.plan import LessonPlan

LINE = "." * 72
SURE = "I am   ( ) guessing   ( ) fairly sure   ( ) certain"


def sheet(lesson: LessonPlan) -> str:
    """Return a lesson's questions and exercises with room to write, and its answers on a page of their own."""
    return "\n".join([*_questions(lesson), "\f", *_answers(lesson)]) + "\n"


def _questions(lesson: LessonPlan) -> Iterator[str]:
    yield from (f"{lesson.number}  {lesson.title}", "=" * 72, "")
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
    yield from (f"{lesson.number}  To compare with", "=" * 72, "")
    for number, recall in enumerate(lesson.recalls, 1):
        yield from (f"Recall {number}. {recall.answer}. {recall.says} (lesson {recall.of})", "")
    for question in lesson.questions:
        yield f"Prediction {question.name}. Your lab shows it: here.reveal({question.name!r}, …)."
        yield from (f"   {answer}: {reply}" for answer, reply in question.replies.items())
        yield ""
    for exercise in lesson.exercises:
        yield f"Exercise {exercise.name}. Ways that are right: {', '.join(exercise.ways)}."
        yield from (f"   {condition.asks}" for condition in exercise.conditions)
        yield ""
