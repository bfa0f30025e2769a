"""The command line: one function per command; a command imports what it needs when it is called.

Exit codes: 0 as expected, 1 not as expected, 2 a file that cannot be used, 3 unknown.  Of several files the worst
counts, in the order 2, 1, 3, 0.  A user's mistake is answered with one line, not with a traceback.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from labkit.service.durations import SECOND_NS

if TYPE_CHECKING:
    from labkit.lab.lab import Lab

AS_EXPECTED, NOT_AS_EXPECTED, BAD_FILE, UNKNOWN = 0, 1, 2, 3
WORST_FIRST = (BAD_FILE, NOT_AS_EXPECTED, UNKNOWN, AS_EXPECTED)
STOPPED = 130

DEMO = "first/failover.lab.yaml"
MAX_BAR_NS = 3_000 * SECOND_NS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; the process's arguments unless others are given."""
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks is printed as its number.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    given = parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = given.command
    try:
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


def parser() -> argparse.ArgumentParser:
    """Describe the commands and their arguments."""
    top = argparse.ArgumentParser(
        prog="labkit",
        description="A secrets service in Python, and whole clusters of it on a simulated network.",
        epilog="Exit codes: 0 as expected, 1 not as expected, 2 a file that cannot be used, 3 unknown.",
    )
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    seed = argparse.ArgumentParser(add_help=False)
    seed.add_argument("--seed", type=_seed, help="run with this seed instead of the file's")
    files = argparse.ArgumentParser(add_help=False)
    files.add_argument("files", nargs="+", metavar="FILE", help="a scenario file, *.lab.yaml")

    made = commands.add_parser("demo", parents=[seed], help="lose a region and fail over: a first look")
    made.set_defaults(command=demo)
    made = commands.add_parser("run", parents=[files, seed], help="run scenario files and judge the results")
    made.add_argument("-q", "--quiet", action="store_true", help="one line per file, and what was not as expected")
    made.set_defaults(command=run)
    made = commands.add_parser("check", parents=[files], help="report what is wrong with scenario files, run nothing")
    made.set_defaults(command=check)
    made = commands.add_parser("lessons", help="list the lessons, and how to open them")
    made.set_defaults(command=lessons)
    made = commands.add_parser("help", help="show a page: architecture, rules, api, scenario or verbs")
    made.add_argument("topic", nargs="?", metavar="TOPIC", help="the page; the list of pages unless given")
    made.add_argument("entry", nargs="?", metavar="ENTRY", help="one entry of it: help rules R4, help verbs crash")
    made.set_defaults(command=help_topic)
    return top


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 up, got {text!r}")
    return int(text)


def demo(given: argparse.Namespace) -> int:
    """Run the first scenario and print what happened."""
    from labkit import places

    try:
        path = places.scenarios() / DEMO
    except FileNotFoundError as error:
        return _print_error(str(error))
    return _run_file(str(path), given.seed, quiet=False)


def run(given: argparse.Namespace) -> int:
    """Run each file; return the worst of their exit codes."""
    codes = []
    for number, path in enumerate(given.files):
        if number and not given.quiet:
            print()
        codes.append(_run_file(path, given.seed, quiet=given.quiet))
    return worst(codes)


def check(given: argparse.Namespace) -> int:
    """Read each file and report what is wrong with it."""
    from labkit.scenario.loading import load
    from labkit.scenario.problems import ScenarioError

    codes = []
    for path in given.files:
        try:
            scenario = load(path)
        except ScenarioError as error:
            codes.append(_print_error(str(error)))
        else:
            count = len(scenario.timeline)
            print(f"{path}: valid: {scenario.title}, {count} step{'s' if count != 1 else ''}")
            codes.append(AS_EXPECTED)
    return worst(codes)


def lessons(given: argparse.Namespace) -> int:
    """List the lessons by title and first line."""
    from labkit import places

    try:
        folder = places.notebooks()
    except FileNotFoundError as error:
        return _print_error(str(error))
    for path in sorted(folder.glob("*.ipynb")):
        title, first = _heading(path)
        print(f"{path.stem}  {title}" if title else path.stem)
        if first:
            print(f"    {first}")
    print(f"\nto open one: jupyter lab {folder}/NAME.ipynb (the notebook extra brings jupyterlab)")
    return AS_EXPECTED


