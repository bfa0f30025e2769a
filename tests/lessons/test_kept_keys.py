"""Lesson 02: its parts, the minutes it says it takes, and what its stretch shows."""

from __future__ import annotations

from labkit.lessons.kept_keys import LESSON
from labkit.lessons.kept_keys.retire import start


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 30
    assert [one.name for one in LESSON.exercises] == ["retire", "write_only", "search"]


def test_a_key_rotates_by_itself():
    vault = start()
    vault.post("transit/keys/rows/config", {"auto_rotate_period": "720h"})
    vault.advance("721h")

    assert vault.get("transit/keys/rows").data["latest_version"] == 2
