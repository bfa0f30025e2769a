"""Who are you: a signature says who issued a token, not for whom, from which machine, and for how long."""

from __future__ import annotations

from labkit.lessons.machine_logins.five_reasons import FIVE_REASONS
from labkit.lessons.machine_logins.questions import FORGERIES, RENEWED, ROLLED
from labkit.lessons.machine_logins.shift import SHIFT
from labkit.lessons.machine_logins.web_only import WEB_ONLY
from labkit.lessons.plan import LessonPlan, Minutes, Recall

RECALLS = (
    Recall(
        of="01",
        asks="Two people write one secret. What keeps one from overwriting the other?",
        choices=("check-and-set", "a faster write", "the metadata"),
        answer="check-and-set",
        says="A write with `cas` passes only at the version that was seen.",
    ),
    Recall(
        of="02",
        asks="What does a policy say?",
        choices=("what may be done on which path", "who may log in", "how long a key lives"),
        answer="what may be done on which path",
        says="Whatever it does not allow is refused.",
    ),
    Recall(
        of="02",
        asks="A key was rotated. Who moves the old rows?",
        choices=("you, by rewrap", "the service", "the next read"),
        answer="you, by rewrap",
        says="The service does not know which texts are rows.",
    ),
)

LESSON = LessonPlan(
    number="03",
    file="03_machines.ipynb",
    title="Who are you? Why is a valid signature not enough?",
    minutes=Minutes(recall=2, first=6, changed=4, exercises=(5, 6, 6), end=1),
    ask="Your program needs a password to fetch its passwords. Where do you keep that one?",
    cut="Leave out the second exercise, and read one record of the audit file together.",
    questions=(FORGERIES, RENEWED, ROLLED),
    exercises=(WEB_ONLY, FIVE_REASONS, SHIFT),
    recalls=RECALLS,
)
