"""Acceptance: what searches for failures finds what is planted, accuses nothing else, and is the same everywhere.

    python -m tests.hunt.acceptance

Six mistakes are found within their pinned numbers of schedules, made small, and break alike in processes with different
hash seeds; 200 schedules of the shipped code break nothing, and the canary is found; no fault of a shipped scenario is
without effect; ``when`` names the instant at which luck is decided; 400 runs that are swept come to the same rows in
processes and on Dask, of which each loses one; 60 drawn runs are the same in every way of playing them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

import distributed

from labkit.hunt.campaign import Plan
from labkit.hunt.drawing import drawn
from labkit.hunt.explore import explored
from labkit.hunt.no_return.breaking_runs import written_run
from labkit.hunt.no_return.other_luck import MAX_BRANCHES, curve_of
from labkit.hunt.playing import play
from labkit.hunt.shrinking.handing_over import hand_over
from labkit.hunt.swarm import RUNBOOK
from labkit.hunt.sweeping.chunks import Chunk, PlayedChunk, Reference, Workers
from labkit.hunt.sweeping.dask_workers import dask_workers
from labkit.hunt.sweeping.experiments import experiments_of
from labkit.hunt.sweeping.local_workers import local_workers
from labkit.hunt.sweeping.row_file import appending
from labkit.hunt.sweeping.settings import read_settings
from labkit.hunt.sweeping.sweep import Sweep, sweep_into
from labkit.hunt.world import run_of, world_of
from labkit.lab.fault_meters import FaultMeters
from labkit.places import shipped_scenarios
from labkit.scenario.loading import load, load_all, loads
from labkit.scenario.measures import UNKNOWN
from labkit.scenario.witnesses import rows_of_effects
from labkit.service.durations import SECOND_NS
from tests.hunt import drawn_runs
from tests.hunt.sweeping.conftest import TEXT
from tests.zoo.measuring import TABLE
from tests.zoo.mistakes import ZOO
from tests.zoo.planting import planted

CHECKOUT = Path(__file__).resolve().parents[2]
LOSSY, CRASH_NS = CHECKOUT / "tests/zoo/lossy.yaml", 8 * SECOND_NS
CLEAN_SEEDS, SWEPT_SEEDS, DIES_AFTER = 200, 200, 5
BREAKS = "breaks"
MISTAKES = ("gives-up", "drops-a-key", "version-reused", "gap-ignored", "stream-from-newest", "deletions-forgotten")
PINNED: dict[str, int] = {name: row["pinned"] for name, row in json.loads(TABLE.read_text()).items()}
"""{mistake: how many schedules find it, by the measured rates of the zoo}."""


def found(name: str) -> str:
    """Look for a mistake in its schedules; return its file as a text, or else why there is none after a line break."""
    mistake = ZOO[name]
    with planted(mistake):
        for seed in range(PINNED[name]):
            for finding in play(seed, RUNBOOK, None).findings:
                file = hand_over(drawn(seed), finding, RUNBOOK)
                if finding.signature.rule == mistake.rule and file is not None:
                    return file.text
    return f"\n{name}: not found in {PINNED[name]} schedules, or not handed over"


def how_it_breaks(name: str, path: str) -> str:
    """Play a found file with its mistake; return what breaks, when, and the digest of the trace."""
    with planted(ZOO[name]):
        world = world_of(load(path))
        world.run()
    broken = world.invariants.broken.get(ZOO[name].rule)
    return f"{broken} {world.trace.digest()}" if broken is not None else "nothing"


def mistakes(pool: ProcessPoolExecutor, folder: Path) -> Iterator[str]:
    """Yield what is wrong with the search for planted mistakes."""
    for name, text in zip(MISTAKES, pool.map(found, MISTAKES), strict=True):
        if text.startswith("\n"):
            yield text.strip()
            continue
        path = folder / f"{name}.lab.yaml"
        path.write_text(text)
        ends = {_elsewhere(hash_seed, BREAKS, name, str(path)) for hash_seed in (1, 2)}
        if len(ends) != 1 or ends == {"nothing\n"}:
            yield f"{name}: its file does not break alike: {ends}"
        world = world_of(loads(text.encode()))
        world.run()
        if ZOO[name].rule in world.invariants.broken:
            yield f"{name}: its file breaks without the mistake"


def _elsewhere(hash_seed: int, *arguments: str) -> str:
    command = [sys.executable, "-m", "tests.hunt.acceptance", *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    return subprocess.run(command, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def clean() -> Iterator[str]:
    """Yield what a campaign says of the shipped code."""
    exploration = explored(Plan(seeds=CLEAN_SEEDS), jobs=2)
    if exploration.exit_code or exploration.canary is None:
        yield f"the shipped code: exit code {exploration.exit_code}\n{exploration}"


def inert(name: str) -> list[str]:
    """Return the faults of a shipped scenario that had no effect."""
    wrong = []
    for scenario in load_all(shipped_scenarios()[name])[:1]:
        world = world_of(scenario)
        world.run()
        rows = rows_of_effects(scenario.timeline, run_of(world).faults, FaultMeters(world.parts))
        wrong += [f"{name}: {row.key} {row.measured}" for row in rows if row.status == UNKNOWN]
    return wrong


def lucky() -> Iterator[str]:
    """Yield what is wrong with where luck is decided in a file of which that is known."""
    curve = curve_of(written_run(load(LOSSY)), "lost")
    change = curve.change
    if change is None or not change[0].at_ns <= CRASH_NS <= change[1].at_ns or curve.branches > MAX_BRANCHES:
        yield f"when: {curve.branches} branches, {change}"


def swept(folder: Path) -> Iterator[str]:
    """Yield a line where processes and Dask, each of which loses one, do not come to the same rows."""
    file = folder / "swept.lab.yaml"
    file.write_text(TEXT)
    experiments = experiments_of(str(file), read_settings(["lab.links.0.latency=10ms,19ms"]))
    digests = []
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        for name, workers in (("local", local_workers(2)), ("dask", dask_workers(cluster.scheduler_address))):
            with appending(str(folder / name)) as writer:
                sweep_into(writer, Sweep(experiments, SWEPT_SEEDS, _with_a_death(workers)))
                digests.append((len(writer.rows.seeds), writer.rows.digest))
    if digests != [(2 * SWEPT_SEEDS, digests[0][1])] * 2:
        yield f"sweeps differ: {digests}"


def _with_a_death(workers: Workers) -> Workers:
    """Kill the process that has played the fifth chunk."""

    def play_on(chunks: Sequence[Chunk], reference: Reference) -> Iterator[PlayedChunk]:
        for number, played in enumerate(workers(chunks, reference), 1):
            if number == DIES_AFTER:
                os.kill(int(played.worker.split()[1]), signal.SIGKILL)
            yield played

    return play_on


def accepted() -> int:
    """Try everything; print a line for each, and what is wrong below it; return 1 if anything is."""
    failed = False
    with tempfile.TemporaryDirectory() as name, ProcessPoolExecutor(2, get_context("spawn")) as pool:
        tried: dict[str, Callable[[], Iterator[str] | list[str]]] = {
            f"{len(MISTAKES)} mistakes": lambda: mistakes(pool, Path(name)),
            f"{CLEAN_SEEDS} schedules of the shipped code, and the canary": clean,
            "faults of shipped scenarios": lambda: list(chain.from_iterable(pool.map(inert, shipped_scenarios()))),
            "where luck is decided": lucky,
            f"{2 * SWEPT_SEEDS} runs swept in processes and on Dask": lambda: swept(Path(name)),
            f"{drawn_runs.SEEDS} drawn runs, in every way": drawn_runs.compared,
        }
        for what, check in tried.items():
            wrong = list(check())
            print(f"{what}: {'as wanted' if not wrong else 'not as wanted'}", *wrong, sep="\n  ", flush=True)
            failed = failed or bool(wrong)
    return failed


def main(arguments: list[str]) -> int:
    """Try everything, or play one found file."""
    if arguments[:1] == [BREAKS]:
        print(how_it_breaks(*arguments[1:]))
        return 0
    return accepted()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
