"""What the tests of the house style look at: the package's modules and every file of the project."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.house.trees import forget

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True, scope="package")
def trees() -> Iterator[None]:
    """What was parsed for one test is there for the next, and for no test elsewhere."""
    yield
    forget()


@pytest.fixture(scope="session")
def modules(checkout: Path) -> list[Path]:
    """Every Python file of the package."""
    return sorted((checkout / "labkit").rglob("*.py"))


@pytest.fixture(scope="session")
def python_files(modules: list[Path], checkout: Path) -> list[Path]:
    """Every Python file of the package and of the tests."""
    return [*modules, *sorted((checkout / "tests").rglob("*.py"))]


@pytest.fixture(scope="session")
def top_level(checkout: Path) -> list[str]:
    """The entries of the checkout that belong to the project: what git tracks or, without it, would track."""
    listed = subprocess.run(["git", "ls-files"], cwd=checkout, capture_output=True, text=True, check=False)
    tracked = {line.split("/")[0] for line in listed.stdout.splitlines()}
    if listed.returncode == 0 and tracked:
        return sorted(tracked)
    ignored = ignored_patterns(checkout)
    names = (entry.name for entry in checkout.iterdir() if entry.name != ".git")
    return sorted(name for name in names if not any(fnmatch(name, pattern) for pattern in ignored))


@pytest.fixture(scope="session")
def project_files(checkout: Path, top_level: list[str]) -> list[Path]:
    """Every file of the project, new ones that git does not know yet included."""
    ignored = ignored_patterns(checkout)

    def kept(path: Path) -> bool:
        parts = path.relative_to(checkout).parts
        return not any(fnmatch(part, pattern) for part in parts for pattern in ignored)

    found: list[Path] = []
    for name in top_level:
        entry = checkout / name
        found += sorted(entry.rglob("*")) if entry.is_dir() else [entry]
    return [path for path in found if path.is_file() and kept(path)]


def ignored_patterns(checkout: Path) -> list[str]:
    lines = (checkout / ".gitignore").read_text().splitlines()
    return [line.strip().rstrip("/") for line in lines if line.strip() and not line.startswith("#")]


@pytest.fixture
def run(checkout: Path) -> Run:
    """Run a module of this interpreter in the checkout, with no standard input: `run("ruff", "check")`."""

    def start(*arguments: str, folder: Path = checkout) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    return start
