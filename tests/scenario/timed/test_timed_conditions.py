"""A condition over time is plain data, says itself in words, and is called by its name where it has one."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from labkit.scenario.timed.points import AfterPoint
from labkit.scenario.timed.timed_conditions import TIMED_PARTS, TimedCondition
from labkit.scenario.value_types import DeclaredNames

NAMES = DeclaredNames((), ("paris", "tokyo"))
ITEMS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("always", {"lag": {"at most": 200}, "from": "5s"}, "always lag at most 200, from 5s on"),
    ("sometimes", {"roots": "different"}, "sometimes roots different"),
    ("eventually", {"roots": "equal", "within": "15s"}, "eventually roots equal within 15s"),
    (
        "leads to",
        {"if": {"connections": {"tokyo": "not ready"}}, "then": {"lag": 0}, "within": "40s"},
        "connection of tokyo not ready leads to lag 0 within 40s",
    ),
)


def timed(kind: str, values: dict[str, Any], after: AfterPoint | None = None) -> TimedCondition:
    return TimedCondition.of(kind, 2, TIMED_PARTS[kind].model_validate(values, context=NAMES), after)


@pytest.mark.parametrize(("kind", "values", "words"), ITEMS)
def test_it_is_plain_data_and_says_itself_in_words(kind: str, values: dict[str, Any], words: str) -> None:
    made = timed(kind, values, AfterPoint(3, True, 5) if "from" not in values else None)
    again = TimedCondition.from_state(pickle.loads(pickle.dumps(made)))

    assert again == made
    assert timed(kind, values).text == words


def test_it_is_called_by_its_name_else_by_its_place() -> None:
    assert timed("always", {"lag": 0}).label == "always 2"
    named = timed("always", {"lag": 0, "name": "level"})

    assert (named.label, named.key) == ("level", "always 2")
