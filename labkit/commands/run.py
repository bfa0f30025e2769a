"""run: plays scenario files to their end and judges the results."""

from __future__ import annotations

import argparse
import os
from collections import Counter

from labkit.commands.exit_codes import MEANINGS, STOPPED, refuse, report_bug, worst
from labkit.commands.playing import CannotSave, judge_saving, play_one
from labkit.commands.run_many import UnknownCombination, chosen, play_many
from labkit.commands.run_report import CannotReport, judge_target
from labkit.commands.scenario_files import scenario_files, with_names
from labkit.commands.terminal import say


def run(given: argparse.Namespace) -> int:
    """Run each file; return the worst of their exit codes."""
    files = scenario_files(given.files)
    codes = [refuse(text) for text in files.refused]
    if given.report is not None and files.paths:
        try:
            judge_target(given.report, len(files.paths))
        except CannotReport as error:
            return refuse(str(error))
    if given.save_at is not None and len(files.paths) > 1:
        return refuse(f"--save-at: expected one file to run, got {len(files.paths)}; each would write to one place")
    try:
        judge_saving(given.save_at, given.save_to, files.paths, given.report)
    except CannotSave as error:
        return refuse(str(error))
    played: list[int] = []
    for number, path in enumerate(files.paths):
        if number and not given.quiet:
            print()
        played.append(play(path, given))
        if played[-1] == STOPPED:
            break
    if len(files.paths) > 1:
        say(_count(played, len(files.paths)))
    return worst([*codes, *played])


def _count(codes: list[int], files: int) -> str:
    """How many files ended in which way."""
    counts = Counter(codes)
    parts = [f"{counts[code]} {meaning.split(':')[0]}" for code, meaning in MEANINGS.items() if counts[code]]
    if len(codes) < files:
        parts.append(f"{files - len(codes)} not run")
    return f"{files} files: {', '.join(parts)}"


def play(path: str, given: argparse.Namespace) -> int:
    """Run one file, with each combination and seed that it is played with, and print what became of it."""
    from labkit.scenario.loading import load_all
    from labkit.scenario.problems import ScenarioError

    try:
        runs = chosen(load_all(path), given.seed, given.only)
    except ScenarioError as error:
        return refuse(with_names(str(error), path))
    except UnknownCombination as error:
        return refuse(with_names(f"{path}: {error}", path))
    except Exception as error:
        if os.environ.get("LABKIT_TRACEBACK"):
            raise
        return report_bug(error, with_names(path, path))
    if len(runs) > 1 and given.save_at is not None:
        return refuse(f"--save-at: expected one run, got {len(runs)} of {path}; choose one with --only and --seed")
    if len(runs) > 1:
        return play_many(path, runs, quiet=given.quiet, why=given.why, report=given.report)
    ((scenario, seed),) = runs
    return play_one(path, scenario, seed, given)
