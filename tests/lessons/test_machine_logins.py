"""Lesson 03: its parts, the minutes it says it takes, and what its table shows of the audit file."""

from __future__ import annotations

from typing import Any

from labkit.lessons.machine_logins import LESSON
from labkit.lessons.said import RowTable
from tests.notebooks.test_form import answered, cells_of
from tests.notebooks.test_notebooks import run


def test_it_takes_as_long_as_it_says():
    assert LESSON.minutes.total == 30
    assert [one.name for one in LESSON.exercises] == ["web_only", "five_reasons", "shift"]


def test_the_table_shows_each_answer_beside_what_the_audit_file_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [answered(source, "03") for kind, source in cells_of("03") if kind == "code" and "here.check" not in source]
    shown = [run(source, names) for source in cells]
    (table,) = [one for one in shown if isinstance(one, RowTable) and one.title == "Five logins"]
    reasons = ["resource_group", "machine_claim", "expired", "audience", "algorithm"]

    assert [row[1:] for row in table.rows] == [
        ("403", f"1 error occurred: * permission denied ; {reason}") for reason in reasons
    ]
