"""check: says what is wrong with scenario files, and runs nothing."""

from __future__ import annotations

import argparse

from labkit.commands.exit_codes import AS_EXPECTED, refuse, worst
from labkit.commands.scenario_files import scenario_files, with_names
from labkit.commands.terminal import say


def check(given: argparse.Namespace) -> int:
    """Read each file and report what is wrong with it."""
    from labkit.scenario.loading import load
    from labkit.scenario.problems import ScenarioError, printable

    files = scenario_files(given.files)
    codes = [refuse(text) for text in files.refused]
    for path in files.paths:
        try:
            scenario = load(path)
        except ScenarioError as error:
            codes.append(refuse(with_names(str(error), path)))
        else:
            count = len(scenario.timeline)
            steps = f"{count} step{'s' if count != 1 else ''}"
            say(printable(with_names(f"{path}: valid: {scenario.title}, {steps}", path)))
            codes.append(AS_EXPECTED)
    return worst(codes)
