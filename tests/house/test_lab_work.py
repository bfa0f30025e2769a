"""How much work a lab does, counted: calls of labkit's own functions for a message, a write, an idle second and others.

A count may fall, and is written down then; it rises only with a line beside it that says why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit import Lab
from labkit.sim.clock import Clock, Item
from labkit.sim.latency import Latency
from labkit.sim.network import Network
from labkit.sim.random_streams import RandomStreams
from labkit.sim.topology import Link, Topology
from labkit.trace import Trace
from tests.bench.lab_rows import fail_over, filled, under_load
from tests.counting import own_calls_made

MESSAGES, SECONDS, IDLE_SECONDS = 100, 10, 60
PLACES = ("paris", "tokyo")

WRITTEN_DOWN = {
    "message": 5,
    "message, traced": 5,
    "write that two clusters follow": 382,  # eight standing rules more
    "second of an idle pair": 244,
    "checkpoint": 269,  # the same, and who answered behind a balancer
    "branch": 946,  # the same as of a checkpoint
    "failover of 60 s": 18_155,  # the same, a token with limits, commits that may end secrets, the mode again
}


def messages(traced: bool) -> int:
    """The calls of a message: one is under way at a time, and whoever gets it answers."""

    def take(item: Item) -> None:
        _, host, message = item
        if net.arrive(message) and net.delivered <= MESSAGES:
            net.send(host, message.source, "ping", message.payload, 200)

    clock = Clock(take)
    link = Link(between=PLACES, latency=Latency.constant(1_000_000))
    net = Network(Topology(sites=PLACES, links=(link,)), clock, RandomStreams(7), Trace(enabled=traced))
    for place in PLACES:
        net.place(place, place)
    net.send(*PLACES, "ping", None, 200)
    return _each(own_calls_made(clock.run), MESSAGES)


def replicated_write() -> int:
    """The calls of a write to three busy clusters, all that follows from it and their heartbeats included."""
    lab = under_load()
    before = len(lab.ledger.writes)
    calls = own_calls_made(lambda: lab.run(SECONDS))
    return _each(calls, len(lab.ledger.writes) - before)


def idle_second() -> int:
    """The calls of a second of a pair that replicates and has nothing to do."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("1m")
    return _each(own_calls_made(lambda: lab.run(IDLE_SECONDS)), IDLE_SECONDS)


def of_a_lab(work: Callable[[Lab], Any]) -> int:
    """The calls of some work on a pair with a thousand keys, the second time."""
    lab = filled(1_000)
    work(lab)
    return own_calls_made(lambda: work(lab))


def failover() -> int:
    """The calls of a failover, the making of its lab included, after one that came before."""
    fail_over()
    return own_calls_made(fail_over)


def _each(calls: int, count: int) -> int:
    return -(-calls // count)


COUNTS: dict[str, Callable[[], int]] = {
    "message": lambda: messages(traced=False),
    "message, traced": lambda: messages(traced=True),
    "write that two clusters follow": replicated_write,
    "second of an idle pair": idle_second,
    "checkpoint": lambda: of_a_lab(Lab.snapshot),
    "branch": lambda: of_a_lab(lambda lab: lab.branch("what-if")),
    "failover of 60 s": failover,
}


@pytest.mark.parametrize("what", WRITTEN_DOWN)
def test_a_lab_does_no_more_work_than_is_written_down(what: str) -> None:
    found = COUNTS[what]()

    assert 0 < found <= WRITTEN_DOWN[what]
