"""The linter, the formatter and the type checker have nothing to say."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reference import snippets

# Readers annotate no functions of their own.  What they call is judged strictly, and what these functions hold.
AS_A_READER = "# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls\n"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("arguments", [("check", "--quiet"), ("format", "--check", "--quiet")])
def test_ruff_is_content(run: Run, arguments: tuple[str, ...]) -> None:
    finished = run("ruff", *arguments, ".")

    assert finished.returncode == 0, finished.stdout


def test_mypy_is_content_with_what_readers_are_shown_too(
    run: Run, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = write_shown(checkout, tmp_path)
    monkeypatch.setenv("MYPYPATH", str(tmp_path))  # where their names begin
    finished = run("mypy", "labkit", "tests", *map(str, shown))

    assert len(shown) >= 10
    assert finished.returncode == 0, finished.stdout


@pytest.mark.slow
def test_a_wrong_line_of_a_reader_is_seen(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "def shop(lab):\n    return lab\n\nshop(Lab.pair(seed=7))\nLab.pair(sead=7)\nVault.dev().get(5)\n"
    (tmp_path / "shown_wrong.py").write_text(f"{AS_A_READER}from labkit import Lab, Vault\n{line}")
    monkeypatch.setenv("MYPYPATH", str(tmp_path))

    finished = run("mypy", str(tmp_path / "shown_wrong.py"))

    assert finished.returncode == 1
    assert [
        line.split(": error: ")[1].split("  [")[1] for line in finished.stdout.splitlines() if ": error: " in line
    ] == [
        "call-arg]",
        "arg-type]",
    ]


def write_shown(checkout: Path, folder: Path) -> list[Path]:
    """Write the Python of the README, a test of its own each, and of each notebook to files; return these."""
    readme = snippets.python((checkout / "README.md").read_text(encoding="utf-8"))
    code = {"readme": "\n".join(text for text in readme if "def test_" not in text)}
    code |= {f"readme_test_{number}": text for number, text in enumerate(readme) if "def test_" in text}
    for path in sorted((checkout / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code[path.stem] = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    written = [folder / f"shown_{name}.py" for name in code]
    for path, text in zip(written, code.values(), strict=True):
        path.write_text(f"{AS_A_READER}{text}\n", encoding="utf-8")
    return written


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
