"""Lessons that check themselves: sealed predictions, exercises judged by the state they leave, hints, progress.

A reader's cells hold five verbs of what ``lesson`` returns::

    from labkit.lessons import lesson

    here = lesson("06")
    here.predict("two", 1, sure=3)       # with ... for an answer it asks, and writes nothing
    here.reveal("two", lab)              # what you said beside what this lab shows, and why
    lab = here.start("fence")            # the exercise's own lab
    here.check("fence", lab)             # not attempted, not yet, right, cannot judge
    here.hint("fence")                   # one rung, aimed at what failed

and more for the rest: ``here.recall()`` asks three questions of earlier lessons, ``here.recall(1, answer)`` answers
one;
``here.show("two", result)`` shows a result that tells the outcome of a prediction, once that was revealed; ``table``
shows rows as a table, ``here.done()`` what was done.

A lesson in seven steps, for its author
---------------------------------------
1. Measure first.  Play the case by hand in a few lines, note each number, and assert it in a test of the lesson.
2. Make a package beside ``two_primaries``: ``__init__`` holds ``LESSON``, a ``LessonPlan``; each exercise is a module
   with its start, its conditions, its ways and its traps.  Name it in ``catalogue``.
3. A ``Question`` asks for a number or one of some choices.  ``measure`` reads the outcome from the reader's lab,
   ``needs`` says what that lab lacks so far, ``replies`` name the wrong model that leads to each wrong answer, and
   ``why`` explains with what this lab shows.  No outcome is written in the notebook.
4. An ``Exercise`` has a ``start`` of its own, which is restored from a snapshot that is made once.  ``look`` gets a
   branch of what was handed in: there it may let time pass and send requests, and returns what was seen.
   ``Condition`` in order: ``holds(seen)``, ``says(seen)`` for what was seen in this lab, ``asks`` for what the task
   wants, and three hints: where to look, which idea decides, which verb.  ``remark`` says of a right answer what is
   good to know beside it.  What was refused or ignored since the start is said by the kit (``overlooked``).
5. Ways, two or more of different shape, are functions with a docstring: their source becomes the solutions.  Traps,
   five or more, each name the condition that refuses them.  A reader's function, where that is handed in, is a way
   itself.  What a way returns, if anything, is handed in in place of the lab.
6. ``tests/lessons/test_tables.py`` plays the whole table of each exercise in the catalogue: all ways are right, each
   trap is refused by its condition, nothing done and only looking are not attempted, a neighbour's lab is refused.
   It then looks for dead conditions: for each one a trap must be refused by that one only.  One that stands for its
   better sentence only says so with ``for_its_sentence``.
7. The notebook holds text and calls: Markdown cells of at most 90 words, code cells of at most ten lines, between a
   prediction and its reveal no cell that ends in an expression, and after it none that tells its outcome but
   by ``here.show``.  ``tests/notebooks/test_form.py`` reads all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.lessons.said import RowTable, table

if TYPE_CHECKING:
    from labkit.lessons.lesson_handle import Lesson

__all__ = ["RowTable", "lesson", "table"]


def lesson(number: str, folder: str = ".") -> Lesson:
    """Return a lesson by its number, such as 06; what was done in it is kept in ``.labkit-lessons.json`` there."""
    from labkit.lessons.catalogue import plan
    from labkit.lessons.lesson_handle import Lesson

    return Lesson(plan(number), folder)
