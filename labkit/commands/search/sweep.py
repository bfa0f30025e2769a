"""sweep: plays one file with many seeds and values, and appends what became of each seed to a file of rows."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from labkit.commands.exit_codes import BUG, complain, refuse
from labkit.commands.scenario_files import UnknownScenario, scenario_file, with_names
from labkit.commands.search.bar import bar
from labkit.commands.search.counts import jobs, seed_count
from labkit.commands.terminal import columns, say

if TYPE_CHECKING:
    from labkit.hunt.sweeping.chunks import Workers
    from labkit.hunt.sweeping.row_file import RowWriter
    from labkit.hunt.sweeping.sweep import Sweep

SEEDS = 1_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what it takes."""
    parser.add_argument("file", metavar="FILE", help="a scenario file; with a matrix, each combination of it")
    about = f"how many seeds, from 0 on; {SEEDS:,} unless given"
    parser.add_argument("--seeds", type=seed_count, default=SEEDS, metavar="N", help=about)
    about = "values for one place of the file by turns, such as lab.links.0.latency=20ms,80ms; may come again"
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="PLACE=VALUES", help=about)
    about = "the file to which rows are appended; what is in it already is not played again"
    parser.add_argument("--out", required=True, metavar="ROWS", help=about)
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--jobs", type=jobs, default=1, metavar="N", help="how many processes play; 1 unless given")
    who.add_argument("--scheduler", metavar="ADDRESS", help="the Dask scheduler whose workers play: tcp://host:8786")


def sweep(given: argparse.Namespace) -> int:
    """Play what is not there yet, and print the report of the file."""
    from labkit.hunt.processes import WorkersLost
    from labkit.hunt.sweeping.chunks import WorkerRefused
    from labkit.hunt.sweeping.dask_workers import NoScheduler
    from labkit.hunt.sweeping.experiments import TooManyExperiments, experiments_of
    from labkit.hunt.sweeping.row_file import TwoResults, UnusableRows, appending
    from labkit.hunt.sweeping.row_report import exit_code_of, report_of
    from labkit.hunt.sweeping.settings import UnusableSetting, read_settings
    from labkit.hunt.sweeping.sweep import Sweep
    from labkit.scenario.problems import ScenarioError, printable

    try:
        experiments = experiments_of(scenario_file(given.file), read_settings(given.settings))
        wanted = Sweep(experiments, given.seeds, _workers(given))
        with appending(given.out) as writer:
            _play(wanted, writer)
            rows = writer.rows
    except (UnknownScenario, UnusableSetting, UnusableRows, TooManyExperiments, NoScheduler) as error:
        return refuse(str(error))
    except ScenarioError as error:
        return refuse(with_names(str(error), error.name))
    except (TwoResults, WorkerRefused, WorkersLost) as error:
        complain(str(error))
        return BUG
    say(*map(printable, report_of(rows, columns()).split("\n")))
    return exit_code_of(rows)


def _workers(given: argparse.Namespace) -> Workers:
    from labkit.hunt.sweeping.dask_workers import dask_workers
    from labkit.hunt.sweeping.local_workers import local_workers

    return local_workers(given.jobs) if given.scheduler is None else dask_workers(given.scheduler)


def _play(wanted: Sweep, writer: RowWriter) -> None:
    from labkit.hunt.sweeping.sweep import runs_left, sweep_into

    left = runs_left(wanted, writer)
    there = len(wanted.experiments) * wanted.seeds - left
    if there:
        say(f"{there:,} runs are there already, {left:,} {'is' if left == 1 else 'are'} left")
    with bar(left, "sweeping", "run") as grow:
        sweep_into(writer, wanted, grow)
