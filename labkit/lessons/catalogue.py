"""Catalogue: the lessons by number, each loaded when it is asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from labkit.lessons.plan import LessonPlan
from labkit.service.arguments import one_of

LESSONS = {
    "00": "tour",
    "01": "secret_versions",
    "02": "kept_keys",
    "03": "machine_logins",
    "04": "distance",
    "05": "disaster",
    "06": "two_primaries",
    "07": "damaged_tree",
    "08": "safe_order",
    "09": "failing_drill",
}
"""{number: the package that holds it}."""


def plan(number: str) -> LessonPlan:
    """Return the plan of a lesson by its number, such as 06."""
    return _load(one_of("number", "the number of a lesson", number, tuple(LESSONS)))


@cache
def _load(number: str) -> LessonPlan:
    found: LessonPlan = import_module(f"labkit.lessons.{LESSONS[number]}").LESSON
    return found
