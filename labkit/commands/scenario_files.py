"""Scenario files: which files are meant by the arguments of a command.

An argument is a file, a folder of them, or the name of a shipped scenario where no file has that name; what is printed
of such a scenario says its name, not where this copy of labkit keeps its file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from labkit.places import SCENARIO_SUFFIXES, is_scenario, shipped_scenario, shipped_scenarios
from labkit.service.did_you_mean import nearest


class UnknownScenario(ValueError):
    """A name that no file has, and nearly that of a shipped scenario."""


class ScenarioFiles(NamedTuple):
    """The files, each once and in order, and a sentence about each argument that cannot be used."""

    paths: tuple[str, ...]
    refused: tuple[str, ...]


def scenario_files(arguments: Iterable[str]) -> ScenarioFiles:
    """Return the files that arguments name; of a folder all scenario files in it and below, in the order of names."""
    found: dict[str, str] = {}
    refused: list[str] = []
    for argument in arguments:
        try:
            paths = _below(argument, refused) if os.path.isdir(argument) else [scenario_file(argument)]
        except UnknownScenario as error:
            refused.append(str(error))
            continue
        for path in paths:
            found.setdefault(os.path.realpath(path), path)
    return ScenarioFiles(tuple(found.values()), tuple(refused))


def scenario_file(argument: str) -> str:
    """Return the file that an argument names: itself, or the shipped scenario of that name.

    Raise UnknownScenario for a name that is nearly a shipped one's; what else does not exist is left to its reader.
    """
    if os.path.lexists(argument):
        return argument
    shipped = shipped_scenario(argument)
    if shipped is not None:
        return str(shipped)
    near = nearest(argument.removesuffix(SCENARIO_SUFFIXES[0]), shipped_scenarios())
    if near is not None:
        text = f"{argument}: no file has this name, and no shipped scenario either"
        raise UnknownScenario(f"{text} — did you mean '{near}'?")
    return argument


def with_names(text: str, path: str) -> str:
    """Return a text about a file in which a shipped scenario is called by its name."""
    names = {str(shipped): name for name, shipped in shipped_scenarios().items()} if os.path.isabs(path) else {}
    return text.replace(path, names[path]) if path in names else text


def _below(folder: str, refused: list[str]) -> list[str]:
    """The scenario files of a folder; links to other folders and folders with a dot before their name are left out."""
    problems = len(refused)

    def unreadable(error: OSError) -> None:
        refused.append(f"{error.filename}: cannot be read: {error.strerror}")

    found = []
    for place, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += list(_scenarios(place, files))
    if not found and len(refused) == problems:
        suffixes = " or ".join(f"*{suffix}" for suffix in SCENARIO_SUFFIXES)
        refused.append(f"{folder}: expected scenario files in this folder ({suffixes}), got none")
    return sorted(found)


def _scenarios(place: str, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        path = os.path.join(place, name)
        # A link that leads nowhere is named; a pipe or a device is left out.
        if is_scenario(name) and (os.path.isfile(path) or os.path.islink(path)):
            yield path
