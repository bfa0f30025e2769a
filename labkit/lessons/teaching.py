"""Teaching: what whoever teaches the lessons needs: courses with breaks, minutes, what to ask, replies, what to cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from labkit.lessons.catalogue import LESSONS, plan
from labkit.lessons.plan import LessonPlan, Question

COURSES = {
    "Half a day": ("00", "04", "05", "06", "07"),
    "A full day": tuple(sorted(LESSONS)),
}
MAX_STRETCH_MINUTES, BREAK_MINUTES = 75, 15


def guide(number: str = "") -> str:
    """Return what the trainer's page says of the courses and every lesson, or of one lesson."""
    if number:
        return "\n".join(_lesson(plan(number))) + "\n"
    courses = [line for name, numbers in COURSES.items() for line in _course(name, numbers)]
    lessons = [line for each in sorted(LESSONS) for line in (*_lesson(plan(each)), "")]
    return "\n".join([*courses, *lessons])


def timetable(minutes: Sequence[int]) -> list[int]:
    """Return after which places a break comes, so that no stretch without one is longer than it may be."""
    breaks, stretch = [], 0
    for place, length in enumerate(minutes):
        if stretch and stretch + length > MAX_STRETCH_MINUTES:
            breaks.append(place - 1)
            stretch = 0
        stretch += length
    return breaks


def _course(name: str, numbers: tuple[str, ...]) -> Iterator[str]:
    plans = [plan(number) for number in numbers]
    lengths = [one.minutes.total for one in plans]
    breaks = timetable(lengths)
    yield f"## {name}"
    yield ""
    yield f"{sum(lengths)} minutes of lessons, {len(breaks)} breaks of {BREAK_MINUTES} minutes."
    yield ""
    for place, one in enumerate(plans):
        yield f"- {one.number} {one.title} {one.minutes.total} min"
        if place in breaks:
            yield f"- break, {BREAK_MINUTES} min"
    yield ""


def _lesson(lesson: LessonPlan) -> Iterator[str]:
    spent = lesson.minutes
    exercises = zip(lesson.exercises, spent.exercises, strict=True)
    yield f"## {lesson.number} {lesson.title}"
    yield ""
    yield f"Minutes: {spent.total}"
    recall = [f"recall {spent.recall}"] if spent.recall else []
    parts = [*recall, f"first prediction {spent.first}", f"changed case {spent.changed}"]
    yield "; ".join([*parts, *[f"{one.title} {length}" for one, length in exercises], f"end {spent.end}"]) + "."
    yield ""
    yield f"**Ask before the first reveal.** {lesson.ask}"
    yield ""
    yield f"**When late.** {lesson.cut}"
    for question in lesson.questions:
        yield ""
        yield from _question(question)


def _question(question: Question) -> Iterator[str]:
    yield f"**Prediction {question.name}.** {question.asks}"
    yield ""
    for answer, reply in question.replies.items():
        yield f"- Who says {answer}{question.unit}: {reply}"
