"""Solutions: notebooks made of the ways of each exercise; they run as they stand, and are never among the lessons."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from labkit.lessons.plan import Act, Exercise, LessonPlan

PLAIN = (str, int, float, tuple)
HEAD = "Every way is right as it stands: each begins in a start of its own. Another answer may be right too."


def file_name(lesson: LessonPlan) -> str:
    """Return the name of a lesson's solutions."""
    return lesson.file.replace(".ipynb", "_solutions.ipynb")


def notebook(lesson: LessonPlan) -> str:
    """Return the solutions of a lesson as a notebook."""
    cells = [
        _cell("markdown", f"# Solutions: {lesson.title}\n\n{HEAD}"),
        _cell("code", f"from labkit.lessons import lesson\n\nhere = lesson({lesson.number!r})"),
    ]
    for exercise in lesson.exercises:
        cells.append(_cell("markdown", f"## {exercise.title}\n\nWanted: {exercise.goal}"))
        for name, way in exercise.ways.items():
            cells.append(_cell("markdown", f"### {name[0].upper()}{name[1:]}\n\n{inspect.getdoc(way)}"))
            cells += [_cell("code", text) for text in _cells_of(exercise, way)]
    for number, cell in enumerate(cells):
        cell["id"] = f"solutions-{lesson.number}-{number:02d}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def source_of(way: Act) -> str:
    """Return the source of a way, after all that it needs."""
    needed = [text for _, text in sorted(_needed(way, {way.__name__}), key=lambda row: row[0])]
    return "\n\n\n".join(["from __future__ import annotations", *needed, inspect.getsource(way).rstrip()])


def _cells_of(exercise: Exercise, way: Act) -> Iterator[str]:
    name = way.__name__
    yield source_of(way)
    if exercise.start is None:
        begun = f"here.start({exercise.name!r})" if exercise.begins_with else ""
        handed = f"{name}({begun})" if exercise.is_made else name
        yield f"here.check({exercise.name!r}, {handed})"
        return
    handed = "world"
    begun = f"world = here.start({exercise.name!r})\n"
    if len(exercise.takes) > 1:
        handed, begun = "*handed", f"{begun}handed = {name}(world)\n"
    else:
        begun += f"{name}(world)\n"
    yield f"{begun}here.check({exercise.name!r}, {handed})"


def _needed(function: Act, known: set[str]) -> Iterator[tuple[int, str]]:
    """Give what a function takes from its module: imports first, then constants, then functions, deepest first."""
    for name in function.__code__.co_names:
        value: Any = function.__globals__.get(name)
        if value is None or name in known or isinstance(value, ModuleType):
            continue
        known.add(name)
        if isinstance(value, FunctionType) and value.__module__.startswith("labkit.lessons."):
            yield from _needed(value, known)
            yield 2, inspect.getsource(value).rstrip()
        elif isinstance(value, PLAIN):
            yield 1, f"{name} = {value!r}"
        else:
            yield 0, f"from {value.__module__} import {value.__name__}"


def _cell(kind: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
    return found if kind == "markdown" else {**found, "execution_count": None, "outputs": []}
