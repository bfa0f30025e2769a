"""A point of a timeline is read in one way, for a step and for a window."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.scenario.problems import FieldError
from labkit.scenario.timed.points import AfterPoint, WrittenPoint, read_point

LONG = "a-name-of-a-step-that-has-as-many-letters-as-anybody-likes"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("step 4", WrittenPoint("4")),
        ("step fence", WrittenPoint("fence")),
        (f"step {LONG}", WrittenPoint(LONG)),
        ({"step": 4}, WrittenPoint("4")),
        ({"step": "step a-b", "ended": "2s"}, WrittenPoint("a-b", 2_000_000_000)),
        ({"step": "fence", "began": "1ms"}, WrittenPoint("fence", 1_000_000, from_beginning=True)),
    ],
)
def test_a_step_is_named_by_number_or_name_with_a_time_after_it(written: Any, read: WrittenPoint) -> None:
    assert read_point(written) == read


@pytest.mark.parametrize("value", ["4", "step", "step ", "step A", "step 4 5", "step 0", "step -", 4, None, [1], "5s"])
def test_nothing_else_names_a_step(value: Any) -> None:
    with pytest.raises(ValueError, match=r"expected a step such as step 4, or \{step: fence, began: 2s\}, got"):
        read_point(value)


@pytest.mark.parametrize(
    ("value", "key", "said"),
    [
        ({"stp": 1}, "stp", "expected a key, got 'stp' — did you mean 'step'?"),
        ({"step": [1]}, "step", "expected the number or the name of a step such as 4 or fence, got a list"),
        ({"step": True}, "step", "expected the number or the name of a step such as 4 or fence, got true"),
        ({"step": 1, "began": 2}, "began", "expected a duration with its unit such as 2s or 2ms, got 2"),
        ({"step": 1, "began": "1s", "ended": "1s"}, "ended", "expected began or ended, got both"),
    ],
)
def test_what_is_wrong_in_a_mapping_is_said_of_its_key(value: dict[str, Any], key: str, said: str) -> None:
    with pytest.raises(FieldError, match="expected") as caught:
        read_point(value)

    assert (str(caught.value), caught.value.key) == (said, key)


@pytest.mark.parametrize(
    ("point", "text"),
    [
        (AfterPoint(3), "after step 3"),
        (AfterPoint(3, plus_ns=2_000_000_000), "2s after step 3 ended"),
        (AfterPoint(3, began=True), "0s after step 3 began"),
    ],
)
def test_a_point_says_itself_in_words(point: AfterPoint, text: str) -> None:
    assert point.text == text
