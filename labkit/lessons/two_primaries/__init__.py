"""Two primaries: a promotion stops no cluster, and healing a line joins no histories."""

from __future__ import annotations

from labkit.lessons.plan import LessonPlan, Minutes, Recall
from labkit.lessons.two_primaries.clean_up import CLEAN_UP
from labkit.lessons.two_primaries.fence import FENCE
from labkit.lessons.two_primaries.questions import OWN_WRITE, TWO
from labkit.lessons.two_primaries.stall import STALL

RECALLS = (
    Recall(
        of="04",
        asks="paris acknowledged a write. Where is it stored at that instant?",
        choices=("in paris", "in both", "in a majority"),
        answer="in paris",
        says="Acknowledged means stored here. The copy is on its way.",
    ),
    Recall(
        of="05",
        asks="An operator decides after 60 s instead of 5 s. What becomes larger?",
        choices=("what is lost", "how long no write is taken", "both"),
        answer="how long no write is taken",
        says="What is lost was on the line before the fault; waiting adds time only.",
    ),
    Recall(
        of="05",
        asks="What does a promotion ask for?",
        choices=("the root token", "an operation token from key shares", "the other cluster's consent"),
        answer="an operation token from key shares",
        says="A secondary has no token store of its own to ask, so holders of key shares make an operation token.",
    ),
)

LESSON = LessonPlan(
    number="06",
    file="06_two_primaries.ipynb",
    title="Two primaries: who stops the old one?",
    minutes=Minutes(recall=2, first=6, changed=5, exercises=(6, 8, 6), end=2),
    ask="Who of you has promoted something while the old one was still alive? How did you know that it was not?",
    cut="Leave out the third exercise; tell its story with the picture of a stalled leader.",
    questions=(TWO, OWN_WRITE),
    exercises=(FENCE, CLEAN_UP, STALL),
    recalls=RECALLS,
)
