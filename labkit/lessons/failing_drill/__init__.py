"""Failing drill: a drill that passes shows something only if it can fail, and fails for what it is to find."""

from __future__ import annotations

from labkit.lessons.failing_drill.cause import CAUSE
from labkit.lessons.failing_drill.drill import DRILL
from labkit.lessons.failing_drill.drills import runs, verdict
from labkit.lessons.failing_drill.questions import EMPTY, STRICT
from labkit.lessons.failing_drill.rule import RULE
from labkit.lessons.plan import LessonPlan, Minutes, Recall

__all__ = ["LESSON", "runs", "verdict"]

RECALLS = (
    Recall(
        of="08",
        asks="As planned, paris steps down and tokyo is promoted at once. What is lost?",
        choices=("nothing, it was planned", "what was on the line", "all since the last copy"),
        answer="what was on the line",
        says="A plan stops new writes. What is on the line still needs its time.",
    ),
    Recall(
        of="07",
        asks="The roots of two clusters are equal. What does that prove?",
        choices=("both are right", "their trees agree", "nothing was lost"),
        answer="their trees agree",
        says="A root is computed from a tree of digests. What is stored, or an inner layer, may be damaged below it.",
    ),
    Recall(
        of="06",
        asks="A leader stalls, another node leads, and the first one wakes. What becomes of the write in its hands?",
        choices=("it is stored", "its commit is refused", "it is stored twice"),
        answer="its commit is refused",
        says="A commit carries the term of its leader, and one of an earlier term is refused.",
    ),
)

LESSON = LessonPlan(
    number="09",
    file="09_failing_drill.ipynb",
    title="A drill that can fail: how would you know?",
    minutes=Minutes(recall=3, first=5, changed=5, exercises=(8, 6, 6), end=2),
    ask="Which of your alarms or tests has never gone off? How do you know that it can?",
    cut="Leave out the second exercise; show `lab.watch` with one condition instead.",
    questions=(EMPTY, STRICT),
    exercises=(DRILL, RULE, CAUSE),
    recalls=RECALLS,
)
