"""The progress file: whole or not at all, no clock time, and no trouble with it stops a reader."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from labkit.lessons import progress_file
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


def test_what_is_nested_too_deeply_is_put_aside_too(tmp_path):
    (tmp_path / NAME).write_text("[" * 100_000)

    assert ProgressFile(tmp_path).read() == {}
    assert (tmp_path / UNREADABLE).exists()


WRITER = """
import sys
from labkit.lessons import progress_file
from labkit.lessons.progress_file import ProgressFile

for number in range(60):
    file = ProgressFile(sys.argv[1])
    file.put(f"{sys.argv[2]}/{number}", {"n": number})
    assert not file.trouble, file.trouble
"""


@pytest.mark.slow
def test_kernels_that_write_at_once_lose_nothing(tmp_path):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name]) for name in ("a", "b", "c")]

    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert len(ProgressFile(tmp_path).read()) == 180
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_without_locks_it_is_written_too(tmp_path, monkeypatch):
    monkeypatch.setattr(progress_file, "flock", None)
    ProgressFile(tmp_path).put("a", {"n": 1})

    assert ProgressFile(tmp_path).get("a") == {"n": 1}


def test_what_was_remembered_is_written_when_it_can_be(tmp_path):
    folder = tmp_path / "later"
    file = ProgressFile(folder)
    file.put("a", {"n": 1})
    assert file.trouble
    folder.mkdir()
    (folder / NAME).write_text('{"c": {"n": 3}}')  # by another kernel
    assert sorted(file.read()) == ["a", "c"]
    file.put("b", {"n": 2})

    assert sorted(json.loads((folder / NAME).read_text())) == ["a", "b", "c"]
    assert file.trouble == ""


def test_where_nothing_can_be_written_it_is_remembered(tmp_path):
    file = ProgressFile(tmp_path / "missing")
    file.put("a", {"b": 1})

    assert "cannot be written (No such file or directory)" in file.trouble
    assert ProgressFile(tmp_path / "missing").get("a") == {"b": 1}
    assert ProgressFile(tmp_path).get("a") == {}
