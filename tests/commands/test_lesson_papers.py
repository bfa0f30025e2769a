"""Options of `labkit lessons`: a reset keeps what was there, solutions are apart, sheets and reviews are printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit import places
from labkit.cli import main
from labkit.lessons import lesson
from labkit.lessons.catalogue import LESSONS
from labkit.lessons.progress_file import ProgressFile

FILE = "06_two_primaries.ipynb"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a reader's own, with copies of the lessons."""
    monkeypatch.chdir(tmp_path)
    assert main(["lessons", "--copy", "mine"]) == 0
    monkeypatch.chdir(tmp_path / "mine")
    return tmp_path / "mine"


def delivered() -> bytes:
    return (places.notebooks() / FILE).read_bytes()


def test_a_reset_keeps_the_old_copies(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (mine / FILE).write_text("{}")
    lesson("06").predict("two", 1)
    lesson("01").predict("cas", 1)
    assert main(["lessons", "--reset", "06"]) == 0

    assert f"what you had is {FILE.replace('.ipynb', '.old-1.ipynb')}" in capsys.readouterr().out
    assert (mine / FILE).read_bytes() == delivered()
    assert (mine / FILE.replace(".ipynb", ".old-1.ipynb")).read_text() == "{}"
    assert list(json.loads((mine / ".labkit-lessons.json").read_text())) == ["01/predict/cas"]
    assert "06/predict/two" in (mine / ".labkit-lessons.old-1.json").read_text()
    (mine / FILE).write_text("[]")
    assert main(["lessons", "--reset", "06"]) == 0
    assert (mine / FILE.replace(".ipynb", ".old-2.ipynb")).read_text() == "[]"


def test_a_reset_takes_what_was_kept_elsewhere_too(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    spare = ProgressFile(".").spare
    assert spare is not None
    spare.parent.mkdir()
    spare.write_text('{"01/predict/cas": {}, "06/predict/two": {}}')
    assert main(["lessons", "--reset", "06"]) == 0

    assert "06/predict/two" in (mine / ".labkit-lessons.old-1.json").read_text()
    assert list(json.loads((mine / ".labkit-lessons.json").read_text())) == ["01/predict/cas"]
    assert not spare.exists()


def test_a_lesson_that_is_as_delivered_stays(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path.name for path in mine.iterdir())

    assert main(["lessons", "--reset", "06"]) == 0
    assert "is as it was delivered, and nothing was done in it" in capsys.readouterr().out
    assert sorted(path.name for path in mine.iterdir()) == before


@pytest.mark.parametrize(("number", "says"), [("66", "expected the number of a lesson"), ("6", "number of a lesson")])
def test_a_reset_of_no_lesson_is_refused(
    number: str, says: str, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lessons", "--reset", number]) == 2
    assert says in capsys.readouterr().err


def test_the_lessons_themselves_and_an_empty_folder_are_not_reset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["lessons", "--reset", "06"]) == 2
    assert "got none" in capsys.readouterr().err
    monkeypatch.chdir(places.notebooks())
    assert main(["lessons", "--reset", "06"]) == 2
    assert "got the lessons themselves" in capsys.readouterr().err


def test_solutions_are_written_apart(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons", "--solutions", "../right"]) == 0
    assert f"wrote solutions of {len(LESSONS)} lessons" in capsys.readouterr().out
    written = sorted(path.name for path in (mine.parent / "right").iterdir())
    assert len(written) == len(LESSONS)
    assert all(name.endswith("_solutions.ipynb") for name in written)
    assert main(["lessons", "--solutions", "."]) == 2
    assert "expected a folder without lessons" in capsys.readouterr().err
    assert main(["lessons", "--solutions", "a/b"]) == 2
    assert "make it first" in capsys.readouterr().err
    assert main(["lessons", "--solutions", FILE]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_sheets_of_every_lesson_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons", "--print"]) == 0
    printed = capsys.readouterr().out

    assert printed.count("\f") == 2 * len(LESSONS) - 1
    assert "06  Two primaries: who stops the old one?" in printed


def test_a_review_shows_what_is_due_here(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons", "--review"]) == 0
    assert "no lesson was begun" in capsys.readouterr().out
    lesson("06").recall(1, "in both")
    assert main(["lessons", "--review"]) == 0
    assert "Missed last time:" in capsys.readouterr().out
    Path(".labkit-lessons.json").write_text("{")
    assert main(["lessons", "--review"]) == 0
    assert "could not be read" in capsys.readouterr().out


def test_two_options_at_once_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["lessons", "--print", "--review"])
    assert end.value.code == 2
    assert "not allowed with" in capsys.readouterr().err


def test_the_trainers_page_has_courses_and_lessons(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "teaching"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("# Teaching")
    assert "## Half a day" in page
    assert "## 06 Two primaries: who stops the old one?" in page
    assert main(["help", "teaching", "06"]) == 0
    assert capsys.readouterr().out.startswith("## 06 Two primaries")
    assert main(["help", "teaching", "an exercise"]) == 0
    assert "A check judges the state" in capsys.readouterr().out
    assert main(["help", "teaching", "66"]) == 2
    assert "expected the number of a lesson" in capsys.readouterr().err
