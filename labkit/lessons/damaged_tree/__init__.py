"""The damaged tree: equal roots are no proof of right data, and a reindex makes equal, not right."""

from __future__ import annotations

from labkit.lessons.damaged_tree.mend import MEND
from labkit.lessons.damaged_tree.questions import COPIES, DIFFER
from labkit.lessons.damaged_tree.report import REPORT
from labkit.lessons.damaged_tree.three_pages import THREE_PAGES
from labkit.lessons.plan import LessonPlan, Minutes, Recall

RECALLS = (
    Recall(
        of="04",
        asks="Right after a write the roots of both clusters are unequal. What does that show?",
        choices=("damage", "a write on its way", "a cut line"),
        answer="a write on its way",
        says="A copy that is behind by one write has another root, and is sound.",
    ),
    Recall(
        of="06",
        asks="A secondary compares its tree with its primary's. What becomes of a page that differs?",
        choices=("the primary takes it", "the secondary takes it", "the newer one wins"),
        answer="the secondary takes it",
        says="What is copied flows one way: from the primary to whoever follows it.",
    ),
    Recall(
        of="01",
        asks="Version 1 of a secret is destroyed. What brings it back?",
        choices=("an undelete", "a new write", "nothing"),
        answer="nothing",
        says="What is destroyed is gone; a new write makes a new version.",
    ),
)

LESSON = LessonPlan(
    number="07",
    file="07_damaged_tree.ipynb",
    title="The tree: can two equal roots lie?",
    minutes=Minutes(recall=2, first=6, changed=5, exercises=(7, 7, 6), end=2),
    ask="Who of you has restored something from a copy that turned out to be as broken as the original?",
    cut="Leave out the second exercise; the third asks the harder half of it.",
    questions=(DIFFER, COPIES),
    exercises=(REPORT, MEND, THREE_PAGES),
    recalls=RECALLS,
)
