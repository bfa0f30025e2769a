"""Files are copied to where nothing is overwritten; what cannot be copied leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.commands.copies import CannotCopy, copy_files, report_copies


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with two files, one of them in a folder."""
    (tmp_path / "source" / "deep").mkdir(parents=True)
    (tmp_path / "source" / "one").write_text("1")
    (tmp_path / "source" / "deep" / "two").write_text("2")
    return tmp_path / "source"


def files(source: Path) -> list[Path]:
    return sorted(path for path in source.rglob("*") if path.is_file())


def test_files_keep_their_places(source: Path, tmp_path: Path) -> None:
    assert copy_files(source, files(source), tmp_path / "mine") == tuple(files(source))
    assert (tmp_path / "mine" / "deep" / "two").read_text() == "2"


def test_a_folder_of_folders_is_copied_too(source: Path, tmp_path: Path) -> None:
    (source / "deep" / "deeper" / "deepest").mkdir(parents=True)
    (source / "deep" / "deeper" / "deepest" / "three").write_text("3")
    copy_files(source, files(source), tmp_path / "mine")

    assert (tmp_path / "mine" / "deep" / "deeper" / "deepest" / "three").read_text() == "3"


def test_the_folder_is_made_also_where_there_is_nothing_to_copy(source: Path, tmp_path: Path) -> None:
    assert copy_files(source, [], tmp_path / "mine") == ()
    assert (tmp_path / "mine").is_dir()


def test_a_second_copy_writes_only_what_is_missing(source: Path, tmp_path: Path) -> None:
    copy_files(source, files(source), tmp_path)
    (tmp_path / "deep" / "two").unlink()

    assert copy_files(source, files(source), tmp_path) == (source / "deep" / "two",)


def test_another_file_is_not_overwritten_and_nothing_is_written(source: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "one").write_text("changed")

    with pytest.raises(CannotCopy, match="one: exists already and is another; move it away"):
        copy_files(source, files(source), tmp_path / "mine")
    assert (tmp_path / "mine" / "one").read_text() == "changed"
    assert not (tmp_path / "mine" / "deep").exists()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("no/such", "expected a folder .*/no, got none"),
        ("file", "cannot be written: "),
        ("a\0b", "cannot be written: "),
    ],
)
def test_a_folder_that_cannot_be_used_is_named(target: str, words: str, source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(CannotCopy, match=words):
        copy_files(source, files(source), tmp_path / target)


def test_a_link_is_not_written_through(source: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "one").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(CannotCopy):
        copy_files(source, files(source), tmp_path / "mine")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("written", "count", "text"),
    [
        (2, 2, "copied 2 drills to mine"),
        (1, 2, "copied 1 drill to mine; 1 was there already"),
        (0, 2, "copied 0 drills to mine; 2 were there already"),
    ],
)
def test_what_was_done_is_said(written: int, count: int, text: str) -> None:
    assert report_copies((Path(),) * written, count, "drill", "mine") == text
