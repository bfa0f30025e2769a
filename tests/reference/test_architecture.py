"""The page about the architecture: the walk that it draws is that of the code, and it has a row for each folder."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from labkit import Vault
from labkit.reference import entries

# Calls of the walk's modules that are branches and endings, no steps.
BRANCHES = {"fetches", "fetches_now", "refuse", "step_down"}

STEP = re.compile(r"(?m)^ ([a-z_]+) {2,}(.*)$")
FILE = re.compile(r"(vault/[\w/]+\.py)")


def test_the_steps_that_are_drawn_are_the_calls_in_their_order() -> None:
    drawn = [name for name, _ in STEP.findall(entries("architecture")["The walk of a request"])]

    assert drawn == [name for name, _ in steps()]


def test_a_step_is_a_function_of_the_file_that_is_named() -> None:
    files, drawn = dict(steps()), STEP.findall(entries("architecture")["The walk of a request"])
    usual = FILE.findall(drawn[0][1])[0]  # where a step stands that names no file
    wrong = []
    for name, about in drawn:
        file = (FILE.findall(about) or [usual])[0]
        if not files[name].endswith(f"/labkit/{file}"):
            wrong.append(f"{name} stands in {files[name]}, not in {file}")

    assert wrong == []


def test_every_folder_has_a_row(checkout: Path) -> None:
    package = checkout / "labkit"
    rows = set(re.findall(r"(?m)^\| `([\w/]+)/` \|", entries("architecture")["Rooms"]))
    folders = {str(path.parent.relative_to(package)) for path in package.rglob("*.py")} - {".", "commands", "reference"}
    folders = {name for name in folders if not name.startswith(("commands/", "lessons/"))}  # one per kind or lesson
    explained = {
        "vault/engines",
        *[f"vault/auth/{name}" for name in ("approle", "cloud", "identity", "token", "userpass")],
    }

    assert sorted(folders - rows - explained) == []
    assert [row for row in sorted(rows) if "/" in row and not (package / row).is_dir()] == []


def steps() -> list[tuple[str, str]]:
    """Each step of the walk, and the file that it stands in, in the order in which ``Vault.handle`` calls them."""
    handle = inspect.unwrap(Vault.handle)
    found = [step for step in called(handle, handle.__globals__) if step[0] not in BRANCHES]
    return list(dict.fromkeys(found))


def called(function: Callable[..., Any], names: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The functions that a method calls in modules or of its core; those of its own methods in their place."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        target = call.func
        if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
            continue
        owner = names.get(target.value.id)
        if isinstance(owner, ModuleType):
            assert callable(getattr(owner, target.attr))
            yield target.attr, str(owner.__file__)
        elif target.value.id == "self" and target.attr == "_is_judged":
            yield from called(inspect.unwrap(Vault._is_judged), names)
        elif target.value.id == "core" and target.attr == "commit":
            yield target.attr, inspect.getfile(type(Vault.dev().core))
