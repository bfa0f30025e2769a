"""new: writes a scenario file to begin with, full of comments; it is valid and runs as it is."""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path
from shlex import quote

from labkit.commands.exit_codes import AS_EXPECTED, refuse
from labkit.commands.own_name import own_name
from labkit.commands.terminal import say
from labkit.places import SCENARIO_SUFFIXES, is_scenario

TITLE = '"A title"'
SCHEMA = "scenario.schema.json"
"""Beside the file, for editors: the first line of the starter names it."""

_PLAIN_TITLE = re.compile(r"[A-Za-z][A-Za-z0-9 ]*")


def new(given: argparse.Namespace) -> int:
    """Write the starter under a name of the reader's; an existing file is left as it is."""
    if given.name.endswith(("/", "\\")) or not given.name.strip():
        return refuse(f"{given.name or 'the name'}: expected a name such as my-drill, got a folder or nothing")
    path = Path(given.name if is_scenario(given.name) else given.name + SCENARIO_SUFFIXES[0])
    if not os.path.isdir(path.parent):
        return refuse(f"{path}: expected a folder {path.parent}, got none; make it first, or choose another")
    twin = next((other for other in _spellings(path) if os.path.lexists(other)), None)
    if twin is not None:
        return refuse(f"{twin}: exists already and is left as it is; choose another name")
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(starter(title_of(path)))
    except FileExistsError:
        return refuse(f"{path}: exists already and is left as it is; choose another name")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return refuse(f"{path}: cannot be written: {reason}")
    name = quote(str(path))
    say(f"wrote {path}: two clusters, writers, a lost region, and what is expected at the end")
    labkit = own_name()
    say(f"run it:              {labkit} run {name}")
    say(f"after each change:   {labkit} check {name}")
    say(f"its keys, the steps: {labkit} help scenario, {labkit} help verbs")
    say(f"in an editor:        {labkit} schema > {quote(str(path.with_name(SCHEMA)))}")
    return AS_EXPECTED


def _spellings(path: Path) -> list[Path]:
    """The files that would have the same name but for the ending."""
    stem = next(path.name.removesuffix(suffix) for suffix in SCENARIO_SUFFIXES if path.name.endswith(suffix))
    return [path.with_name(stem + suffix) for suffix in SCENARIO_SUFFIXES]


def starter(title: str) -> str:
    """The text of a new scenario file."""
    text = Path(__file__).with_name("starter.txt").read_text(encoding="utf-8")
    return text.replace(TITLE, title if _PLAIN_TITLE.fullmatch(title) else json.dumps(title, ensure_ascii=False))


def title_of(path: Path) -> str:
    """A title made from a file's name: ``lost-region.lab.yaml`` is `Lost region`."""
    stem = path.name
    for suffix in SCENARIO_SUFFIXES:
        stem = stem.removesuffix(suffix)
    words = " ".join("".join(character if character.isprintable() else " " for character in stem).split())
    words = " ".join(re.split(r"[-_ ]+", words)).strip()[:100]
    return words[:1].upper() + words[1:] or "A drill"
