"""A review asks again: what was missed, what needed help, what was never asked."""

from __future__ import annotations

from labkit.lessons import lesson
from labkit.lessons.progress_file import ProgressFile
from labkit.lessons.review import due


def test_nothing_is_due_where_nothing_was_begun(tmp_path):
    assert due(ProgressFile(tmp_path)) == ["Nothing is due: no lesson was begun in this folder."]
    ProgressFile(tmp_path).put("latest", {"right": "06/fence"})
    assert due(ProgressFile(tmp_path)) == ["Nothing is due: no lesson was begun in this folder."]


def test_missed_questions_come_first_then_exercises_then_what_was_not_asked(tmp_path):
    here = lesson("06", str(tmp_path))
    first, second, third = here.plan.recalls
    here.recall(1, next(choice for choice in first.choices if choice != first.answer))
    here.recall(2, second.answer)
    ProgressFile(tmp_path).put("06/check/stall", {"skill": "seen"})
    ProgressFile(tmp_path).put("06/check/fence", {"skill": "with help"})
    ProgressFile(tmp_path).put("06/check/clean_up", {"skill": "again later"})
    ProgressFile(tmp_path).put("05/check/by_hand", {"skill": "alone"})
    lines = due(ProgressFile(tmp_path))
    text = "\n".join(lines)

    assert lines[0] == "Missed last time:"
    assert first.asks in lines[1]
    assert text.index("The late commit: not right yet") < text.index("Fence, then promote: right with help")
    assert "Clean up" not in text
    assert text.index("Not asked yet:") < text.index(third.asks)
    assert second.asks not in text
    assert text.index(third.asks) < text.index("Known so far; once more, some days later,") < text.index("first go")


def test_all_done_is_said(tmp_path):
    here = lesson("06", str(tmp_path))
    for number, recall in enumerate(here.plan.recalls, 1):
        here.recall(number, recall.answer)

    assert due(ProgressFile(tmp_path)) == ["Nothing is due: all was done again, and no question was missed."]
