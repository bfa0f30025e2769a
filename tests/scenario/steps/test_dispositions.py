"""The result of a step is what the file expects, or is not."""

from __future__ import annotations

import pytest

from labkit.scenario.scenario import MAYBE, Step
from labkit.scenario.steps.dispositions import StepResult


@pytest.mark.parametrize(
    ("fails", "ok", "message", "expected"),
    [
        (None, True, "", True),
        (None, False, "sealed", False),
        ("", False, "sealed", True),
        ("", True, "", False),
        ("primary", False, "this is a primary", True),
        ("primary", False, "sealed", False),
        ("primary", True, "primary", False),
        (MAYBE, True, "", True),
        (MAYBE, False, "sealed", True),
    ],
)
def test_a_result_is_as_expected(fails: str | None, ok: bool, message: str, expected: bool) -> None:
    step = Step(1, "seal", (), "seal paris", fails=fails)

    assert StepResult(1, 0, 0, ok, message).as_expected(step) is expected
