"""report: prints what a file of rows says, which a sweep has appended to or still does."""

from __future__ import annotations

import argparse

from labkit.commands.exit_codes import BUG, complain, refuse
from labkit.commands.terminal import columns, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what it takes."""
    parser.add_argument("rows", metavar="ROWS", help="a file of rows that labkit sweep wrote")


def report(given: argparse.Namespace) -> int:
    """Read the rows and print the report."""
    from labkit.hunt.sweeping.row_file import TwoResults, UnusableRows, read_rows
    from labkit.hunt.sweeping.row_report import exit_code_of, report_of
    from labkit.scenario.problems import printable

    try:
        rows = read_rows(given.rows)
    except UnusableRows as error:
        return refuse(str(error))
    except TwoResults as error:
        complain(str(error))
        return BUG
    say(*map(printable, report_of(rows, columns()).split("\n")))
    return exit_code_of(rows)
