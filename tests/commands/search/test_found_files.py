"""Found files: none replaces another, and one that cannot be written keeps no other from it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from labkit.commands.search import found_files
from labkit.commands.search.found_files import write_files
from labkit.hunt.shrinking.handing_over import FoundFile

NAME, LAB = "x.lab.yaml", "x.lab"
ONE, OTHER = FoundFile(NAME, "one\n", 1, 9), FoundFile(NAME, "other\n", 2, 9)


@pytest.fixture(autouse=True)
def _labs_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def save_beside(name: str, text: str, folder: str) -> str:
        saved = name.removesuffix(".yaml")
        Path(folder, saved).write_text(text)
        return saved

    monkeypatch.setattr(found_files, "save_beside", save_beside)


def test_a_file_of_another_campaign_stays_and_the_same_again_is_one(tmp_path: Path) -> None:
    folder = tmp_path / "found"
    written = [write_files([file, None], str(folder)) for file in (ONE, OTHER, ONE, OTHER)]

    assert [[file and file.name for file in one.files] for one in written] == [
        [NAME, None],
        ["x-2.lab.yaml", None],
        [NAME, None],
        ["x-2.lab.yaml", None],
    ]
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        NAME: "one\n",
        LAB: "one\n",
        "x-2.lab.yaml": "other\n",
        "x-2.lab": "other\n",
    }
    assert [one.problems for one in written] == [()] * 4


def test_what_a_link_leads_to_and_a_lab_of_that_name_stay(tmp_path: Path) -> None:
    mine, folder = tmp_path / "mine", tmp_path / "found"
    folder.mkdir()
    mine.write_text("mine\n")
    (folder / NAME).symlink_to(mine)
    (folder / "x-2.lab.yaml").symlink_to(tmp_path / "none")
    (folder / "x-3.lab").write_text("mine\n")
    (one,) = write_files([ONE], str(folder)).files

    assert one is not None
    assert one.name == "x-4.lab.yaml"
    assert (mine.read_text(), (folder / "x-3.lab").read_text()) == ("mine\n", "mine\n")
    assert not (tmp_path / "none").exists()


def test_where_one_cannot_be_written_the_others_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = os.replace

    def full(source: str, target: str) -> None:
        if target.endswith(NAME):
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    written = write_files([ONE, OTHER._replace(name="y.lab.yaml")], str(tmp_path))

    assert [file and file.line("found/") for file in written.files] == [
        "no file: it cannot be written: No space left on device",
        "found/y.lab.yaml, 2 steps",
    ]
    assert written.problems == (f"{tmp_path / NAME}: cannot be written: No space left on device",)
    assert (written.saved, sorted(os.listdir(tmp_path))) == (("y.lab",), ["y.lab", "y.lab.yaml"])


def test_a_lab_that_cannot_be_saved_is_said_and_its_file_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save_beside(*_: str) -> str:
        raise ValueError("too large")

    monkeypatch.setattr(found_files, "save_beside", save_beside)
    written = write_files([ONE], str(tmp_path))

    assert (written.files, written.saved) == ((ONE,), ())
    assert written.problems == (f"{tmp_path / LAB}: cannot be written: too large",)
