"""when: from which step, and from which instant on, a scenario breaks what it is to keep."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from labkit.commands.exit_codes import AS_EXPECTED, UNKNOWN, refuse
from labkit.commands.run_many import UnknownCombination, chosen
from labkit.commands.scenario_files import UnknownScenario, scenario_file, with_names
from labkit.commands.search.bar import bar
from labkit.commands.terminal import columns, say

if TYPE_CHECKING:
    from labkit.scenario.scenario import Scenario

MIN_BRANCHES, MAX_BRANCHES, BRANCHES = 16, 100_000, 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what it takes."""
    parser.add_argument("file", metavar="FILE", help="a scenario file")
    about = "what is to break, a key of the verdict such as lost or 'one primary'; the first that does unless given"
    parser.add_argument("--of", metavar="KEY", help=about)
    parser.add_argument("--seed", type=_seed, metavar="N", help="play with this seed instead of the file's first")
    parser.add_argument("--only", metavar="COMBINATION", help="of a matrix this one; the first unless given")
    about = f"how many branches at most, from {MIN_BRANCHES} up; {BRANCHES} unless given"
    parser.add_argument("--branches", type=_branches, default=BRANCHES, metavar="N", help=about)


def when(given: argparse.Namespace) -> int:
    """Play the file, its first steps, and its branches, and print what came of them."""
    from labkit.hunt.no_return.breaking_runs import UnknownKey, key_to_follow, written_run
    from labkit.hunt.no_return.no_return_report import is_decided, report_of
    from labkit.hunt.no_return.nothing_more import stopped_runs
    from labkit.hunt.no_return.other_luck import curve_of
    from labkit.scenario.problems import ScenarioError, printable

    try:
        run = written_run(_scenario(given))
        key = key_to_follow(run, given.of)
    except ScenarioError as error:
        return refuse(with_names(str(error), error.name))
    except (UnknownScenario, UnknownCombination, UnknownKey) as error:
        return refuse(str(error))
    stopped = stopped_runs(run, key)
    with bar(given.branches, "branching", "branch") as grow:
        curve = curve_of(run, key, given.branches, grow)
    say(*map(printable, report_of(run, key, stopped, curve, columns()).split("\n")))
    return AS_EXPECTED if is_decided(stopped, curve) else UNKNOWN


def _scenario(given: argparse.Namespace) -> Scenario:
    """Return the scenario that is asked for, with its seed."""
    from dataclasses import replace

    from labkit.scenario.loading import load_all

    scenario, seed = chosen(load_all(scenario_file(given.file)), given.seed, given.only)[0]
    return replace(scenario, seed=seed, seeds=0)


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 up, of at most 18 digits, got {text!r}")
    return int(text)


def _branches(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 6 and MIN_BRANCHES <= int(text) <= MAX_BRANCHES):
        raise argparse.ArgumentTypeError(
            f"expected a number of branches from {MIN_BRANCHES} to {MAX_BRANCHES:,}, got {text!r}"
        )
    return int(text)
