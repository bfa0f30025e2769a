"""The linter, the formatter and the type checker have nothing to say."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("arguments", [("check", "--quiet"), ("format", "--check", "--quiet")])
def test_ruff_is_content(run: Run, arguments: tuple[str, ...]) -> None:
    finished = run("ruff", *arguments, ".")

    assert finished.returncode == 0, finished.stdout


def test_mypy_is_content(run: Run) -> None:
    finished = run("mypy")

    assert finished.returncode == 0, finished.stdout


@pytest.mark.slow
def test_mypy_looks_into_tests_that_have_no_annotations(run: Run, checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_wrong.py").write_text("def test_wrong():\n    len(5)\n")

    finished = run("mypy", f"--config-file={checkout / 'pyproject.toml'}", "tests", folder=tmp_path)

    assert "tests/test_wrong.py:2: error:" in finished.stdout
    assert finished.returncode == 1


def test_every_ignored_rule_of_a_folder_says_why(checkout: Path) -> None:
    text = (checkout / "pyproject.toml").read_text()
    section = text.split("[tool.ruff.lint.per-file-ignores]")[1].split("\n[")[0]
    codes = [line for line in section.splitlines() if line.startswith("  ")]

    assert codes
    assert [line for line in codes if "#" not in line] == []
