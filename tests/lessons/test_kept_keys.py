"""Lesson 02: its parts, the minutes it says it takes, and what its stretch shows."""

from __future__ import annotations

import pytest

from labkit.lessons.kept_keys import LESSON
from labkit.lessons.kept_keys.retire import start
from labkit.lessons.kept_keys.rows import rows_of


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 30
    assert [one.name for one in LESSON.exercises] == ["retire", "write_only", "search"]


@pytest.mark.parametrize(
    ("steps", "versions"), [(["721h"], 2), (["8760h"], 2), (["721h"] * 12, 13), (["24h"] * 365, 13)]
)
def test_a_key_that_is_due_rotates_once_at_each_step(steps, versions):
    """What the stretch says: a year at once is one rotation, month by month there are twelve."""
    vault = start()
    vault.post("transit/keys/rows/config", {"auto_rotate_period": "720h"})
    for step in steps:
        vault.advance(step)

    assert vault.get("transit/keys/rows").data["latest_version"] == versions
    assert {row[:9] for row in rows_of(vault)} == {"vault:v1:"}
