"""Measuring: how often a campaign of the runbook operator finds each mistake, as a table beside this file.

    python -m tests.zoo.measuring [seeds] [processes] [name ...]

1. Every mistake and every control is planted in so many drawn schedules.  What was measured before of fewer seeds is
   gone on with, unless schedules or code were others: a row keeps the digests of those that it is of.
2. Of each is kept in how many its rule broke, the first such seed, which other rules broke before, and in how many the
   trace or what is stored is not that of the clean build: a mistake that is reached and quiet is the rules' fault, one
   that is not reached the generator's.  A run ends when its rule breaks, for that is a row of its trace.
3. Seeds are 0, 1, 2 … up to the number that a row has as ``seeds``.  The pinned size is so many that one of them finds
   it with 95 %: ln(0.05) / ln(1 - low), rounded up, where low is Wilson's lower bound of the rate, with 95 %.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import labkit
from labkit.hunt.drawing import drawn
from labkit.hunt.findings import EXCEPTION
from labkit.hunt.swarm import RUNBOOK
from labkit.hunt.world import World, read, run_of, world_of
from labkit.scenario.many.many_runs import rate_bounds
from labkit.scenario.scenario import Scenario
from tests.zoo.mistakes import CONTROLS, ZOO
from tests.zoo.planting import planted

TABLE = Path(__file__).with_name("rates.json")
CODE = (Path(labkit.__file__).parent, Path(__file__).parent)
SURE = 0.95
CHUNK, PART = 10, 100
Result = TypeVar("Result")


class Ended(NamedTuple):
    """What stands for the trace of a run, and for what its clusters store at its end."""

    trace: str
    stored: str


class Played(NamedTuple):
    """What became of a seed: which rules broke, and whether its run is not that of the clean build."""

    broken: tuple[str, ...]
    differs: bool


def play(seed: int, name: str, clean: Ended | None = None) -> Played:
    """Play a seed with a mistake in the code until its rule breaks; without the clean run, only rules are looked at."""
    mistake = ZOO.get(name) or CONTROLS[name]
    with planted(mistake):
        world = world_of(_scenario(seed))
        run, broken = run_of(world), world.invariants.broken
        try:
            world.run(until=lambda world: mistake.rule in broken or run.ended)
        except TimeoutError:  # with a mistake, somebody may wait for good; that is no exception of labkit
            return Played(tuple(sorted(broken)), differs=True)
        except Exception:
            return Played((EXCEPTION, *sorted(broken)), differs=True)
        return Played(tuple(sorted(broken)), mistake.rule in broken or (clean is not None and _differs(world, clean)))


def play_clean(seed: int) -> Ended:
    """Play a seed without a mistake."""
    world = world_of(_scenario(seed)).run()
    return Ended(world.trace.digest(), _stored(world))


@lru_cache(PART)
def _scenario(seed: int) -> Scenario:
    return read(drawn(seed, RUNBOOK).data)


def _differs(world: World, clean: Ended) -> bool:
    return _stored(world) != clean.stored or world.trace.digest() != clean.trace


def _stored(world: World) -> str:
    digest = blake2b(digest_size=8)
    for name, store in world.parts.stores.items():
        for key in store.keys():  # noqa: SIM118 - a store is no dict
            digest.update(f"{name} {key} ".encode() + (store.get(key) or b""))
    return digest.hexdigest()


def grown(name: str, seeds: range, results: list[Played], before: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the table with what some seeds showed beside what it says."""
    rule = ZOO[name].rule if name in ZOO else ""
    hits = [seed for seed, result in zip(seeds, results, strict=True) if rule in result.broken]
    found = before.get("found", 0) + len(hits)
    return {
        "schedules": schedules(seeds.stop),
        "code": code(),
        "seeds": seeds.stop,
        "found": found,
        "first": before["first"] if before.get("found") else min(hits, default=-1),
        "pinned": pinned(found, seeds.stop),
        "differ": before.get("differ", 0) + sum(result.differs for result in results),
        "other rules": sorted(
            {*before.get("other rules", ()), *chain.from_iterable(one.broken for one in results)} - {rule}
        ),
    }


@lru_cache(8)
def schedules(seeds: int) -> str:
    """Return what stands for the schedules of the seeds below a number."""
    digest = blake2b(digest_size=8)
    for seed in range(seeds):
        digest.update(json.dumps(drawn(seed, RUNBOOK).data).encode())
    return digest.hexdigest()


@lru_cache(1)
def code() -> str:
    """Return what stands for labkit, and for what is planted in it."""
    digest = blake2b(digest_size=8)
    for path in sorted(path for folder in CODE for path in folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def pinned(found: int, seeds: int) -> int:
    """Return so many seeds that one of them finds it with 95 %, by the lower bound of its rate; 0 for never."""
    low = rate_bounds(found, seeds)[0] if found else 0.0
    return math.ceil(math.log(1 - SURE) / math.log(1 - low)) if 0 < low < 1 else int(low >= 1)


def in_processes(work: Callable[..., Result], jobs: int, *given: Iterable[Any]) -> Iterator[Result]:
    """Yield what work returns for each seed, in order, in this process or in several."""
    if jobs == 1:
        yield from map(work, *given)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, *given, chunksize=CHUNK)


def measured(name: str, seeds: range, clean: list[Ended], jobs: int) -> dict[str, Any]:
    """Bring the row of a mistake to the end of some seeds, write the table, and return the row."""
    table: dict[str, Any] = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    row = table.get(name, {})
    if (row.get("schedules"), row.get("code")) != (schedules(row.get("seeds", 0)), code()):
        row = {}
    left = range(row.get("seeds", 0), seeds.stop)
    if left:
        results = in_processes(partial(_play, name), jobs, left, clean[left.start - seeds.start :])
        row = table[name] = grown(name, left, list(results), row)
        TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")
    return dict(row)


def _play(name: str, seed: int, clean: Ended) -> Played:
    return play(seed, name, clean)


def main(arguments: list[str]) -> int:
    """Measure a part of the seeds of every mistake, then the next part."""
    numbers = [int(text) for text in arguments if text.isdigit()]
    total, jobs = [*numbers, *(100, 1)[len(numbers) :]]
    names = [text for text in arguments if not text.isdigit()] or [*ZOO, *CONTROLS]
    for start in range(0, total, PART):
        seeds = range(start, min(total, start + PART))
        clean = list(in_processes(play_clean, jobs, seeds))
        for name in names:
            print(f"{name}: {measured(name, seeds, clean, jobs)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
