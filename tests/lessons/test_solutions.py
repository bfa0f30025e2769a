"""Solutions are made of the ways; each runs in its notebook, and its check says right."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest

from labkit.lessons import solutions
from labkit.lessons.catalogue import LESSONS, plan
from tests.notebooks.test_notebooks import run


def cells_of(number: str) -> list[str]:
    cells = json.loads(solutions.notebook(plan(number)))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("number", LESSONS)
def test_a_way_has_a_name_and_says_what_it_does(number):
    for exercise in plan(number).exercises:
        for way in exercise.ways.values():
            assert way.__name__ != "<lambda>"
            assert way.__doc__


@pytest.mark.parametrize("number", LESSONS)
def test_they_are_a_notebook_of_another_name(number):
    nbformat.validate(nbformat.reads(solutions.notebook(plan(number)), as_version=4))

    assert solutions.file_name(plan(number)) != plan(number).file


@pytest.mark.slow
@pytest.mark.parametrize("number", LESSONS)
def test_each_is_right(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = [repr(run(source, names)) for source in cells_of(number)]
    checked = [said for said, source in zip(shown, cells_of(number), strict=True) if "here.check(" in source]

    assert len(checked) == sum(len(exercise.ways) for exercise in plan(number).exercises)
    assert [said for said in checked if not said.startswith("RIGHT: ")] == []


def test_what_a_way_needs_stands_before_it():
    text = solutions.source_of(plan("06").exercises[1].ways["keep tokyo"])

    assert text.startswith("from __future__ import annotations")
    assert text.index("def versions_at") < text.index("def taken_alone") < text.index("def keep_tokyo")
    constants = solutions.source_of(plan("04").exercises[1].ways["many secrets"])
    assert constants.index("ENTRIES = 64") < constants.index("def many_secrets")
