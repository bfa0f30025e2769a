"""Mutants: make small mistakes in the package, one at a time, and see whether the tests of that module notice.

    python -m tests.mutants [--seed 1] [--count 40] [--under 85] [room …]

A room is a package of labkit, or `root`: the modules that stand beside the packages.  Of each, so many mistakes are
drawn from all that can be made in it; each is made in a copy of the checkout, and the test file that mirrors its module
is run there, without the tests marked slow but with all examples of properties.  A mistake that no test noticed is
printed with its file and line; the exit status is 1 when a room's tests notice too few.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tests import environment
from tests.mutants.mutations import Mutation, mutate, sites

CHECKOUT = Path(__file__).resolve().parents[2]
ROOT = "root"
ROOMS = (ROOT, *sorted(place.parent.name for place in (CHECKOUT / "labkit").glob("*/__init__.py")))
WORKERS = 2

# A mistake may make a loop endless or a list grow without bound.  How long the tests of a file may take: so many times
# what they take without a mistake, and so much more.
PATIENCE = 5
PATIENCE_S = 20
MAX_CLEAN_RUN_S = 3_600
MEMORY_BYTES = 4 << 30
PYTEST = (
    f"import resource, sys, pytest; resource.setrlimit(resource.RLIMIT_AS, ({MEMORY_BYTES}, {MEMORY_BYTES})); "
    "sys.exit(pytest.main(sys.argv[1:]))"
)
OPTIONS = (
    *("-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-m", "not slow"),
    *("--hypothesis-profile=whole", "--hypothesis-seed=0"),
)

NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "build", "dist")
READ_BY_TESTS = {".github"}


class Mutant(NamedTuple):
    """A module, as a path relative to the checkout, with one mistake."""

    module: Path
    mutation: Mutation


def mirrored(module: Path) -> Path:
    """The test file of a module, both relative to the checkout."""
    place = Path("tests", *module.parts[1:])
    if place.stem != "__init__":
        return place.with_name(f"test_{place.name}")
    package = module.parent
    return Path("tests", *package.parts[1:-1], f"test_{package.name}.py")


def draw(checkout: Path, room: str, seed: int, count: int) -> list[Mutant]:
    """Draw from all mistakes that can be made in a room; all are equally likely."""
    found = []
    package = checkout / "labkit"
    for path in sorted(package.glob("*.py") if room == ROOT else (package / room).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        found += [(path.relative_to(checkout), source, site) for site in sites(source)]
    drawn = random.Random(f"{room} {seed}").sample(found, min(count, len(found)))
    return [Mutant(module, mutate(source, site)) for module, source, site in drawn]


class Copy:
    """A copy of the checkout, in which one module at a time has a mistake."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        self.folder = folder
        self.clock_s = 1_000_000_000
        shutil.copytree(checkout, folder, ignore=lambda *found: set(NOT_COPIED(*found)) - READ_BY_TESTS)

    def notices(self, mutant: Mutant, limit_s: float) -> bool:
        """Whether the mirrored test file fails, or takes longer than the limit."""
        original = (self.folder / mutant.module).read_text(encoding="utf-8")
        self._write(mutant.module, mutant.mutation.source)
        try:
            return self.run([mirrored(mutant.module)], limit_s) != 0
        finally:
            self._write(mutant.module, original)

    def run(self, files: Sequence[Path], limit_s: float, *options: str) -> int:
        """Run test files; return the exit status, or -1 when they had to be stopped."""
        process = subprocess.Popen(
            [sys.executable, "-c", PYTEST, *OPTIONS, *options, *map(str, files)],
            cwd=self.folder,
            env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return -1
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _write(self, module: Path, source: str) -> None:
        """Write a module at an instant of its own, so that no compiled module of another text passes for it."""
        path = self.folder / module
        path.write_text(source, encoding="utf-8")
        self.clock_s += 1
        os.utime(path, (self.clock_s, self.clock_s))


def durations_s(clean: Copy, files: Sequence[Path]) -> dict[Path, float]:
    """How long each test file takes where nothing is wrong; SystemExit when one fails, with the tests that do."""
    report = clean.folder.with_name("report.xml")
    status = clean.run(files, MAX_CLEAN_RUN_S, f"--junitxml={report}", "-o", "junit_family=xunit1")
    cases = list(ElementTree.parse(report).iter("testcase")) if report.is_file() else []
    if status != 0:
        reasons = [text for case in cases for text in _failure(case)]
        reasons = reasons or [f"pytest was stopped after {MAX_CLEAN_RUN_S} s" if status == -1 else f"status {status}"]
        command = f"python -m pytest {' '.join(map(str, files))}"
        raise SystemExit("\n  ".join(["the tests fail without any mistake; mend them first:", *reasons, command]))
    taken: Counter[str] = Counter()
    for case in cases:
        taken[case.attrib["file"]] += float(case.attrib["time"])  # type: ignore[assignment]  # seconds add up too
    return {path: taken[str(path)] for path in files}


def _failure(case: ElementTree.Element) -> list[str]:
    """The name of a test that failed, and the first line of why; nothing for one that passed."""
    place = f"{case.get('file', case.get('classname'))}::{case.get('name')}"
    found = [*case.findall("failure"), *case.findall("error")]
    return [f"{place}: {each.get('message', '').partition(chr(10))[0]}" for each in found]


def judge(clean: Copy, mutants: Sequence[Mutant]) -> list[bool]:
    """Whether each mistake is noticed, in the order of the list."""
    limits_s = durations_s(clean, sorted({mirrored(mutant.module) for mutant in mutants}))
    copies: SimpleQueue[Copy] = SimpleQueue()
    for number in range(WORKERS):
        copies.put(Copy(clean.folder, clean.folder.with_name(f"copy-{number}")))

    def noticed(mutant: Mutant) -> bool:
        place = copies.get()
        try:
            return place.notices(mutant, PATIENCE * limits_s[mirrored(mutant.module)] + PATIENCE_S)
        finally:
            copies.put(place)

    with ThreadPoolExecutor(WORKERS) as workers:
        return list(workers.map(noticed, mutants))


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge each room, print what no test noticed, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Do the tests notice small mistakes?")
    parser.add_argument("rooms", nargs="*", default=ROOMS, metavar="room", help=", ".join(ROOMS))
    parser.add_argument("--seed", type=int, default=1, help="which mistakes are drawn (default 1)")
    parser.add_argument("--count", type=int, default=40, help="how many of each room (default 40)")
    parser.add_argument("--under", type=float, default=85, help="percent that must be noticed (default 85)")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    home = environment.isolate()  # once for all: tests that are stopped do not remove one of their own
    try:
        with tempfile.TemporaryDirectory(prefix="labkit-mutants-") as folder:
            clean = Copy(CHECKOUT, Path(folder) / "clean")
            drawn = [
                (room, it) for room in options.rooms for it in draw(clean.folder, room, options.seed, options.count)
            ]
            noticed = judge(clean, [mutant for _, mutant in drawn])
    finally:
        environment.remove(home)
    status = 0
    for room in options.rooms:
        results = [(mutant, seen) for (its, mutant), seen in zip(drawn, noticed, strict=True) if its == room]
        for mutant, seen in results:
            if not seen:
                print(f"survived: {mutant.module}:{mutant.mutation}")
        share = 100 * sum(seen for _, seen in results) / len(results)
        print(f"{room}: {sum(seen for _, seen in results)} of {len(results)} noticed, {share:.0f} %", flush=True)
        status |= share < options.under
    print(f"seed {options.seed}, {time.monotonic() - started:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
