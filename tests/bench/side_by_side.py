"""Side by side: the goals of speed, measured today and of a version before, by turns, and what else there is.

    python tests/bench/side_by_side.py [--revision REV] [--rows WORD] [--rounds 9] [--server URL --token TOKEN]

1. The version before is unpacked from the history of this clone into a folder of its own: the newest tag before this
   commit, else the commit that the goals were set at; ``--revision`` names another.  Where the history has it not, the
   table says so, and shows today's figures.
2. Each row is prepared in one process a version, and another one for each other service whose client is there; they
   take their samples by turns, the first first in odd rounds and last in even ones.  The table has the medians.
3. A ratio is one to the least work that gives the answer, taken in the same process; in brackets its microseconds.
   Other rows are processor time, but memory, which is what is resident after an hour more than before it.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]
GOALS_SET_AT = "e735bc805d5267545112d00ec2c7f37ae596df32"
ROUNDS = 9
HEADINGS = ("row", "before", "today", "gain", "goal", "", "instead")

if TYPE_CHECKING:
    from tests.bench.goals import Figure, Goal


class NotThere(Exception):
    """A version before that cannot be measured; the text says why."""


class Column(NamedTuple):
    """Whose figures these are: labkit of a folder, or another service measured beside it."""

    name: str
    package: Path
    other: str = ""


class Measured(NamedTuple):
    """The figures of a row: today's, those of the version before (None: there is none), and of others, in words."""

    today: Figure
    before: Figure | None
    instead: str


def git(*words: str, checkout: Path = CHECKOUT) -> bytes:
    """Return what git answers about this clone."""
    asked = ["git", "-C", os.fspath(checkout), *words]
    try:
        return subprocess.run(asked, capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise NotThere("git is not installed") from None
    except subprocess.CalledProcessError as error:
        raise NotThere(error.stderr.decode(errors="replace").strip()) from None


def commit_before(revision: str, checkout: Path = CHECKOUT) -> str:
    """Return the commit of a revision, of the version before unless one is named."""
    if not (checkout / ".git").exists():
        raise NotThere("this folder is no clone: clone the repository to measure a version before")
    if not revision:
        try:
            revision = git("describe", "--tags", "--abbrev=0", "HEAD^", checkout=checkout).decode().strip()
        except NotThere:
            revision = GOALS_SET_AT
    try:
        return git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", checkout=checkout).decode().strip()
    except NotThere:
        shallow = git("rev-parse", "--is-shallow-repository", checkout=checkout).decode().strip() == "true"
        hint = ": this clone is shallow, git fetch --unshallow gives it its history" if shallow else ""
        raise NotThere(f"this clone has no revision {revision}{hint}") from None


def unpack(commit: str, folder: Path, checkout: Path = CHECKOUT) -> None:
    """Unpack the package of a commit into a folder."""
    archive = git("archive", "--format=tar", commit, "labkit", checkout=checkout)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")


class Process:
    """A process that prepared a row and takes a sample whenever it is asked."""

    def __init__(self, goal: Goal, column: Column) -> None:
        given = [sys.executable, __file__, "--measure", goal.name, "--package", os.fspath(column.package)]
        self._process = subprocess.Popen(
            [*given, "--other", column.other], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._read()

    def sample(self) -> Figure:
        """Take one sample."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._read()

    def end(self) -> None:
        """End the process."""
        self._process.communicate()

    def _read(self) -> Figure:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.end()
            raise NotThere(f"the process of a row ended with {self._process.returncode}: what it printed stands above")
        figure, each_us = json.loads(line)
        return figure, each_us


def medians(goal: Goal, columns: Iterable[Column], rounds: int) -> dict[str, Figure | str]:
    """Return the medians of a row by column, of samples taken by turns; in place of a figure why there is none."""
    found: dict[str, Figure | str] = {}
    processes: dict[str, Process] = {}
    for column in columns:
        try:
            processes[column.name] = Process(goal, column)
        except NotThere as error:
            found[column.name] = str(error)
    samples: dict[str, list[Figure]] = {name: [] for name in processes}
    for number in range(min(rounds, goal.most_rounds)):
        turn = list(processes.items())
        for name, process in turn if number % 2 else reversed(turn):
            samples[name].append(process.sample())
    for name, process in processes.items():
        process.end()
        figures, microseconds = zip(*samples[name], strict=True)
        found[name] = (median(figures), median(microseconds))
    return found


def measured(goal: Goal, before: Path | None, rounds: int) -> Measured:
    """Measure one row of both versions, and of what else does the same."""
    present = [other for other in goal.others if not other.lacks()]
    columns = [Column("today", CHECKOUT), *([Column("before", before)] if before is not None else ())]
    columns += [Column(other.name, CHECKOUT, other.name) for other in present]
    found = medians(goal, columns, rounds)
    today, was = found["today"], found.get("before")
    if isinstance(today, str):
        raise NotThere(today)
    told = [f"{other.name}: {other.lacks()}" for other in goal.others if other not in present]
    told = [f"{other.name} {_short(found[other.name], goal)}" for other in present] + told
    return Measured(today, None if isinstance(was, str) else was, "; ".join(told) or "nothing else does it")


def _short(figure: Figure | str, goal: Goal) -> str:
    return figure if isinstance(figure, str) else shown(figure, goal)


def shown(figure: Figure, goal: Goal) -> str:
    """Return a figure with its unit, three digits of it, and its microseconds where it is a ratio."""
    value, each_us = figure
    digits = f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    return f"{digits} {goal.unit}{f' ({each_us:.1f} µs)' if each_us else ''}"


def cells(goal: Goal, row: Measured) -> tuple[str, ...]:
    """Return a row of the table as texts."""
    before = shown(row.before, goal) if row.before is not None else "–"
    gain = f"{goal.gain(row.before[0], row.today[0]):.2f}" if row.before is not None else "–"
    wanted = f"{'≥' if goal.is_rate else '≤'} {goal.goal:g}"
    verdict = "kept" if goal.is_kept(row.today[0]) else "MISSED"
    return goal.name, before, shown(row.today, goal), gain, wanted, verdict, row.instead


def laid_out(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return rows of texts as lines with columns; the last column is as wide as it likes."""
    rows = list(rows)
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEADINGS) - 1)]
    return ["  ".join([*map(str.ljust, row, widths), row[-1]]).rstrip() for row in rows]


