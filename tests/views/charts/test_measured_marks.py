"""Marks of charts over time: faults, their undoing, new roles and broken rules, in order."""

from __future__ import annotations

from labkit import Lab
from labkit.lab.plan.blueprint import pair
from labkit.views.charts.measured_marks import measured_marks


def test_they_are_what_happened_in_order(drilled_lab):
    marks = measured_marks(drilled_lab.queries)
    words = [mark for _, mark in marks]

    assert [at_ns for at_ns, _ in marks] == sorted(at_ns for at_ns, _ in marks)
    assert words[:3] == ["× partition paris <> tokyo", "× crash paris", "^ tokyo promoted"]
    assert "+ restart paris" in words


def test_a_lab_without_a_trace_has_none():
    lab = Lab(pair(), trace=False)
    lab.crash("paris")
    assert measured_marks(lab.queries) == ()
