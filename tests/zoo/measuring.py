"""Measuring: how often a campaign of the runbook operator finds each mistake, as a table beside this file.

    python -m tests.zoo.measuring [seeds] [processes] [name ...]

1. Every mistake and every control is planted in so many drawn schedules.  What was measured before of fewer seeds is
   gone on with, unless the schedules were others: a row keeps the digest of those that it is of.
2. Of each is kept in how many its rule broke, the first such seed, which other rules broke, and in how many trace or
   stored bytes are not those of the clean build: a mistake that is reached and quiet is the rules' fault, one that is
   not reached the generator's.
3. Seeds are 0, 1, 2 … up to the number that a row has as ``seeds``.  The pinned size is so many that one of them finds
   it with 95 %: ln(0.05) / ln(1 - low), rounded up, where low is Wilson's lower bound of the rate, with 95 %.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from labkit.hunt.drawing import drawn
from labkit.hunt.findings import EXCEPTION
from labkit.hunt.swarm import RUNBOOK
from labkit.hunt.world import World, read, world_of
from labkit.scenario.many.many_runs import rate_bounds
from tests.zoo.mistakes import CONTROLS, ZOO
from tests.zoo.planting import planted

TABLE = Path(__file__).with_name("rates.json")
CLEAN, SURE = "clean", 0.95
CHUNK, PART = 10, 100


class Played(NamedTuple):
    """What became of a seed: which rules broke, and what stands for its trace and for what its clusters store."""

    broken: tuple[str, ...]
    trace: str
    stored: str


def play(seed: int, name: str) -> Played:
    """Play a seed with a mistake in the code."""
    mistake = ZOO.get(name) or CONTROLS[name]
    with planted(mistake):
        world = world_of(read(drawn(seed, RUNBOOK).data))
        try:
            world.run()
        except Exception:
            return Played((EXCEPTION, *sorted(world.invariants.broken)), "", "")
        return Played(tuple(sorted(world.invariants.broken)), world.trace.digest(), _stored(world))


def _stored(world: World) -> str:
    digest = blake2b(digest_size=8)
    for name, store in world.parts.stores.items():
        for key in store.keys():  # noqa: SIM118 - a store is no dict
            digest.update(f"{name} {key} ".encode() + (store.get(key) or b""))
    return digest.hexdigest()


def grown(
    name: str, seeds: range, results: list[Played], clean: list[Played], before: dict[str, Any]
) -> dict[str, Any]:
    """Return a row of the table with what some seeds showed, and the same of the clean build, beside what it says."""
    rule = ZOO[name].rule if name in ZOO else ""
    hits = [seed for seed, result in zip(seeds, results, strict=True) if rule in result.broken]
    others = set(chain.from_iterable(result.broken for result in results)) - {rule}
    compared = list(zip(results, clean, strict=True))
    found = before.get("found", 0) + len(hits)
    return {
        "schedules": schedules(seeds.stop),
        "seeds": seeds.stop,
        "found": found,
        "first": before.get("first", hits[0] if hits else -1) if before.get("found") else hits[0] if hits else -1,
        "pinned": pinned(found, seeds.stop),
        "trace differs": before.get("trace differs", 0) + sum(one.trace != other.trace for one, other in compared),
        "stores differ": before.get("stores differ", 0) + sum(one.stored != other.stored for one, other in compared),
        "other rules": sorted({*before.get("other rules", ()), *others}),
    }


@lru_cache(8)
def schedules(seeds: int) -> str:
    """Return what stands for the schedules of the seeds below a number."""
    digest = blake2b(digest_size=8)
    for seed in range(seeds):
        digest.update(json.dumps(drawn(seed, RUNBOOK).data).encode())
    return digest.hexdigest()


def pinned(found: int, seeds: int) -> int:
    """Return so many seeds that one of them finds it with 95 %, by the lower bound of its rate; 0 for never."""
    low = rate_bounds(found, seeds)[0] if found else 0.0
    return math.ceil(math.log(1 - SURE) / math.log(1 - low)) if 0 < low < 1 else int(low >= 1)


def in_processes(work: Any, given: range, jobs: int) -> Iterator[Played]:
    """Yield what work returns for each seed, in order, in this process or in several."""
    if jobs == 1:
        yield from map(work, given)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, given, chunksize=CHUNK)


def measured(name: str, seeds: range, clean: list[Played], jobs: int) -> dict[str, Any]:
    """Bring the row of a mistake to the end of some seeds, write the table, and return the row."""
    table: dict[str, Any] = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    row = table.get(name, {})
    if row.get("schedules") != schedules(row.get("seeds", 0)):
        row = {}
    left = range(row.get("seeds", 0), seeds.stop)
    if left:
        same = clean[left.start - seeds.start :]
        results = same if name == CLEAN else list(in_processes(partial(play, name=name), left, jobs))
        row = table[name] = grown(name, left, results, same, row)
        TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")
    return dict(row)


def main(arguments: list[str]) -> int:
    """Measure a part of the seeds of every mistake, then the next part."""
    numbers = [int(text) for text in arguments if text.isdigit()]
    total, jobs = [*numbers, *(100, 1)[len(numbers) :]]
    names = [text for text in arguments if not text.isdigit()] or [*ZOO, *CONTROLS]
    for start in range(0, total, PART):
        seeds = range(start, min(total, start + PART))
        clean = list(in_processes(partial(play, name=CLEAN), seeds, jobs))
        for name in names:
            print(f"{name}: {measured(name, seeds, clean, jobs)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
