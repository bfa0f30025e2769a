"""The progress file: whole or not at all, no clock time, and no trouble with it stops a reader."""

from __future__ import annotations

import json

import pytest

from labkit.lessons.progress_file import NAME, UNREADABLE, ProgressFile


def test_what_was_written_is_read_by_the_next(tmp_path):
    ProgressFile(tmp_path).put("06/check/fence", {"skill": "alone"})
    ProgressFile(tmp_path).put("06/check/stall", {"skill": "seen"})

    assert ProgressFile(tmp_path).get("06/check/fence") == {"skill": "alone"}
    assert ProgressFile(tmp_path).get("06/check/x") == {}
    assert sorted(json.loads((tmp_path / NAME).read_text())) == ["06/check/fence", "06/check/stall"]
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_reading_writes_nothing(tmp_path):
    assert ProgressFile(tmp_path).read() == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"a": 1}', b"\xff"])
def test_one_that_cannot_be_read_is_put_aside(tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    file = ProgressFile(tmp_path)

    assert file.read() == {}
    assert UNREADABLE in file.trouble
    assert (tmp_path / UNREADABLE).read_bytes() == content
    file.put("a", {"b": 1})
    assert ProgressFile(tmp_path).get("a") == {"b": 1}


def test_where_nothing_can_be_written_it_is_remembered(tmp_path):
    file = ProgressFile(tmp_path / "missing")
    file.put("a", {"b": 1})

    assert "cannot be written (No such file or directory)" in file.trouble
    assert ProgressFile(tmp_path / "missing").get("a") == {"b": 1}
    assert ProgressFile(tmp_path).get("a") == {}
