"""Found files: what a campaign found, written to a folder; what is there from before stays as it is.

A file that is there with another text keeps its name, and the new one has a number.  Where one cannot be written, the
others are.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from labkit.commands.search.saved_findings import LAB_SUFFIX, save_beside
from labkit.places import SCENARIO_SUFFIXES

if TYPE_CHECKING:
    from labkit.hunt.shrinking.handing_over import FoundFile


class WrittenFiles(NamedTuple):
    """Files with the names that they have now, a line about each saved lab, and why what is missing is."""

    files: tuple[FoundFile | None, ...]
    saved: tuple[str, ...]
    problems: tuple[str, ...]


def write_files(files: Sequence[FoundFile | None], folder: str) -> WrittenFiles:
    """Write files of findings, each with its lab beside it, to a folder, which is made if it is not there."""
    written: list[FoundFile | None] = []
    saved, problems = list[str](), list[str]()
    for file in files:
        name = "" if file is None else file.name
        try:
            if file is not None:
                os.makedirs(folder, exist_ok=True)
                file = file._replace(name=_own_name(file, folder))
                _put(os.path.join(folder, file.name), file.text.encode())
        except OSError as error:
            problems.append(f"{os.path.join(folder, name)}: cannot be written: {error.strerror or error}")
            file = file and file._replace(not_written=error.strerror or str(error))
        written.append(file)
        if file is not None and not file.not_written:
            try:
                saved.append(save_beside(file.name, file.text, folder))
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                problems.append(f"{os.path.join(folder, _lab_name(file.name))}: cannot be written: {reason}")
    return WrittenFiles(tuple(written), tuple(saved), tuple(problems))


def _own_name(file: FoundFile, folder: str) -> str:
    """Return the name of a file, with a number where that is the name of another one."""
    name, dot, suffix = file.name.partition(".")
    names = (file.name if number == 1 else f"{name}-{number}{dot}{suffix}" for number in count(1))
    return next(name for name in names if not _is_of_another(name, file.text.encode(), folder))


def _is_of_another(name: str, text: bytes, folder: str) -> bool:
    """Whether a scenario file of that name has another text, or only its lab is there."""
    path = os.path.join(folder, name)
    if not os.path.lexists(path):
        return os.path.lexists(os.path.join(folder, _lab_name(name)))
    if not os.path.isfile(path) or os.path.getsize(path) != len(text):
        return True
    with open(path, "rb") as file:
        return file.read() != text


def _lab_name(name: str) -> str:
    return name.removesuffix(SCENARIO_SUFFIXES[0]) + LAB_SUFFIX


def _put(path: str, text: bytes) -> None:
    """Write a file beside its place, and put it there once it is whole; one that is there is the same and stays."""
    if os.path.exists(path):
        return
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        with open(beside, "xb") as file:
            file.write(text)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
