"""Lesson 03: its parts, the minutes it says it takes, and what its stretch shows."""

from __future__ import annotations

from labkit.lessons.machine_logins import LESSON
from labkit.lessons.machine_logins.five_reasons import start
from labkit.lessons.machine_logins.machines import login


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 30
    assert [one.name for one in LESSON.exercises] == ["web_only", "five_reasons", "shift"]


def test_keys_that_roll_twice_keep_an_honest_machine_out_for_five_minutes():
    vault, statuses = start(), []
    assert login(vault, "web-1").ok
    for wait in ("1s", "1s", "5m"):
        if wait != "5m":
            vault.cloud.roll_keys()
        vault.advance(wait)
        statuses.append(login(vault, "web-1").status)

    assert statuses == [200, 403, 200]