def help_topic(given: argparse.Namespace) -> int:
    """Show a reference page or one entry of it; the list of pages when no topic is given."""
    from labkit import reference

    if given.topic is None:
        print(*(f"labkit help {topic:<12}  {about}" for topic, about in reference.TOPICS.items()), sep="\n")
        return AS_EXPECTED
    try:
        print(reference.entry(given.topic, given.entry) if given.entry else reference.page(given.topic))
    except reference.UnknownTopic as error:
        return _print_error(str(error))
    return AS_EXPECTED


def worst(codes: Sequence[int]) -> int:
    """Return the worst of several exit codes."""
    return next(code for code in WORST_FIRST if code in codes)


def _run_file(path: str, seed: int | None, *, quiet: bool) -> int:
    from labkit.lab.lab import Lab
    from labkit.scenario.event_log import event_log
    from labkit.scenario.problems import ScenarioError
    from labkit.scenario.verdict import judge

    try:
        lab = Lab.load(path, seed)
    except ScenarioError as error:
        return _print_error(str(error))
    if not quiet:
        _introduce(lab)
    _run_lab(lab, quiet=quiet)
    run = lab.scenario
    assert run is not None
    verdict = judge(run, lab.queries, lab.ledger, lab.invariants)
    if not quiet:
        print("what happened, in lab time:", *event_log(lab.trace), "", verdict, sep="\n")
        print(f"the same seed gives the same run: its trace has the digest {lab.trace.digest()[:16]}")
    elif verdict.exit_code == AS_EXPECTED:
        print(f"{path}: {verdict.summary}")
    else:
        print(f"{path}: {verdict.report(run.scenario, lab.trace)}")
    return verdict.exit_code


def _introduce(lab: Lab) -> None:
    from textwrap import fill

    assert lab.scenario is not None
    scenario = lab.scenario.scenario
    print(scenario.title, "=" * len(scenario.title), sep="\n")
    if scenario.about:
        print(fill(scenario.about, 100))
    print(flush=True)


def _run_lab(lab: Lab, *, quiet: bool) -> None:
    """Run a lab to the end of its scenario; a terminal shows a progress bar when the end is known."""
    from time import perf_counter

    assert lab.scenario is not None
    end_ns, began = lab.scenario.scenario.end_ns, perf_counter()
    if quiet or end_ns is None or end_ns > MAX_BAR_NS or not sys.stderr.isatty():
        lab.run()
    else:
        _run_with_bar(lab, end_ns)
    if not quiet:
        took = perf_counter() - began
        text = f"ran {lab.now / SECOND_NS:.0f} s of lab time and {lab.network.delivered:,} messages in {took:.1f} s"
        print(text, file=sys.stderr, flush=True)


def _run_with_bar(lab: Lab, end_ns: int) -> None:
    from tqdm import tqdm

    bar_format, total = "{desc} |{bar}| {n:.0f} of {total:.0f} s", end_ns / SECOND_NS
    with tqdm(total=total, desc="running, lab time", bar_format=bar_format, file=sys.stderr, leave=False) as bar:
        shown_ns = lab.now

        def ended(lab: Lab) -> bool:
            nonlocal shown_ns
            if lab.now - shown_ns >= SECOND_NS:
                bar.update((lab.now - shown_ns) / SECOND_NS)
                shown_ns = lab.now
            return lab.scenario is None or lab.scenario.ended

        lab.run(until=ended)


def _heading(path: Path) -> tuple[str, str]:
    """Return a notebook's title and the first line below it; empty where there is none."""
    import json

    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    except (OSError, ValueError, LookupError, TypeError, StopIteration):
        return "", ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    title = next((line.lstrip("# ") for line in lines if line.startswith("#")), "")
    first = next((line for line in lines if not line.startswith("#")), "")
    return title, first


def _print_error(text: str) -> int:
    print(text, file=sys.stderr)
    return BAD_FILE


if __name__ == "__main__":
    sys.exit(main())
