"""check: says what is wrong with scenario files, and runs nothing."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from labkit.commands.exit_codes import AS_EXPECTED, refuse, worst
from labkit.commands.scenario_files import scenario_files, with_names
from labkit.commands.terminal import say

if TYPE_CHECKING:
    from labkit.scenario.scenario import Scenario


def check(given: argparse.Namespace) -> int:
    """Read each file and report what is wrong with it."""
    from labkit.scenario.loading import load_all
    from labkit.scenario.problems import ScenarioError, printable

    files = scenario_files(given.files)
    codes = [refuse(text) for text in files.refused]
    for path in files.paths:
        try:
            scenarios = load_all(path)
        except ScenarioError as error:
            codes.append(refuse(with_names(str(error), path)))
        else:
            say(printable(with_names(f"{path}: valid: {_size(scenarios)}", path)))
            codes.append(AS_EXPECTED)
    return worst(codes)


def _size(scenarios: tuple[Scenario, ...]) -> str:
    """The title, how many steps there are, and with how many combinations and seeds they are played."""
    scenario = scenarios[0]
    counts = [(len(scenario.timeline), "step")]
    counts += [(len(scenarios), "combination")] if scenario.combination.values else []
    counts += [(scenario.seeds, "seed")] if scenario.seeds else []
    return ", ".join([scenario.title, *(f"{count:,} {noun}{'s' if count != 1 else ''}" for count, noun in counts)])
