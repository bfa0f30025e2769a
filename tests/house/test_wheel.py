"""Wheel and source distribution are enough: built, installed into an empty environment away from the sources, used."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests import environment

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what `make dist` builds from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    run(Path(sys.executable), "-m", "hatchling", "build", "--directory", str(folder), at=checkout)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel."""
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def source(built: Path) -> Path:
    """The source distribution."""
    (found,) = built.glob("*.tar.gz")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs' folder of an empty environment that holds the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "environment")
    programs = folder / "environment" / "bin"
    install(programs, str(wheel), at=folder)
    return programs


def test_the_wheel_carries_what_the_package_ships(wheel: Path, checkout: Path) -> None:
    carried = carried_by(wheel)

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
    templates = f"labkit_secrets-{wheel.name.split('-')[1]}.data/data/share/jupyter/nbconvert/templates/labkit/"
    template = {path.name for path in (checkout / "labkit" / "lessons" / "export_template").iterdir()}
    assert sorted(wanted - carried) == []
    assert {name for name in carried if not name.startswith("labkit/")} == {f"{templates}{name}" for name in template}
    assert any(name.startswith("labkit/_notebooks/") for name in carried)
    assert any(name.startswith("labkit/_scenarios/") for name in carried)


def test_the_source_distribution_holds_the_project(source: Path, checkout: Path) -> None:
    with tarfile.open(source) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}

    wanted = {"README.md", "LICENSE", "Makefile", "pyproject.toml", ".github/CHANGELOG.md", "tests/house/test_wheel.py"}
    assert sorted(wanted - held) == []
    assert sorted(shipped(checkout) - held) == []


@pytest.mark.parametrize("form", ["wheel", "source"])
def test_either_is_installed_without_a_network_and_shows_its_pages(
    form: str, wheel: Path, source: Path, checkout: Path, tmp_path: Path
) -> None:
    """Dependencies are those of this environment, by a path; the package is the one that was built."""
    package = wheel
    if form == "source":
        options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation")
        run(Path(sys.executable), "-m", "pip", "wheel", *options, "-w", str(tmp_path), str(source), at=tmp_path)
        (package,) = tmp_path.glob("*.whl")
        assert carried_by(package) == carried_by(wheel)
    programs = empty_environment(tmp_path / "environment")
    install(programs, "--no-deps", "--no-index", str(package), at=tmp_path)

    version = wheel.name.split("-")[1]
    where = run(programs / "python", "-c", "import labkit; print(labkit.__file__, labkit.__version__)", at=tmp_path)
    assert where == f"{package_folder(programs) / 'labkit' / '__init__.py'} {version}\n"
    assert run(programs / "labkit", "--version", at=tmp_path).startswith(f"labkit {version}, Python ")
    assert run(programs / "labkit", "help", "words", at=tmp_path).startswith("# Words\n")


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


def carried_by(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def shipped(checkout: Path) -> set[str]:
    """What git tracks or, without it, the modules."""
    listed = subprocess.run(["git", "ls-files"], cwd=checkout, capture_output=True, text=True, check=False)
    modules = {str(path.relative_to(checkout)) for path in (checkout / "labkit").rglob("*.py")}
    return {name for name in listed.stdout.splitlines() if (checkout / name).is_file()} or modules


def empty_environment(folder: Path) -> Path:
    """The programs' folder of a new environment, which finds this one's libraries by a path."""
    venv.create(folder)
    programs = folder / "bin"
    (package_folder(programs) / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs


def install(programs: Path, *what: str, at: Path) -> None:
    """Install into an environment by the pip of this one; what is used there is compiled then, not everything."""
    python = str(programs / "python")
    run(Path(sys.executable), "-m", "pip", "--python", python, "install", "--quiet", "--no-compile", *what, at=at)


def package_folder(programs: Path) -> Path:
    (found,) = programs.parent.glob("lib/python3*/site-packages")
    return found


def files(folder: Path, pattern: str) -> list[str]:
    found = (path.relative_to(folder) for path in folder.rglob(pattern))
    return sorted(str(path) for path in found if ".ipynb_checkpoints" not in path.parts)


def run(program: Path, *arguments: str, at: Path) -> str:
    """What a program prints; it must leave with 0.  Nothing of this process's Python reaches it.

    Where pip finds packages is a setting of the user's.
    """
    given = environment.users() if "pip" in arguments else os.environ
    variables = {name: value for name, value in given.items() if not name.startswith("PYTHON")}
    finished = subprocess.run(
        [program, *arguments],
        cwd=at,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout
