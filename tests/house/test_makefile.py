"""The Makefile picks the first Python that really runs, and says one clear thing when there is none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

# A Python that passes the check, and whose `-m venv --clear FOLDER` leaves a file that tells who was chosen.
WORKS = '#!/bin/sh\n[ "$1" = -m ] || exit 0\n/bin/mkdir -p "$4/bin"\necho "$0" > "$4/bin/python"\n'
REFUSES = "#!/bin/sh\necho 'command not found; it exists in these versions' >&2\nexit 127\n"

PYENV = "home/.pyenv/versions"


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ("a/python3.11", {"a/python3.11": WORKS, "a/python3": WORKS}),
        ("a/python3.12", {"a/python3.11": REFUSES, "a/python3.12": WORKS}),
        ("b c/python3.11", {"a/python3.11": REFUSES, "b c/python3.11": WORKS, "b c/python3.13": WORKS}),
        ("a/python3", {"a/python3.12": REFUSES, "a/python3": WORKS}),
        (f"{PYENV}/3.12.1/bin/python3", {"a/python3": REFUSES, f"{PYENV}/3.12.1/bin/python3": WORKS}),
        (
            f"{PYENV}/3.13.0/bin/python3",
            {f"{PYENV}/3.10.2/bin/python3": REFUSES, f"{PYENV}/3.13.0/bin/python3": WORKS},
        ),
    ],
)
def test_the_first_that_runs_is_chosen(chosen: str, found: dict[str, str], checkout: Path, tmp_path: Path) -> None:
    finished = make(checkout, tmp_path, found)

    assert finished.returncode == 0, finished.stdout
    assert (tmp_path / "environment/bin/python").read_text().strip() == str(tmp_path / chosen)


def test_none_is_one_clear_message(checkout: Path, tmp_path: Path) -> None:
    finished = make(checkout, tmp_path, {"a/python3.11": REFUSES, "a/python3": REFUSES})

    assert finished.returncode != 0
    assert "labkit needs Python 3.11 or newer" in finished.stdout
    assert "make PYTHON=/path/to/python3" in finished.stdout
    assert "command not found" not in finished.stdout
    assert not (tmp_path / "environment").exists()


def test_a_named_python_is_taken(checkout: Path, tmp_path: Path) -> None:
    finished = make(checkout, tmp_path, {"a/python3.11": WORKS, "own/py": WORKS}, f"PYTHON={tmp_path}/own/py")

    assert finished.returncode == 0, finished.stdout
    assert (tmp_path / "environment/bin/python").read_text().strip() == f"{tmp_path}/own/py"


@pytest.mark.parametrize(
    ("target", "commands"),
    [
        ("test", ["python -m pytest -n 2 --dist worksteal"]),
        ("quick", ['python -m pytest -n 2 --dist worksteal -m "not slow"']),
        ("mutants", ["python -m tests.mutants"]),
        ("lint", ["ruff check .", "ruff format --check .", "mypy", "lint-imports"]),
        ("fix", ["ruff check --fix .", "ruff format ."]),
        ("dist", ["python -m hatchling build"]),
        ("hunt", ["python -m tests.hunt.acceptance"]),
        ("conformance", ['python -m tests.conformance.against "" ""']),
        ("bench", ["python tests/bench/side_by_side.py"]),
        ("demo", ["labkit demo"]),
        ("lessons", ["labkit lessons"]),
        ("browser", [f"python -m pytest tests/lessons/test_{name}_in_a_browser.py" for name in ("site", "exports")]),
        ("notebook", [f"python -m jupyterlab notebooks{'' if os.getuid() else ' --allow-root'}"]),
    ],
)
def test_a_command_sets_up_its_environment_first(target: str, commands: list[str], checkout: Path) -> None:
    steps = planned(checkout, target)
    run = [step.removeprefix("unused/bin/").split(" < ")[0].strip() for step in steps]

    first = run.index(commands[0])
    assert run[first:] == commands
    assert any("-m venv" in step for step in steps[:first])
    extras = {
        "demo": ".",
        "lessons": ".",
        "notebook": "'.[notebook]'",
        "browser": "'.[dev,site,notebook]'",
        "hunt": "'.[dev,dask]'",
    }
    extra = extras.get(target, "'.[dev]'")
    installs = [number for number, step in enumerate(steps[:first]) if "pip install" in step]
    assert [steps[number].split("--editable ")[1] for number in installs] == [extra]
    assert re.search(r"a minute or two|some minutes", steps[installs[0] - 1])  # said before a silent wait


def test_coverage_fails_when_one_package_is_under_its_share(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name, text in (("python", "exit 0"), ("coverage", "case $* in *labkit/sim/*) echo 94.9; exit 2;; esac")):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "dev").touch()
    finished = subprocess.run(
        [shutil.which("make") or "make", f"VENV={tmp_path}", "coverage"],
        cwd=checkout,
        env={"PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

    assert finished.returncode != 0
    assert "labkit/sim/*, lines and branches together, in percent: 94.9\n" in finished.stdout


def test_coverage_measures_every_package_and_the_modules_beside_them(checkout: Path) -> None:
    planned_text = "\n".join(planned(checkout, "coverage"))

    for package in (path.parent.name for path in (checkout / "labkit").glob("*/__init__.py")):
        assert f" tests/{package}" in planned_text
        assert f"'{package}/*'" in planned_text
    assert " tests/test_*.py" in planned_text
    assert "in '*.py' " in planned_text


@pytest.mark.parametrize(("user", "wanted"), [(0, "notebooks --allow-root"), (1000, "notebooks")])
def test_jupyterlab_starts_for_root_too(user: int, wanted: str, checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "id").write_text(f"#!/bin/sh\necho {user}\n")
    (tmp_path / "id").chmod(0o755)

    assert planned(checkout, "notebook", tmp_path)[-1].strip() == f"unused/bin/python -m jupyterlab {wanted}"


def test_the_header_names_every_command(checkout: Path) -> None:
    text = (checkout / "Makefile").read_text()
    named = re.findall(r"^#   make ([\w-]+)", text, re.MULTILINE)
    (declared,) = re.findall(r"^\.PHONY: (.*)", text, re.MULTILINE)

    assert named == declared.split()


def planned(checkout: Path, target: str, first: Path | None = None) -> list[str]:
    """The commands that a target would run on a machine where nothing is set up; programs of a folder come first."""
    path = os.environ["PATH"] if first is None else f"{first}:{os.environ['PATH']}"
    plan = subprocess.run(
        [shutil.which("make") or "make", "--dry-run", "VENV=unused", target],
        cwd=checkout,
        env={"PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert plan.returncode == 0, plan.stderr
    return plan.stdout.splitlines()


def make(checkout: Path, folder: Path, found: dict[str, str], *settings: str) -> subprocess.CompletedProcess[str]:
    """Make the environment on a machine that has the given files as its Pythons and nothing else on PATH."""
    for name, text in found.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(0o755)
    path = ":".join(str(folder / name) for name in ("a", "b c"))
    environment = folder / "environment"
    return subprocess.run(
        [shutil.which("make") or "make", f"VENV={environment}", *settings, f"{environment}/bin/python"],
        cwd=checkout,
        env={"PATH": path, "HOME": str(folder / "home")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
