"""A first tour: a secret, a pair of clusters, one disaster, one planned switch."""

from __future__ import annotations

from labkit.lessons.plan import LessonPlan, Minutes
from labkit.lessons.tour.questions import SECOND, SURVIVE
from labkit.lessons.tour.sixth import SAVE_THE_SIXTH

LESSON = LessonPlan(
    number="00",
    file="00_tour.ipynb",
    title="A first tour: what can go wrong with a saved secret?",
    minutes=Minutes(recall=0, first=6, changed=3, exercises=(5,), end=1),
    ask="When your program hears that something is saved: where is it then?",
    cut="Leave out the planned switch; exercise 1 brings it back.",
    questions=(SURVIVE, SECOND),
    exercises=(SAVE_THE_SIXTH,),
)
