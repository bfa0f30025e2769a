"""Distance: acknowledged means stored here, and what is on the line is the rate times one way."""

from __future__ import annotations

from labkit.lessons.distance.backlog import BACKLOG
from labkit.lessons.distance.law import LAW
from labkit.lessons.distance.questions import FARTHER, ON_THE_LINE
from labkit.lessons.distance.silence import SILENCE
from labkit.lessons.plan import LessonPlan, Minutes, Recall

RECALLS = (
    Recall(
        of="00",
        asks="Which cluster of a pair takes writes?",
        choices=("the primary", "the secondary", "both"),
        answer="the primary",
        says="The secondary is a copy; it refuses clients.",
    ),
    Recall(
        of="01",
        asks="A write with `cas` is refused. What do you know?",
        choices=("somebody wrote meanwhile", "the secret is gone", "the line is cut"),
        answer="somebody wrote meanwhile",
        says="The version that you have seen is no longer the latest.",
    ),
    Recall(
        of="01",
        asks="What does a delete do to a version?",
        choices=("it hides it", "it removes it", "it renumbers it"),
        answer="it hides it",
        says="Destroy removes; a number is never used twice.",
    ),
)

LESSON = LessonPlan(
    number="04",
    file="04_distance.ipynb",
    title="Distance: how much is on its way?",
    minutes=Minutes(recall=2, first=6, changed=4, exercises=(5, 6, 6), end=1),
    ask="How far apart are your two data centres, in milliseconds? What do you write in that time?",
    cut="Leave out the second exercise, and show the backlog's length in a status.",
    questions=(ON_THE_LINE, FARTHER),
    exercises=(LAW, BACKLOG, SILENCE),
    recalls=RECALLS,
)
