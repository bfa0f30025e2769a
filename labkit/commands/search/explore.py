"""explore: draws schedules of faults and operators, plays them, and writes what breaks as small scenario files.

Beside each file is its lab, saved just before it breaks.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from errno import EACCES
from time import perf_counter
from typing import TYPE_CHECKING

from labkit.commands.exit_codes import AS_EXPECTED, BAD_FILE, BUG, complain, refuse
from labkit.commands.scenario_files import UnknownScenario, scenario_file, with_names
from labkit.commands.search.bar import bar
from labkit.commands.search.counts import jobs, seed_count
from labkit.commands.terminal import say

if TYPE_CHECKING:
    from labkit.hunt.known import Known

SEEDS, OUT = 100, "found"
OPERATORS = ("runbook", "careless")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what it takes."""
    about = "a scenario file whose lab, clients and first steps are taken; drawn labs unless given"
    parser.add_argument("file", nargs="?", metavar="FILE", help=about)
    about = f"how many schedules are drawn, from seed 0 on; {SEEDS} unless given"
    parser.add_argument("--seeds", type=seed_count, default=SEEDS, metavar="N", help=about)
    about = "who runs the clusters: one who keeps to runbooks, or one who does not; runbook unless given"
    parser.add_argument("--operator", choices=OPERATORS, default=OPERATORS[0], help=about)
    parser.add_argument("--known", metavar="FILE", help="findings that are accepted, a line each (labkit help explore)")
    about = f"the folder for the files of what is found; {OUT} unless given"
    parser.add_argument("--out", default=OUT, metavar="FOLDER", help=about)
    parser.add_argument("--jobs", type=jobs, default=1, metavar="N", help="how many processes play; 1 unless given")


def explore(given: argparse.Namespace) -> int:
    """Play a campaign, write what it found, and print the report."""
    from labkit.commands.search.found_files import write_files
    from labkit.hunt.beginnings import of_file
    from labkit.hunt.campaign import Plan
    from labkit.hunt.explore import explored
    from labkit.hunt.known import UnusableKnown
    from labkit.hunt.processes import WorkersLost
    from labkit.scenario.problems import ScenarioError

    try:
        known = _known(given.known)
        beginning = None if given.file is None else of_file(scenario_file(given.file))
    except (UnusableKnown, UnknownScenario) as error:
        return refuse(str(error))
    except ScenarioError as error:
        return refuse(with_names(str(error), error.name))
    wrong = _not_writable(given.out)
    if wrong:
        return refuse(f"{given.out}: cannot be written: {wrong}")
    began = perf_counter()
    plan = Plan(seeds=given.seeds, operator=given.operator, beginning=beginning)
    try:
        with bar(given.seeds, "exploring", "seed") as grow:
            found = explored(plan, known, given.jobs, grow)
    except WorkersLost as error:
        complain(str(error))
        return BUG
    seconds, written = perf_counter() - began, write_files(found.files, given.out)
    found = replace(found, files=written.files)
    say(found.report(f"{given.out}/", seconds), *_first_of([f"saved: {given.out}/{line}" for line in written.saved]))
    for line in _first_of(written.problems):
        complain(line)
    return found.exit_code or (BAD_FILE if written.problems else AS_EXPECTED)


def _first_of(lines: Sequence[str]) -> list[str]:
    """Return the first of lines that say the like, and how many more there are."""
    more = f"; and {len(lines) - 1} more" if len(lines) > 1 else ""
    return [f"{line}{more}" for line in lines[:1]]


def _known(name: str | None) -> tuple[Known, ...]:
    from labkit.hunt.known import UnusableKnown, read_known

    if name is None:
        return ()
    try:
        with open(name, encoding="utf-8-sig") as file:
            return read_known(name, file.read())
    except (OSError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, UnusableKnown):
            raise
        raise UnusableKnown(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _not_writable(folder: str) -> str:
    """Return why no files can come into a folder, which need not be there yet; empty when they can.

    One that is not there is made and taken away again: whether it can be is known from that only.
    """
    above, missing = os.path.abspath(folder), list[str]()
    while not os.path.lexists(above):
        missing.append(above)
        above = os.path.dirname(above)
    if not os.path.isdir(above):
        return f"{above} is not a folder"
    if not os.access(above, os.W_OK | os.X_OK):
        return os.strerror(EACCES)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        return error.strerror or str(error)
    finally:
        for name in missing:
            with suppress(OSError):  # not made, or another campaign has put something there
                os.rmdir(name)
    return ""
