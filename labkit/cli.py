"""The command line: which commands there are, and how each ends.

Exit codes: 0 as expected, 1 not as expected, 2 a file or an argument that cannot be used, 3 unknown, 4 a bug, 130
stopped.  Of several files the worst counts, in the order 130, 4, 2, 1, 3, 0.  A user's mistake is answered with a
sentence, not with a traceback.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Any

from labkit.commands import open as opening
from labkit.commands import serve, token
from labkit.commands.exit_codes import AS_EXPECTED, BAD_FILE, STOPPED, listed, refuse, report_bug
from labkit.missing_library import missing_library

DISTRIBUTION = "labkit-secrets"
SEARCHES = {
    "prove": "search a state machine to the end, within bounds",
    "explore": "draw schedules of faults, play them, and write what breaks",
    "sweep": "play a file with many seeds and values, a row for each",
    "when": "show from which step, and from which instant on, a scenario breaks",
    "report": "print what the rows of a sweep say",
}
"""The commands of ``labkit.commands.search``."""

RUN_SWITCHES = {
    "-q --quiet": "one line per file, and what was not as expected",
    "--why": "say what led to each broken rule, and to what was not as expected",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; the process's arguments unless others are given."""
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks is printed as its number.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if not (sys.argv[1:] if arguments is None else arguments):
        parser().print_help(sys.stderr)
        return BAD_FILE
    given = parser().parse_args(arguments)
    name, place, function = given.command
    try:
        command: Callable[[argparse.Namespace], int] = getattr(import_module(f"labkit.commands.{place}"), function)
        code = command(given)
        sys.stdout.flush()  # a closed pipe is noticed here, not while the interpreter ends
        return code
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        # The reader of the output has closed it; what Python would still flush is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return AS_EXPECTED
    except ModuleNotFoundError as error:
        missing = missing_library(f"labkit {name}", error)
        return report_bug(error, f"labkit {name}") if missing is None else refuse(str(missing))
    except Exception as error:
        if os.environ.get("LABKIT_TRACEBACK"):
            raise
        return report_bug(error, f"labkit {name}")


def parser() -> argparse.ArgumentParser:
    """Describe the commands and their arguments; a command is named by its module and function."""
    top = argparse.ArgumentParser(
        prog="labkit",
        description="A secrets service in Python, and whole clusters of it on a simulated network.",
        epilog=listed(),
    )
    top.add_argument("--version", action=_Version, help="show the version of labkit and of Python, and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    seed = argparse.ArgumentParser(add_help=False)
    seed.add_argument("--seed", type=_seed, help="run with this seed instead of the file's")
    files = argparse.ArgumentParser(add_help=False)
    about_files = "a file, *.lab.yaml, a folder with such files in it or below, or a shipped one such as first/failover"
    files.add_argument("files", nargs="+", metavar="FILE", help=about_files)
    copy = argparse.ArgumentParser(add_help=False)
    copy.add_argument("--copy", metavar="FOLDER", help="copy all of them to a folder, which is made if need be")

    def add(name: str, function: str, about: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        made = commands.add_parser(name, parents=parents, help=about, description=about, epilog=listed())
        made.set_defaults(command=(name, f"search.{name}" if name in SEARCHES else name, function))
        return made

    add("demo", "demo", "lose a region and fail over: a first look", seed)
    _add_run_arguments(add("run", "run", "run scenario files and judge the results", files, seed))
    add("check", "check", "report what is wrong with scenario files, run nothing", files)
    made = add("new", "new", "write a scenario file to begin with, full of comments")
    made.add_argument("kind", choices=["scenario"], metavar="scenario", help="what to write")
    made.add_argument("name", metavar="NAME", help="the file's name, such as my-drill or drills/my-drill")
    add("schema", "schema", "print the JSON Schema of scenario files, for an editor")
    add("scenarios", "scenarios", "list the shipped scenarios, or copy them", copy)
    _add_lesson_arguments(add("lessons", "lessons", "list the lessons and say how to open them, or copy them", copy))
    made = add("coverage", "coverage", "show what each endpoint answers, and where that is known from")
    made.add_argument("words", nargs="*", metavar="WORD", help="only endpoints with these in them: post secret/data")
    opening.add_arguments(add("open", "open_lab", opening.ABOUT))
    serve.add_arguments(add("serve", "serve", "serve a vault on an HTTP port, until Ctrl-C"))
    token.add_arguments(add("token", "token", "print a token of a machine of the cloud that labkit serve runs"))
    for search, about in SEARCHES.items():
        import_module(f"labkit.commands.search.{search}").add_arguments(add(search, search, about))
    _add_help_arguments(add("help", "help_topic", "show a page, such as architecture, rules or verbs"))
    return top


def _add_lesson_arguments(command: argparse.ArgumentParser) -> None:
    one = command.add_mutually_exclusive_group()
    reset = "bring a lesson in this folder back as delivered, and forget what was done; both are kept under other names"
    one.add_argument("--reset", metavar="NUMBER", help=reset)
    one.add_argument("--solutions", metavar="FOLDER", help="write right answers of every lesson to a folder, to be run")
    one.add_argument("--print", action="store_true", help="print questions with room to write, and answers at the end")
    site = "build a site that runs them in the browser, into a folder that is empty or not there yet"
    one.add_argument("--site", metavar="FOLDER", help=site)
    pyodide = "a folder with files of Pyodide, which are fetched otherwise; may be given again"
    command.add_argument("--pyodide", metavar="FOLDER", action="append", default=[], help=pyodide)
    one.add_argument("--review", action="store_true", help="show what is due again, by what was done in this folder")


def _add_run_arguments(command: argparse.ArgumentParser) -> None:
    about_only = "of a matrix only this one, such as latency=80ms-nodes=3"
    command.add_argument("--only", metavar="COMBINATION", help=about_only)
    about_report = "write one run, moving, with its verdict and what led to it: a page (.html) or data (.json)"
    command.add_argument("--report", metavar="OUT", help=about_report)
    about_saving = "save the lab at this instant of its time, such as 20s, to --save-to, and go on"
    command.add_argument("--save-at", type=_instant, metavar="INSTANT", help=about_saving)
    command.add_argument("--save-to", metavar="FILE", help="where --save-at saves it; saved.lab unless given")
    for names, about in RUN_SWITCHES.items():
        command.add_argument(*names.split(), action="store_true", help=about)


def _add_help_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("topic", nargs="?", metavar="TOPIC", help="the page; the list of pages unless given")
    command.add_argument("entry", nargs="?", metavar="ENTRY", help="one entry of it: help rules R4, help verbs crash")


def _instant(text: str) -> int:
    from labkit.service.arguments import duration_ns

    try:
        return duration_ns("instant", text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 up, of at most 18 digits, got {text!r}")
    return int(text)


class _Version(argparse.Action):
    """Shows the version; it is looked up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **settings)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import PackageNotFoundError, version
        from platform import python_version

        try:
            found = version(DISTRIBUTION)
        except PackageNotFoundError:
            found = "(a checkout that is not installed)"
        print(f"labkit {found}, Python {python_version()}")
        parser.exit(AS_EXPECTED)


if __name__ == "__main__":
    sys.exit(main())
