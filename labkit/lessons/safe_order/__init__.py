"""Safe order: what a planned move loses or keeps is decided by the order of its steps, and by what is waited for."""

from __future__ import annotations

from labkit.lessons.plan import LessonPlan, Minutes, Recall
from labkit.lessons.safe_order.back import BACK
from labkit.lessons.safe_order.logins import LOGINS
from labkit.lessons.safe_order.lossless import LOSSLESS
from labkit.lessons.safe_order.questions import AT_ONCE, PATIENT

RECALLS = (
    Recall(
        of="06",
        asks="paris is the primary and tokyo is promoted. What becomes of paris?",
        choices=("it steps down", "it goes on as a primary", "it stops"),
        answer="it goes on as a primary",
        says="A promotion stops nobody: somebody has to stop the old primary first.",
    ),
    Recall(
        of="05",
        asks="A region is lost. Which decides how many acknowledged writes are lost?",
        choices=("what was on the line", "how soon somebody decides", "how many nodes are left"),
        answer="what was on the line",
        says="What was on the line is lost at the fault; people decide how long nothing is written.",
    ),
    Recall(
        of="03",
        asks="A machine renews a token of two minutes, at most an hour, each minute. How long does it live?",
        choices=("two minutes", "an hour", "for ever"),
        answer="an hour",
        says="A renewal begins the short time again, or the time that it asks for, and never passes the maximum, which "
        "counts from the login.",
    ),
)

LESSON = LessonPlan(
    number="08",
    file="08_safe_order.ipynb",
    title="Operating it: which order is safe?",
    minutes=Minutes(recall=2, first=5, changed=4, exercises=(6, 6, 5), end=2),
    ask="Who of you has moved a running service to another place, and how did you know when it was safe to switch?",
    cut="Leave out the third exercise; play `labkit run cloud/outage-during-a-failover` instead.",
    questions=(AT_ONCE, PATIENT),
    exercises=(LOSSLESS, BACK, LOGINS),
    recalls=RECALLS,
)
