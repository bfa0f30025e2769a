"""Lessons are listed by title, with a command that opens them, and copied."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from labkit import places
from labkit.cli import main


@pytest.fixture
def four(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of four notebooks, one of them torn, that labkit takes for its lessons."""
    folder = tmp_path / "shipped"
    folder.mkdir()

    def notebook(name: str, *cells: tuple[str, str]) -> None:
        content = [{"cell_type": kind, "source": text.splitlines(keepends=True)} for kind, text in cells]
        (folder / f"{name}.ipynb").write_text(json.dumps({"cells": content}), encoding="utf-8")

    notebook("00_tour", ("code", "1"), ("markdown", "# The tour\n\nAll in one go.\nMore."))
    notebook("01_bare", ("code", "1"))
    notebook("03_late", ("markdown", "\n  Words first.\n\n## Then a title"))
    (folder / "02_torn.ipynb").write_text("{", encoding="utf-8")
    monkeypatch.setattr(places, "notebooks", lambda: folder)
    monkeypatch.chdir(tmp_path)
    return folder


def test_lessons_are_listed_by_title(four: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons"]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert lines[:7] == [
        *("00_tour  The tour", "    All in one go."),
        *("01_bare", "02_torn"),
        *("03_late  Then a title", "    Words first."),
        "",
    ]
    assert lines[-1].startswith("to have copies of your own: ")
    assert lines[-1].endswith(" lessons --copy FOLDER")


def test_what_a_first_line_announces_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons"]) == 0
    output = capsys.readouterr().out

    assert "You will be able to:" not in output
    assert "    - save a secret, read it, and encrypt without seeing a key\n" in output
    assert output.count("\n    - ") == 30, "three of each lesson"


@pytest.mark.parametrize("there", [True, False])
def test_the_command_that_opens_them_fits_this_python(
    there: bool, four: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if there else None)
    main(["lessons"])
    output = capsys.readouterr().out

    assert f"{sys.executable} -m jupyterlab {four}/00_tour.ipynb" in output
    assert (f"{sys.executable} -m pip install jupyterlab" in output) == (not there)


def test_lessons_are_copied(four: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons", "--copy", "mine"]) == 0
    output = capsys.readouterr().out

    assert "copied 4 lessons to mine" in output
    assert "-m jupyterlab mine/00_tour.ipynb" in output
    assert sorted(path.name for path in Path("mine").iterdir()) == sorted(path.name for path in four.iterdir())


def test_what_is_another_file_is_not_overwritten(four: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    Path("mine/01_bare.ipynb").touch()

    assert main(["lessons", "--copy", "mine"]) == 2
    assert capsys.readouterr().err.startswith("mine/01_bare.ipynb: exists already")


def test_a_copy_without_lessons_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing() -> Path:
        raise FileNotFoundError("no folder of them")

    monkeypatch.setattr(places, "notebooks", missing)

    assert main(["lessons"]) == 2
    assert capsys.readouterr().err == "no folder of them\n"


def test_listing_is_light(checkout: Path) -> None:
    code = "import sys; from labkit.cli import main; main(['lessons']); print(*sys.modules, file=sys.stderr)"
    output = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=True)

    assert {"simpy", "pydantic", "yaml", "networkx", "tqdm", "pandas"} & set(output.stderr.split()) == set()
