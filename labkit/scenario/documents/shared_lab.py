"""Shared lab: the lab section of another file in place of a path to it, ``lab: ../two-regions.lab.yaml``.

1. The section is taken whole, and that file has it itself: nothing is merged, and no lab is shared twice over.
2. Its values keep their positions in that file, so that each problem names the file that has it.
3. Only files of the project are read: the path is relative and stays below the nearest folder with pyproject.toml or
   .git, or else below the folder of the file itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from labkit.places import SCENARIO_SUFFIXES
from labkit.scenario.documents.yaml_positions import Document, Path, read
from labkit.scenario.problems import WHOLE_FILE, FilePosition, FileProblem, ScenarioError, expected

LAB: Path = ("lab",)
SUFFIX = SCENARIO_SUFFIXES[0]
PROJECT_FILES = ("pyproject.toml", ".git")


def with_shared_lab(document: Document) -> Document:
    """Return a document with the lab of the file that it names; one with a lab of its own as it is."""
    written = document.data.get("lab") if isinstance(document.data, dict) else None
    if not isinstance(written, str):
        return document
    folder = os.path.dirname(document.name)
    wrong = _misplaced(written, folder)
    if wrong is not None:
        return document.with_problems([FileProblem(document.position(LAB), f"lab: {wrong}")])
    return _with_lab_of(document, os.path.normpath(os.path.join(folder, written)))


def _misplaced(written: str, folder: str) -> str | None:
    """What is wrong with the path itself; None for one that may be read."""
    if "$(" in written:
        return f"{expected('a path as it is', written)}; no value of a matrix or of a step is put into it"
    if not written.endswith(SUFFIX) or "\0" in written:
        return expected(f"a mapping of sites, links, clusters and clients, or a file such as ../two{SUFFIX}", written)
    if os.path.isabs(written):
        return expected(f"a path from the folder of this file such as ../two{SUFFIX}", written)
    if not PurePath(os.path.realpath(os.path.join(folder, written))).is_relative_to(project_root(folder)):
        which = f"the folder with {' or '.join(PROJECT_FILES)}, or else this file's own"
        return f"{expected('a file of the same project', written)}; a project is {which}"
    return None


def project_root(folder: str) -> str:
    """Return the nearest folder at or above one that is a project's, else the folder itself."""
    here = place = os.path.realpath(folder)
    while not any(os.path.lexists(os.path.join(place, name)) for name in PROJECT_FILES):
        if place == os.path.dirname(place):
            return here
        place = os.path.dirname(place)
    return place


def _with_lab_of(document: Document, name: str) -> Document:
    own = document.position(LAB)
    try:
        shared = read(name)
    except ScenarioError as error:
        if error.problems[0].position == WHOLE_FILE:
            return document.with_problems([FileProblem(own, f"lab: {error}")])
        problems = [FileProblem(_in(name, problem.position), problem.text) for problem in error.problems]
        blamed = document.with_problems(problems)
        return replace(blamed, shared_lines=error.lines, unusable=blamed.unusable | {own})
    problems = [FileProblem(_in(name, position), text) for position, text in shared.problems]
    lab = shared.data.get("lab") if isinstance(shared.data, dict) else None
    if not isinstance(lab, dict):
        where = LAB if isinstance(shared.data, dict) and "lab" in shared.data else ()
        problems.append(FileProblem(_in(name, shared.position(where)), _no_lab(shared.data)))
        blamed = replace(document, shared_lines=shared.lines).with_problems(problems)
        return replace(blamed, unusable=blamed.unusable | {own})
    return replace(
        document,
        data={**document.data, "lab": lab},
        key_positions={**document.key_positions, **_positions(shared.key_positions, name)},
        value_positions={**document.value_positions, **_positions(shared.value_positions, name)},
        problems=(*document.problems, *problems),
        shared_lines=shared.lines,
        has_empty=document.has_empty or shared.has_empty,
    )


def _no_lab(data: Any) -> str:
    """What is wrong with a file that has no lab to share."""
    if not isinstance(data, dict):
        return expected("a mapping with the key lab", data)
    if "lab" not in data:
        return "expected the key 'lab' (a mapping of sites, links, clusters and clients), got none"
    chain = "; a lab that is shared stands in that file itself" if isinstance(data["lab"], str) else ""
    return f"lab: {expected('a mapping of sites, links, clusters and clients', data['lab'])}{chain}"


def _positions(positions: Mapping[Path, FilePosition], name: str) -> dict[Path, FilePosition]:
    return {path: _in(name, position) for path, position in positions.items() if path[:1] == LAB}


def _in(name: str, position: FilePosition) -> FilePosition:
    return position._replace(file=name)