def chosen(goals: Iterable[Goal], word: str) -> list[Goal]:
    """Return the goals whose name has a word in it."""
    return [goal for goal in goals if word.lower() in goal.name.lower()]


def compare(given: argparse.Namespace, measure: Callable[[Goal, Path | None, int], Measured] = measured) -> int:
    """Measure all rows and print the table; return 1 where a row cannot be measured or none has the word."""
    from tests.bench.goals import GOALS

    goals = chosen(GOALS, given.rows)
    if not goals:
        print(f"no row has {given.rows!r} in its name: {'; '.join(goal.name for goal in GOALS)}", file=sys.stderr)
        return 1
    with TemporaryDirectory() as folder:
        before: Path | None = Path(folder)
        try:
            commit = commit_before(given.revision)
            unpack(commit, Path(folder))
            print(f"before: {given.revision or 'the version before'}, {commit[:12]}; today: this folder")
        except NotThere as error:
            before = None
            print(f"before: not measured: {error}")
        rows: list[tuple[str, ...]] = [HEADINGS]
        for goal in goals:
            print(f"measuring {goal.name} ...", file=sys.stderr, flush=True)
            rows.append(cells(goal, measure(goal, before, given.rounds)))
    print(*laid_out(rows), sep="\n")
    return 0


def serve_samples(name: str, package: Path, other: str) -> None:
    """Prepare a row with the labkit of a folder; print a sample for each line that comes."""
    sys.path.insert(0, os.fspath(package))
    import labkit

    assert Path(labkit.__file__).resolve().parents[1] == package.resolve(), labkit.__file__
    sys.path[0] = os.fspath(CHECKOUT)
    from tests.bench.goals import GOALS

    (goal,) = [goal for goal in GOALS if goal.name == name]
    (instead,) = [each for each in goal.others if each.name == other] if other else [None]
    sample = goal.prepare(instead)
    print(json.dumps((0.0, 0.0)), flush=True)
    for _ in sys.stdin:
        print(json.dumps(sample()), flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Measure, or be a process that measures one row."""
    parser = argparse.ArgumentParser(prog="make bench", description="the goals of speed, today and before")
    parser.add_argument("--revision", default="", help="the version before: any tag, branch or commit of this clone")
    parser.add_argument("--rows", default="", help="only rows with this word in their name")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"samples of each row at most; {ROUNDS} unless given"
    )
    parser.add_argument("--server", default="", help="the address of a real server that may be written to")
    parser.add_argument("--token", default="", help="a root token of that server")
    parser.add_argument("--measure", default="", help=argparse.SUPPRESS)
    parser.add_argument("--package", type=Path, default=CHECKOUT, help=argparse.SUPPRESS)
    parser.add_argument("--other", default="", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.rounds < 1:
        parser.error(f"--rounds: expected a number from 1 up, got {given.rounds}")
    if given.measure:
        serve_samples(given.measure, given.package, given.other)
        return 0
    sys.path.insert(0, os.fspath(CHECKOUT))
    from tests.bench.other_services import SERVER_TOKEN, SERVER_URL

    if given.server:
        os.environ.update({SERVER_URL: given.server, SERVER_TOKEN: given.token})
    return compare(given)


if __name__ == "__main__":
    sys.exit(main())
