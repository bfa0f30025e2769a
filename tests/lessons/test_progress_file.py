"""The progress file: whole or not at all, no clock time, and no trouble with it stops a reader."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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


def test_what_was_written_elsewhere_is_written_here_when_it_can_be(tmp_path, home):
    folder = tmp_path / "later"
    file = ProgressFile(folder)
    file.put("a", {"n": 1})
    assert file.trouble
    assert len(spares(home)) == 1
    folder.mkdir()
    (folder / NAME).write_text('{"c": {"n": 3}}')  # by another kernel
    assert sorted(file.read()) == ["a", "c"]
    file.put("b", {"n": 2})

    assert sorted(json.loads((folder / NAME).read_text())) == ["a", "b", "c"]
    assert file.trouble == ""
    assert spares(home) == []


def test_where_nothing_can_be_written_a_spare_file_is(tmp_path, home):
    file = ProgressFile(tmp_path / "missing")
    file.put("a", {"b": 1})
    file.put("c", {"d": 2})

    assert "cannot be written (No such file or directory)" in file.trouble
    assert f"{file.spare} is written instead" in file.trouble
    assert spares(home) == [file.spare]
    assert ProgressFile(tmp_path / "missing").read() == {"a": {"b": 1}, "c": {"d": 2}}
    assert ProgressFile(tmp_path).read() == {}


@pytest.mark.parametrize("lacks", ["a home", "room in it"])
def test_where_no_spare_can_be_written_either_its_holder_remembers(tmp_path, home, monkeypatch, lacks):
    if lacks == "a home":
        monkeypatch.setattr(Path, "home", homeless)
    else:
        (home / ".labkit-lessons").write_text("a file where the folder would be")
    folder = tmp_path / "later"
    file = ProgressFile(folder)
    file.put("a", {"n": 1})
    file.put("b", {"n": 2})

    assert file.read() == {"a": {"n": 1}, "b": {"n": 2}}
    assert "this is remembered until the lesson is opened again" in file.trouble
    assert ProgressFile(folder).read() == {}
    folder.mkdir()
    file.put("c", {"n": 3})
    assert sorted(ProgressFile(folder).read()) == ["a", "b", "c"]
    assert file.trouble == ""


def homeless() -> Path:
    raise RuntimeError("Could not determine home directory.")


def spares(home: Path) -> list[Path]:
    return sorted(home.glob(".labkit-lessons/*"))
