"""Drawn runs: what is drawn for a seed ends alike in another process, cut in four, played again and without a trace.

    python -m tests.hunt.drawn_runs [seeds] [first]

A hundred seeds at a time are played by two processes with different hash seeds, whose ends are compared.  The one plays
them in order; the other backwards, so that what ran before a seed is never the same, and cut at three drawn instants,
going on from a snapshot each time.  Each plays every second seed again, at once, without a trace.  A seed that does not
end alike is played in each way by itself, so that the way is named.  Every hundred is reported, from which an
interrupted call can go on; the exit status is 1 if anything was not the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from random import Random

from labkit.hunt.drawing import drawn
from labkit.hunt.world import World, read, run_of, world_of
from labkit.scenario.running import Run
from labkit.scenario.scenario import Scenario

CHECKOUT = Path(__file__).resolve().parents[2]
SEEDS, FIRST, AT_ONCE = 60, 0, 100
HASH_SEEDS = (1, 2)
CUTS, LAST_CUT_MS = 3, 60_000


def ended(world: World) -> dict[str, str]:
    """Play a world to its end; return the digest of its trace, and one of what is stored and was answered."""
    world.run()
    kept = hashlib.sha256()
    for cluster, store in sorted(world.parts.stores.items()):
        for key, value in sorted(store.state()["items"].items()):
            kept.update(f"{cluster} {key} {value.hex()}\n".encode())
    kept.update(f"{world.now} {world.network.delivered} {len(world.ledger.writes)} {run_of(world).results}".encode())
    return {"trace": world.trace.digest(), "kept": kept.hexdigest()}


def cut(scenario: Scenario) -> World:
    """Play a scenario up to three instants that its seed draws, going on from a snapshot at each; return the world."""
    world, random = world_of(scenario), Random(scenario.seed)
    instants_ms = sorted(random.randrange(LAST_CUT_MS) for _ in range(CUTS))
    for before_ms, at_ms in pairwise([0, *instants_ms]):
        world.run(f"{at_ms - before_ms}ms")
        world = World.restore(world.snapshot())
    return world


def without_trace(scenario: Scenario) -> World:
    """Build the world of a scenario that keeps nothing of messages and events."""
    world = World(scenario.blueprint, scenario.seed, trace=False)
    world.scenario = Run(world.parts, world.faults, world.invariants, scenario)
    return world


def child(seeds: int, first: int, half: int) -> int:
    """Play all seeds, and one half of them again without a trace; print what they end with, and what differs."""
    backwards = bool(half)
    ends: dict[int, dict[str, str]] = {}
    wrong: list[str] = []
    for seed in sorted(range(first, first + seeds), reverse=backwards):
        scenario = read(drawn(seed).data)
        ends[seed] = ended(cut(scenario) if backwards else world_of(scenario))
        if seed % 2 == half and ended(without_trace(scenario))["kept"] != ends[seed]["kept"]:
            wrong.append(f"seed {seed}: another run, without trace")
    print(json.dumps({"ends": ends, "wrong": wrong}))
    return 0


def named(seed: int) -> list[str]:
    """Say in which way a seed does not end alike, after its two processes did not agree."""
    scenario = read(drawn(seed).data)
    known = ended(world_of(scenario))
    ways = [how for how, build in {"again": world_of, "cut": cut}.items() if ended(build(scenario)) != known]
    return [f"seed {seed}: another run, {how}" for how in ways or ["in another process"]]


def alike(seeds: int, first: int) -> list[str]:
    """Let two processes play a few seeds; return what is not the same."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.hunt.drawn_runs", str(seeds), str(first), str(half)],
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
            stdout=subprocess.PIPE,
        )
        for half, hash_seed in enumerate(HASH_SEEDS)
    ]
    texts = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        return [f"seeds {first} to {first + seeds - 1}: a process that plays them has ended early"]
    one, other = map(json.loads, texts)
    parted = [int(seed) for seed, end in one["ends"].items() if other["ends"][seed] != end]
    return [*one["wrong"], *other["wrong"], *(line for seed in parted for line in named(seed))]


def compared(seeds: int = SEEDS, first: int = FIRST) -> list[str]:
    """Compare seeds, a hundred at a time; report each hundred on standard error; return what is not the same."""
    wrong: list[str] = []
    for start in range(first, first + seeds, AT_ONCE):
        count = min(AT_ONCE, first + seeds - start)
        found = alike(count, start)
        print(*found, f"seeds {start} to {start + count - 1}: {len(found)} not the same", sep="\n", file=sys.stderr)
        wrong += found
    return wrong


def main(arguments: list[str]) -> int:
    """Compare, or be one of those that are compared."""
    numbers = [int(argument) for argument in arguments]
    if len(numbers) == 3:
        return child(*numbers)
    wrong = compared(*numbers)
    print(f"{[*numbers, SEEDS][0]} drawn runs, {len(wrong)} not the same")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
