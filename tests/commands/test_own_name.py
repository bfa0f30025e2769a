"""A text proposes commands by the name under which the reader can call them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from labkit.commands.own_name import own_name


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs with labkit and python in it."""
    folder = tmp_path / "some bin"
    folder.mkdir()
    for name in ("labkit", "python"):
        (folder / name).touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", "/nowhere")
    return folder


def test_a_program_on_the_path_is_called_by_its_name(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(programs))
    for program in (str(programs / "labkit"), "/x/labkit/__main__.py"):
        monkeypatch.setattr(sys, "argv", [program])
        assert own_name() == "labkit"


def test_another_program_by_its_path(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(programs / "labkit")])

    assert own_name() == f"'{programs}/labkit'"


def test_a_module_by_its_interpreter(programs: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["/x/labkit/__main__.py"])
    assert own_name() == f"'{programs}/python' -m labkit"

    other = tmp_path / "other"
    other.mkdir()
    (other / "labkit").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(other))
    assert own_name() == f"'{programs}/python' -m labkit"
