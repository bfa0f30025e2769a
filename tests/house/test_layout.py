"""Where things live: the agreed top level, packages named for their subject, a test in the mirrored path."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.house.trees import tree

# Entries that begin with a dot belong to tools and are not counted.
TOP_LEVEL = {
    "pyproject.toml",
    "README.md",
    "Makefile",
    "LICENSE",
    "labkit",
    "notebooks",
    "scenarios",
    "tests",
}

MAX_MODULES = 26
"""In one folder, ``__init__`` not counted."""

# Names that say nothing of what is inside.
EMPTY_NAMES = {"util", "utils", "helper", "helpers", "common", "base"}


def test_the_top_level_holds_the_agreed_entries_alone(top_level: list[str]) -> None:
    strangers = sorted({name for name in top_level if not name.startswith(".")} - TOP_LEVEL)

    assert strangers == [], "\n".join(strangers)


def test_no_file_or_folder_has_an_empty_name(project_files: list[Path], checkout: Path) -> None:
    named = [path.relative_to(checkout) for path in project_files]
    empty = [str(path) for path in named if EMPTY_NAMES & {part.split(".")[0] for part in path.parts}]

    assert empty == [], "\n".join(empty)


def test_no_folder_has_too_many_modules(modules: list[Path], checkout: Path) -> None:
    found = crowded([path.relative_to(checkout) for path in modules])

    assert found == {}, "cut the folder by subject, into rooms"


def test_a_crowded_folder_is_found() -> None:
    modules = [Path(f"a/m{number}.py") for number in range(MAX_MODULES)] + [Path("a/__init__.py"), Path("a/b/m.py")]

    assert crowded(modules) == {}
    assert crowded([*modules, Path("a/more.py")]) == {"a": MAX_MODULES + 1}


def test_every_module_says_what_it_is_for(python_files: list[Path], checkout: Path) -> None:
    silent = [path for path in python_files if not has_docstring(path.read_text())]

    assert silent == [], "\n".join(str(path.relative_to(checkout)) for path in silent)


def test_every_folder_of_modules_is_a_package(modules: list[Path]) -> None:
    bare = sorted({path.parent for path in modules if not (path.parent / "__init__.py").is_file()})

    assert bare == [], "\n".join(map(str, bare))


@pytest.mark.slow
def test_every_module_has_its_test_in_the_mirrored_path(modules: list[Path], checkout: Path) -> None:
    with_code = [path.relative_to(checkout / "labkit") for path in modules if has_code(path.read_text())]
    missing = [str(mirrored(path)) for path in with_code if not (checkout / "tests" / mirrored(path)).is_file()]

    assert missing == [], "\n".join(missing)


def test_a_package_is_mirrored_by_the_test_of_its_name() -> None:
    assert mirrored(Path("real.py")) == Path("test_real.py")
    assert mirrored(Path("vault/storage/memory.py")) == Path("vault/storage/test_memory.py")
    assert mirrored(Path("vault/storage/__init__.py")) == Path("vault/test_storage.py")
    assert mirrored(Path("__init__.py")) == Path("test_labkit.py")


def test_only_a_file_that_is_all_docstring_needs_no_test() -> None:
    assert not has_code('"""What a server is."""\n\nfrom __future__ import annotations\n')
    assert has_code('"""What a server is."""\n\nLIMIT = 3\n')
    assert has_code('"""What a server is."""\n\nfrom labkit.service.message import Request\n')


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('"""What a server is."""\n', True),
        ('"""What a "server" is."""\n', True),
        ("# By whom.\n'What a server is.'\n", True),
        ('""""""\n', False),
        ('"""What a server is.""".strip()\n', False),
        ('LIMIT = 3\n"""What a server is."""\n', False),
    ],
)
def test_a_docstring_stands_first(source: str, said: bool) -> None:
    assert has_docstring(source) == said


def crowded(modules: list[Path]) -> dict[str, int]:
    """The folders with too many modules, and how many they have."""
    counted = Counter(str(path.parent) for path in modules if path.name != "__init__.py")
    return {folder: number for folder, number in counted.items() if number > MAX_MODULES}


def has_docstring(source: str) -> bool:
    """Whether a module says what it is for; parsed only where its first lines do not show it."""
    return bool(re.match(r'"""\w[^"\\]*"""\n', source) or ast.get_docstring(tree(source)))


def mirrored(path: Path) -> Path:
    """Where the test of a module lies, both relative: the module's to labkit/, the test's to tests/."""
    if path.name != "__init__.py":
        return path.parent / f"test_{path.name}"
    package = path.parent.name or "labkit"
    return path.parent.parent / f"test_{package}.py"


def has_code(source: str) -> bool:
    """Whether a module holds more than its docstring and the future import."""
    for statement in tree(source).body:
        text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not text and not future:
            return True
    return False
