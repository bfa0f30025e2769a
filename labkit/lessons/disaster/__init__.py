"""Disaster: what is lost was on the line before the fault; people decide how long nothing is written."""

from __future__ import annotations

from labkit.lessons.disaster.alarms import THREE_ALARMS
from labkit.lessons.disaster.by_hand import BY_HAND
from labkit.lessons.disaster.outlived import OUTLIVED
from labkit.lessons.disaster.questions import HURRY, LOST
from labkit.lessons.plan import LessonPlan, Minutes, Recall

RECALLS = (
    Recall(
        of="04",
        asks="A cut lasts until what the secondary missed has left the backlog. How do the two become equal again?",
        choices=("what was missed is streamed", "they compare, and fetch what differs", "they never do"),
        answer="they compare, and fetch what differs",
        says="What has left the backlog cannot be streamed, so both compare their trees.",
    ),
    Recall(
        of="04",
        asks="A request gets no answer. What has happened?",
        choices=("nothing", "the write", "one of the two"),
        answer="one of the two",
        says="Silence says nothing of what happened: the request or its answer may be lost.",
    ),
    Recall(
        of="00",
        asks="Which cluster stores a write before the client gets its acknowledgement?",
        choices=("the primary only", "both clusters", "a majority of regions"),
        answer="the primary only",
        says="The primary answers as soon as it has stored the write itself.",
    ),
)

LESSON = LessonPlan(
    number="05",
    file="05_disaster.ipynb",
    title="Disaster: does hurrying save data?",
    minutes=Minutes(recall=2, first=5, changed=4, exercises=(6, 6, 5), end=2),
    ask="Who of you has been called at night, and decided something before knowing what had happened?",
    cut="Leave out the second exercise; show its requests in the trace of a promotion.",
    questions=(LOST, HURRY),
    exercises=(THREE_ALARMS, BY_HAND, OUTLIVED),
    recalls=RECALLS,
)
