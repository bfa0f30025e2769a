"""Drawn runs: what is drawn for a seed is played alike again, elsewhere, cut in two, and without a trace.

    python -m tests.hunt.drawn_runs [seeds] [first]

Two processes with different hash seeds play all seeds; each also plays half of them again, cut at 15 s and resumed from
a snapshot, and without a trace.  What differs is printed; the exit status is 1 then.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from labkit.hunt.drawing import drawn
from labkit.hunt.world import World, read, run_of, world_of
from labkit.scenario.running import Run
from labkit.scenario.scenario import Scenario

CHECKOUT = Path(__file__).resolve().parents[2]
SEEDS, FIRST = 60, 0
HASH_SEEDS = (1, 2)
CUT = "15s"


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
    """Play a scenario up to an instant, and return the world that goes on from a snapshot."""
    world = world_of(scenario)
    world.run(CUT)
    return World.restore(world.snapshot())


def without_trace(scenario: Scenario) -> World:
    """Build the world of a scenario that keeps nothing of messages and events."""
    world = World(scenario.blueprint, scenario.seed, trace=False)
    world.scenario = Run(world.parts, world.faults, world.invariants, scenario)
    return world


def differences(seed: int, known: dict[str, str]) -> list[str]:
    """Play a seed in every way; return those that do not end as is known."""
    scenario = read(drawn(seed).data)
    ways = {"again": world_of, "cut": cut, "without trace": without_trace}
    found = []
    for how, build in ways.items():
        end = ended(build(scenario))
        same = end["kept"] == known["kept"] if how == "without trace" else end == known
        found += [] if same else [f"seed {seed}: another run, {how}"]
    return found


def child(seeds: int, first: int, half: int) -> int:
    """Play all seeds, and one half of them in every way; print what they end with, and what differs."""
    found: dict[str, object] = {}
    wrong: list[str] = []
    for seed in range(first, first + seeds):
        known = ended(world_of(read(drawn(seed).data)))
        found[str(seed)] = known
        if seed % 2 == half:
            wrong += differences(seed, known)
    print(json.dumps({"ends": found, "wrong": wrong}))
    return 0


def compared(seeds: int = SEEDS, first: int = FIRST) -> list[str]:
    """Let two processes play; return what is not the same."""
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
        return ["a process that plays has ended early"]
    one, other = map(json.loads, texts)
    ends = [(seed, other["ends"][seed] == end) for seed, end in one["ends"].items()]
    between = [f"seed {seed}: another run in another process" for seed, same in ends if not same]
    return [*one["wrong"], *other["wrong"], *between]


def main(arguments: list[str]) -> int:
    """Compare, or be one of those that are compared."""
    numbers = [int(argument) for argument in arguments]
    if len(numbers) == 3:
        return child(*numbers)
    wrong = compared(*numbers)
    print(*wrong, f"{[*numbers, SEEDS][0]} drawn runs, {len(wrong)} not the same", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
