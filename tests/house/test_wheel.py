"""The wheel alone is enough: built, installed into an empty environment away from the sources, used."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    run(
        Path(sys.executable),
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "-w",
        str(folder),
        str(checkout),
        at=folder,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs' folder of an empty environment that holds the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "environment", with_pip=True)
    programs = folder / "environment" / "bin"
    run(programs / "python", "-m", "pip", "install", "--quiet", str(wheel), at=folder)
    return programs


def test_the_wheel_carries_what_the_package_ships(wheel: Path, checkout: Path) -> None:
    carried = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}

    wanted = {
        home + str(path.relative_to(checkout / folder))
        for folder, pattern, home in (
            ("labkit", "*.*", "labkit/"),
            ("notebooks", "*.ipynb", "labkit/_notebooks/"),
            ("scenarios", "*.lab.yaml", "labkit/_scenarios/"),
        )
        for path in (checkout / folder).rglob(pattern)
        if path.is_file() and "__pycache__" not in path.parts and ".ipynb_checkpoints" not in path.parts
    }
    assert sorted(wanted - carried) == []
    assert {name.split("/")[0] for name in carried} == {"labkit"}
    assert any(name.startswith("labkit/_notebooks/") for name in carried)
    assert any(name.startswith("labkit/_scenarios/") for name in carried)


def test_the_installed_copy_finds_them(installed: Path, checkout: Path, tmp_path: Path) -> None:
    code = "from labkit import places; print(places.notebooks(), places.scenarios(), sep='\\n')"
    notebooks, scenarios = map(Path, run(installed / "python", "-c", code, at=tmp_path).splitlines())

    assert installed.parent in notebooks.parents
    assert installed.parent in scenarios.parents
    assert files(notebooks, "*.ipynb") == files(checkout / "notebooks", "*.ipynb")
    assert files(scenarios, "*.lab.yaml") == files(checkout / "scenarios", "*.lab.yaml")


def test_the_demo_runs(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "labkit", "demo", at=tmp_path).strip()


def test_the_pages_are_shown(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "labkit", "help", "rules", "R4", at=tmp_path).startswith("R4 ")
    assert run(installed / "labkit", "help", "verbs", at=tmp_path).strip()


def test_the_lessons_hold_and_are_named(installed: Path, checkout: Path, tmp_path: Path) -> None:
    finished = run(installed / "labkit", "lessons", at=tmp_path)

    assert [lesson.stem for lesson in (checkout / "notebooks").glob("*.ipynb") if lesson.stem not in finished] == []


def test_lessons_and_scenarios_are_copied_and_a_new_file_is_run(
    installed: Path, checkout: Path, tmp_path: Path
) -> None:
    program = installed / "labkit"
    for what, pattern in (("lessons", "*.ipynb"), ("scenarios", "*.lab.yaml")):
        run(program, what, "--copy", f"my-{what}", at=tmp_path)
        folder = "notebooks" if what == "lessons" else what
        assert files(tmp_path / f"my-{what}", pattern) == files(checkout / folder, pattern)
    run(program, "check", "my-scenarios", at=tmp_path)
    run(program, "new", "scenario", "mine", at=tmp_path)
    assert "as expected" in run(program, "run", "mine.lab.yaml", at=tmp_path)


def test_the_version_is_that_of_the_wheel(installed: Path, wheel: Path, tmp_path: Path) -> None:
    assert run(installed / "labkit", "--version", at=tmp_path).startswith(f"labkit {wheel.name.split('-')[1]}, Python ")


def files(folder: Path, pattern: str) -> list[str]:
    found = (path.relative_to(folder) for path in folder.rglob(pattern))
    return sorted(str(path) for path in found if ".ipynb_checkpoints" not in path.parts)


def run(program: Path, *arguments: str, at: Path) -> str:
    """What a program prints; it must leave with 0.  Nothing of this process's Python reaches it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    finished = subprocess.run(
        [program, *arguments],
        cwd=at,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout
