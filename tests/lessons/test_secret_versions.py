"""Lesson 01: its parts, the minutes it says it takes, and what its stretch shows."""

from __future__ import annotations

from labkit.lessons.secret_versions import LESSON
from labkit.lessons.secret_versions.forget import limit_the_key, start


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 25
    assert [one.name for one in LESSON.exercises] == ["counter", "undo", "forget"]


def test_an_undelete_gives_a_version_that_time_deleted_another_hour():
    vault = start()
    limit_the_key(vault)
    vault.post("secret/data/session", {"data": {"n": 1}})
    vault.advance("61m")
    assert vault.get("secret/data/session").status == 404
    vault.post("secret/undelete/session", {"versions": [1]})
    (row,) = vault.get("secret/metadata/session").data["versions"].values()
    created, deleted = (row[name].partition("T")[2].split(":") for name in ("created_time", "deletion_time"))

    assert vault.get("secret/data/session").ok
    assert int(deleted[0]) - int(created[0]) == 2, "an hour from the undelete on"
    vault.advance("1h")
    assert vault.get("secret/data/session").status == 404
