"""Bench: what a fresh process takes to its first answer, against one that loads a cipher and encrypts once.

    python tests/bench/bench_start.py [rounds]

All processes of a round are started one after the other, and set against the floor of that round; the median of the
rounds is printed.  Processor time is compared, start and end of the process included, as other programs of the machine
take none of it; what the clock says stands behind.  Everything was run once before, so that the compiled modules are
there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]

FLOOR = """
import json, os
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
AESGCM(os.urandom(32)).encrypt(os.urandom(12), json.dumps({"user": "ada"}).encode(), None)
"""

START = """
from labkit import Vault
vault = Vault.dev()
"""

ANSWERS = {
    "first answer of KV": 'answer = vault.post("secret/data/app", {"data": {"user": "ada"}})',
    "first answer of transit": 'answer = vault.post("transit/encrypt/app", {"plaintext": "YWRh"})',
}

AGAIN = """
import time
start = time.perf_counter_ns()
Vault.dev()
print(time.perf_counter_ns() - start)
"""

# The most that was resident, as the process itself sees it: what its parent is told includes the parent's own.
PEAK = """
print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""

GOAL = 1.5
GOAL_AGAIN_MS = 0.3
GOAL_MEMORY = 3.0


class Ran(NamedTuple):
    """What a fresh process took, in seconds of the processor and by the clock, and what it printed."""

    processor_s: float
    clock_s: float
    printed: str


def run(code: str, folder: Path = CHECKOUT) -> Ran:
    """Run code in a fresh process; ``folder``: whose labkit it is."""
    before, start = children_s(), time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=True
    )
    return Ran(children_s() - before, time.perf_counter() - start, ran.stdout)


def children_s() -> float:
    """Return the processor time of all processes that were started and have ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def first_answer(folder: Path = CHECKOUT) -> Callable[[], float]:
    """Return what measures how many times the floor the first answer of KV takes, by the labkit of a folder."""
    program = answered(ANSWERS["first answer of KV"])
    run(program, folder)  # the compiled modules are there from now on
    return lambda: run(program, folder).processor_s / run(FLOOR, folder).processor_s


def answered(line: str) -> str:
    """Return the program that starts a vault and gets one answer."""
    return f"{START}{line}\nif answer.status != 200: raise SystemExit(str(answer.errors))\n"


def import_times(program: str) -> list[str]:
    """Return what the modules take that a program loads: each package's own time, the longest first (-X importtime)."""
    traced = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program],
        cwd=CHECKOUT,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    own_us: Counter[str] = Counter()
    for line in traced.stderr.splitlines():
        own, _, name = line.removeprefix("import time:").split("|")
        if own.strip().isdigit():
            package = name.strip().split(".")[0]
            own_us[package if package in ("labkit", "cryptography") else "everything else"] += int(own)
    return [f"            {took_us / 1e3:6.1f} ms to load {package}" for package, took_us in own_us.most_common()]


def main(rounds: int = 15) -> None:
    """Measure, and print a line each: ratio or figure, and its goal; of a missed ratio also what loading takes."""
    programs = {what: answered(line) for what, line in ANSWERS.items()}
    floors: list[float] = []
    ratios: dict[str, list[float]] = {what: [] for what in programs}
    by_clock: dict[str, list[float]] = {what: [] for what in programs}
    again_ms: list[float] = []
    for round_number in range(-1, rounds):
        floor = run(FLOOR)
        took = {what: run(program) for what, program in programs.items()}
        second_ns = int(run(START + AGAIN).printed)
        if round_number >= 0:  # the one before wrote the compiled modules
            floors.append(floor.processor_s)
            again_ms.append(second_ns / 1e6)
            for what, ran in took.items():
                ratios[what].append(ran.processor_s / floor.processor_s)
                by_clock[what].append(ran.clock_s / floor.clock_s)
    for what, found in ratios.items():
        print(told(what, median(found), "×", GOAL), f"({median(by_clock[what]):.2f} by the clock)")
        if median(found) > GOAL:
            print(*import_times(programs[what]), sep="\n")
    print(told("second Vault.dev() of a process", median(again_ms), "ms", GOAL_AGAIN_MS))
    if Path("/proc/self/status").exists():
        bare = int(run(PEAK).printed)
        for what, program in programs.items():
            print(told(f"peak memory, {what}", int(run(program + PEAK).printed) / bare, "×", GOAL_MEMORY))
    print(f"medians of {rounds} rounds; the floor takes {median(floors) * 1e3:.1f} ms")


def told(what: str, figure: float, unit: str, goal: float) -> str:
    """One line of the answer."""
    return f"{figure:6.2f} {unit:2}  {what}   goal {goal} {unit}: {'kept' if figure <= goal else 'MISSED'}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
