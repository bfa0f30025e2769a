"""The door to the lessons: by number, and light."""

from __future__ import annotations

import pytest

from labkit.lessons import lesson, table


def test_a_lesson_is_opened_by_its_number(tmp_path):
    assert repr(lesson("06", str(tmp_path))).startswith("Lesson 06: Two primaries: who stops the old one? (35 minutes)")
    assert lesson("06", str(tmp_path)).progress.path.parent == tmp_path
    assert table("t", [{"a": 1}]).columns == ("a",)


@pytest.mark.parametrize("number", ["6", 6, "", None, "99"])
def test_another_number_is_refused(number):
    with pytest.raises(ValueError, match="number: expected the number of a lesson"):
        lesson(number)
