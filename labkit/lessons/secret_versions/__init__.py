"""Secrets and versions: delete hides, destroy removes, and no number is used twice."""

from __future__ import annotations

from labkit.lessons.plan import LessonPlan, Minutes, Recall
from labkit.lessons.secret_versions.counter import COUNTER
from labkit.lessons.secret_versions.forget import FORGET
from labkit.lessons.secret_versions.questions import CAS, UNDELETE
from labkit.lessons.secret_versions.undo import UNDO

RECALLS = (
    Recall(
        of="00",
        asks="What does a secrets service answer when it has stored a secret?",
        choices=("its acknowledgement", "the secret", "a file"),
        answer="its acknowledgement",
        says="An acknowledgement says that the write is stored where it was sent.",
    ),
    Recall(
        of="00",
        asks="Which cluster of a pair takes writes?",
        choices=("the primary", "the secondary", "both"),
        answer="the primary",
        says="The secondary is a copy that refuses clients until it is promoted.",
    ),
    Recall(
        of="00",
        asks="An order was acknowledged a moment before the region was lost. Where may it be missing?",
        choices=("in the survivor", "nowhere"),
        answer="in the survivor",
        says="It was on its way, and the way was lost too.",
    ),
)

LESSON = LessonPlan(
    number="01",
    file="01_secret_versions.ipynb",
    title="Secrets and versions: what is gone when it is deleted?",
    minutes=Minutes(recall=2, first=4, changed=3, exercises=(7, 4, 4), end=1),
    ask="When did you last delete something and find it again? Who had kept it?",
    cut="Leave out the third exercise, and show the two settings in the metadata of one secret.",
    questions=(CAS, UNDELETE),
    exercises=(COUNTER, UNDO, FORGET),
    recalls=RECALLS,
)
