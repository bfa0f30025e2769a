"""Where a condition stands is plain values, and comes to one row of a verdict; the table is tried on whole runs."""

from __future__ import annotations

import pickle

from labkit.scenario.expect_keys import Expectations, ExpectedRange
from labkit.scenario.timed.courses import FIELDS, Course
from labkit.scenario.timed.timed_conditions import ALWAYS, LEADS_TO, SOMETIMES, TimedCondition

LEVEL = Expectations(ranges=(ExpectedRange("lag", 0, 0),))


def test_it_is_plain_values() -> None:
    course = Course()
    course.opened_ns = 5
    course.note(True)
    course.note(None)
    course.ask(7)
    again = Course(*pickle.loads(pickle.dumps(course.state())))

    assert again.state() == course.state()
    assert len(again.state()) == len(FIELDS)
    assert (again.was_true, again.was_false, again.asked, again.owed_ns) == (True, False, 1, 7)
    assert Course().state() == Course(*Course().state()).state()


def test_what_was_answered_is_counted() -> None:
    course, timed = Course(), TimedCondition(LEADS_TO, 1, "", LEVEL, then=LEVEL)
    course.opened_ns = 0
    rows = []
    for at_ns in (1, 2):
        course.ask(at_ns)
        rows.append(course.row(timed).measured)
        course.answer()
        rows.append(course.row(timed).measured)

    owed = "still owed at the end, since"
    assert rows == [f"{owed} 1ns", "answered once", f"{owed} 2ns", "answered 2 times"]


def test_what_is_settled_stays_so() -> None:
    course = Course()
    course.opened_ns = 0
    course.settle("broken", 3, "lag: tokyo: 1 entry behind")

    assert course.row(TimedCondition(ALWAYS, 1, "level", LEVEL)) == (
        *("level", "always lag 0", "broken at 3ns: lag: tokyo: 1 entry behind", "broken", "always 1"),
    )
    assert "broken" in repr(course)
    assert Course().row(TimedCondition(SOMETIMES, 1, "", LEVEL)).status == "unknown"
