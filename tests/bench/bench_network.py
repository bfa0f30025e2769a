"""Bench: what a message between two simulated nodes costs, against pushing and popping it on a heap.

    python tests/bench/bench_network.py [rounds]

All measures of a round are taken one after the other, and set against the floor of that round; the median of
the rounds is printed.  64 messages are always under way, among eight hosts at two sites.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from pathlib import Path
from statistics import median

import simpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit.sim.clock import Clock, Item
from labkit.sim.latency import Latency
from labkit.sim.network import Network
from labkit.sim.random_streams import RandomStreams
from labkit.sim.topology import Link, Topology
from labkit.trace import Trace

MESSAGES = 20_000
UNDER_WAY = 64
HOSTS = tuple(f"{site}-{number}" for number in range(4) for site in ("paris", "tokyo"))

SHORT: Item = ("deliver", "paris-1", None)  # what is in a message makes no difference to a heap

CONSTANT = Link(between=("paris", "tokyo"), latency=Latency.constant(120_000_000))
JITTER = Link(between=("paris", "tokyo"), latency=Latency.constant(120_000_000), jitter_ns=10_000_000)
ROUGH = Link(
    between=("paris", "tokyo"),
    latency=Latency.normal(120_000_000, 5_000_000),
    jitter_ns=10_000_000,
    loss_ppm=1_000,
    bandwidth_bps=1_000_000_000,
)


def floor(entries: list[tuple[int, int, Item]]) -> float:
    """Seconds a message: the same times, pushed and popped in the order in which the network does it."""
    heap = entries[:UNDER_WAY]
    heap.sort()
    start = time.perf_counter()
    for entry in entries[UNDER_WAY:]:
        heappop(heap)
        heappush(heap, entry)
    while heap:
        heappop(heap)
    return (time.perf_counter() - start) / MESSAGES


def raw_simpy() -> float:
    """Seconds a message: one timeout with one callback, which starts the next."""
    world = simpy.Environment()
    left = MESSAGES

    def arrive(event: simpy.Event) -> None:
        nonlocal left
        left -= 1
        if left >= UNDER_WAY:
            world.timeout(120_000_000, event.value).callbacks.append(arrive)

    for number in range(UNDER_WAY):
        world.timeout(number * 1_900_000, ("deliver", "paris-1", number)).callbacks.append(arrive)
    start = time.perf_counter()
    world.run()
    return (time.perf_counter() - start) / MESSAGES


def network(link: Link, traced: bool, entries: list[tuple[int, int, Item]] | None = None) -> float:
    """Seconds a message: each host answers what it gets, as an owner's dispatch would have it.

    With a list given, the times of what is scheduled are put down in it.
    """
    left = MESSAGES

    def dispatch(item: Item) -> None:
        nonlocal left
        verb, host, message = item
        if verb == "start":
            net.send(host, message, "ping", None, 200)
        elif net.arrive(message):
            left -= 1
            if left >= UNDER_WAY:
                net.send(host, message.source, "ping", message.payload, 200)

    clock = Clock(dispatch)
    if entries is not None:
        schedule = clock.at

        def noted(when_ns: int, item: Item) -> None:
            if item[0] == "deliver":
                entries.append((when_ns, len(entries), SHORT))
            schedule(when_ns, item)

        clock.at = noted
    net = Network(Topology(sites=("paris", "tokyo"), links=(link,)), clock, RandomStreams(7), Trace(enabled=traced))
    for host in HOSTS:
        net.place(host, host.partition("-")[0])
    for number in range(UNDER_WAY):
        source = number % len(HOSTS)
        target = HOSTS[(source + 1 + 2 * (number % 4)) % len(HOSTS)]
        clock.at(number * 1_900_000, ("start", HOSTS[source], target))
    start = time.perf_counter()
    clock.run()
    took = time.perf_counter() - start
    if net.delivered != MESSAGES:
        raise RuntimeError(f"{MESSAGES} messages were to arrive, not {net.delivered}")
    return took / MESSAGES


LINKS = {
    "constant latency": CONSTANT,
    "with jitter": JITTER,
    "normal latency, jitter, loss, bandwidth": ROUGH,
}
GOALS = {False: 7.0, True: 12.0}  # set for messages over a line of constant latency


def main(rounds: int = 11) -> None:
    """Measure and print one line a measure: ratio to the floor, and the goal where there is one."""
    scheduled: dict[str, list[tuple[int, int, Item]]] = {name: [] for name in LINKS}
    for name, link in LINKS.items():
        network(link, False, scheduled[name])
    floors: dict[str, list[float]] = {name: [] for name in LINKS}
    ratios: dict[tuple[str, bool | None], list[float]] = {}
    for _ in range(rounds):
        for name, link in LINKS.items():
            floors[name].append(measured(partial(floor, scheduled[name])))
            measures: dict[bool | None, Callable[[], float]] = {on: partial(network, link, on) for on in GOALS}
            if link is CONSTANT:
                measures[None] = raw_simpy
            for on, measure in measures.items():
                ratios.setdefault((name, on), []).append(measured(measure) / floors[name][-1])
    for (name, on), found in ratios.items():
        traced = f"network, trace {'on' if on else 'off'}, {name}"
        what = "simpy alone, a timeout and a callback" if on is None else traced
        print(told(what, median(found), GOALS.get(bool(on)) if on is not None and name == "constant latency" else None))
    print(f"medians of {rounds} rounds; a floor is one push to a heap and one pop:")
    for name, found in floors.items():
        print(f"{median(found) * 1e6:6.3f} µs  floor, {name}")


def measured(measure: Callable[[], float]) -> float:
    """One measure, with the rubbish of those before it out of the way."""
    gc.collect()
    return measure()


def told(what: str, ratio: float, goal: float | None) -> str:
    """One line of the answer."""
    verdict = "" if goal is None else f"   goal {goal:.0f}×: {'kept' if ratio <= goal else 'MISSED'}"
    return f"{ratio:6.1f}×  {what}{verdict}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
