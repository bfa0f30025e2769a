"""scenarios: lists the shipped scenario files, and copies them to a folder."""

from __future__ import annotations

import argparse
from pathlib import Path
from shlex import quote

from labkit.commands.copies import CannotCopy, copy_files, report_copies
from labkit.commands.exit_codes import AS_EXPECTED, refuse
from labkit.commands.own_name import own_name
from labkit.commands.scenario_files import scenario_files
from labkit.commands.terminal import say


def scenarios(given: argparse.Namespace) -> int:
    """List the scenarios by name and title, or copy them."""
    from labkit import places
    from labkit.scenario.loading import load

    try:
        folder = places.scenarios()
    except FileNotFoundError as error:
        return refuse(str(error))
    paths = [Path(path) for path in scenario_files([str(folder)]).paths]
    if given.copy is not None:
        try:
            written = copy_files(folder, paths, Path(given.copy))
        except CannotCopy as error:
            return refuse(str(error))
        say(report_copies(written, len(paths), "scenario", given.copy))
        say(f"to run them: {own_name()} run {quote(given.copy)}")
        return AS_EXPECTED
    names = {path: str(path.relative_to(folder)).removesuffix(".lab.yaml") for path in paths}
    width = max(map(len, names.values()), default=0)
    for number, path in enumerate(paths):
        if number and path.parent != paths[number - 1].parent:
            say("")
        say(f"{names[path]:<{width}}  {load(path).title}")
    example = quote(names[paths[0]]) if paths else "FILE"
    name = own_name()
    say(f"\nto run one: {name} run {example}\nto have copies of your own: {name} scenarios --copy FOLDER")
    return AS_EXPECTED
