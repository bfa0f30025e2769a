"""Keys that never leave: rotation changes the future, old text moves when it is moved, trimming is for ever."""

from __future__ import annotations

from labkit.lessons.kept_keys.questions import LOWERED, ROTATED
from labkit.lessons.kept_keys.retire import RETIRE
from labkit.lessons.kept_keys.search import SEARCH
from labkit.lessons.kept_keys.write_only import WRITE_ONLY
from labkit.lessons.plan import LessonPlan, Minutes, Recall

RECALLS = (
    Recall(
        of="00",
        asks="Who encrypts when you use a key of the service?",
        choices=("the service", "your program", "the client library"),
        answer="the service",
        says="The key never leaves it; you send texts and get texts.",
    ),
    Recall(
        of="01",
        asks="A secret is at version 3. Which `cas` lets the next write pass?",
        choices=("2", "3", "4"),
        answer="3",
        says="It names the version that you have seen.",
    ),
    Recall(
        of="01",
        asks="Which of these cannot be taken back?",
        choices=("delete", "destroy", "undelete"),
        answer="destroy",
        says="Delete hides, destroy removes.",
    ),
)

LESSON = LessonPlan(
    number="02",
    file="02_keys.ipynb",
    title="Keys that never leave: who can read a ciphertext, and until when?",
    minutes=Minutes(recall=2, first=5, changed=4, exercises=(6, 6, 6), end=1),
    ask="You change a password at noon. Which of yesterday's copies does that protect?",
    cut="Leave out the third exercise, and show two equal marks of one tenant.",
    questions=(ROTATED, LOWERED),
    exercises=(RETIRE, WRITE_ONLY, SEARCH),
    recalls=RECALLS,
)
