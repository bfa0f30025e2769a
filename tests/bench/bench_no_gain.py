"""Bench: what was tried to make a busy lab faster and gives nothing, or little, each beside the usual way.

    python tests/bench/bench_no_gain.py [rounds] [another python]

A sample is a minute of three busy clusters in processor time; samples are taken by turns, and the least of each is
set against the least of the usual way: other work on the machine only makes a sample longer.  A heap loop of one's own
cannot be put in place of the clock; what it could save at most is what the items of a minute take through the clock
more than through a bare heap.  Another interpreter needs what labkit needs, on PYTHONPATH; it runs in a process of its
own.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from heapq import heappop, heappush
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit.sim.clock import Clock, Item
from tests.bench.lab_rows import under_load

SAMPLE_S, ITEMS, WAITING = 60, 20_000, 64
SHORT: Item = ("deliver", "paris-1", None)


def minute(trace: bool = True, collector: bool = True) -> Callable[[], float]:
    """Return what takes a sample."""
    lab = under_load(trace)

    def sample() -> float:
        gc.collect()
        (gc.enable if collector else gc.disable)()
        began = process_time()
        lab.run(SAMPLE_S)
        took_s = process_time() - began
        gc.enable()
        return took_s

    return sample


def items_of_a_minute() -> int:
    """Return how many items the clock of a busy lab dispatches in a minute."""
    lab = under_load(trace=False)
    begun, count = lab.now, 0
    while lab.now < begun + SAMPLE_S * 1_000_000_000:
        lab.step()
        count += 1
    return count


def through_the_clock() -> float:
    """Seconds an item: one that fires schedules the next."""
    left = ITEMS

    def fire(item: Item) -> None:
        nonlocal left
        left -= 1
        if left >= WAITING:
            clock.at(clock.now + 1_000, item)

    clock = Clock(fire)
    for number in range(WAITING):
        clock.at(number, SHORT)
    began = process_time()
    clock.run()
    return (process_time() - began) / ITEMS


def through_a_heap() -> float:
    """Seconds an item: the same, popped from a heap and pushed onto it."""
    left, now, number = ITEMS, 0, WAITING
    heap = [(at, at, SHORT) for at in range(WAITING)]

    def fire(item: Item) -> None:
        nonlocal left, number
        left -= 1
        if left >= WAITING:
            number += 1
            heappush(heap, (now + 1_000, number, item))

    began = process_time()
    while heap:
        now, _, item = heappop(heap)
        fire(item)
    return (process_time() - began) / ITEMS


def elsewhere(python: str) -> float:
    """Return a sample of another interpreter, after one that warms it up."""
    code = "from tests.bench.bench_no_gain import minute; sample = minute(); sample(); print(min(sample(), sample()))"
    folder = Path(__file__).resolve().parents[2]
    told = subprocess.run([python, "-c", code], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return float(told.stdout)


def main(rounds: int = 7, python: str = "") -> None:
    """Print a line for each."""
    ways = {"the usual way": minute(), "collector off": minute(collector=False), "trace off": minute(trace=False)}
    took: dict[str, list[float]] = {name: [] for name in ways}
    clock_s, heap_s = [], []
    for _ in range(rounds):
        for name, sample in ways.items():
            took[name].append(sample())
        clock_s.append(through_the_clock())
        heap_s.append(through_a_heap())
        if python:
            took.setdefault(python, []).append(elsewhere(python))
    usual_s = min(took.pop("the usual way"))
    items = items_of_a_minute()
    print(f"the usual way: {usual_s:.3f} s for a minute with {items} items of the clock; times as fast:")
    for name, samples in took.items():
        print(f"{usual_s / min(samples):5.2f}  {name}")
    saved_s = items * (min(clock_s) - min(heap_s))
    each_us = f"{min(clock_s) * 1e6:.2f} µs an item in place of {min(heap_s) * 1e6:.2f}"
    print(f"{usual_s / (usual_s - saved_s):5.2f}  a heap loop of one's own, at most: {each_us}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7, sys.argv[2] if len(sys.argv) > 2 else "")
