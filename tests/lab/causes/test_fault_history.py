"""Fault history: what was in force at a row, on nodes and on lines, and what took a message on its way."""

from __future__ import annotations

import pytest

from labkit.lab.causes.fault_history import FaultHistory
from labkit.sim.latency import Latency
from labkit.sim.topology import Link, Topology

SITES = ("a", "b", "c")
TOPOLOGY = Topology(
    sites=SITES,
    links=(
        Link(between=("a", "b"), latency=Latency.constant(1)),
        Link(between=("b", "c"), latency=Latency.constant(1)),
    ),
)


def history(*faults: str) -> FaultHistory:
    """Faults at rows 0, 1, 2 …, each as ``verb target`` or ``verb target, detail``."""
    rows = []
    for number, text in enumerate(faults):
        verb, _, rest = text.partition(" ")
        target, _, detail = rest.partition(", ")
        rows.append((number, ("fault", number, verb, target, detail)))
    return FaultHistory(rows, TOPOLOGY)


@pytest.mark.parametrize(
    ("faults", "verb", "expected"),
    [
        (["crash n"], "crash", 0),
        (["crash n", "restart n"], "crash", None),
        (["crash n", "crash n, no change"], "crash", 0),
        (["crash n", "restart n", "crash n"], "crash", 2),
        (["crash m"], "crash", None),
        (["pause n"], "pause", 0),
        (["pause n", "resume n"], "pause", None),
        (["pause n", "crash n"], "pause", None),
        (["impersonate n"], "impersonate", 0),
        (["impersonate n", "expose n"], "impersonate", None),
    ],
)
def test_what_a_node_is_under(faults, verb, expected):
    assert history(*faults).on_node(verb, "n", len(faults)) == expected


def test_what_comes_later_counts_for_nothing():
    faults = history("crash n", "restart n")

    assert faults.on_node("crash", "n", 0) is None
    assert faults.on_node("crash", "n", 1) == 0
    assert faults.last(["crash"], ["n"], 0) is None
    assert faults.last(["restart", "crash"], ["n"], 2) == 1
    assert faults.every(["restart", "crash"], ["n", "m"], range(3)) == [0, 1]


@pytest.mark.parametrize(
    ("faults", "ends", "expected"),
    [
        (["partition a <> b"], ("a", "b"), 0),
        (["partition a <> b"], ("b", "a"), 0),
        (["partition a <> b"], ("a", "c"), 0),  # the route leads over it
        (["partition a <> b"], ("b", "c"), None),
        (["cut a > b"], ("a", "b"), 0),
        (["cut a > b"], ("b", "a"), None),
        (["isolate c"], ("a", "c"), 0),
        (["isolate c"], ("a", "b"), None),
        (["isolate c", "heal b <> c"], ("b", "c"), None),
        (["partition a <> b", "heal all"], ("a", "b"), None),
        (["partition a <> b", "heal a"], ("a", "b"), None),
        (["partition a <> b", "heal c"], ("a", "b"), 0),
        (["partition a <> b", "isolate a"], ("a", "b"), 0),  # it was cut already
        (["isolate a", "partition a <> b, flapping", "heal a <> b, flapping"], ("a", "b"), 0),  # each ends its own
        (["partition a <> b, flapping", "isolate a", "heal a <> b, flapping"], ("a", "b"), 1),
        (["partition a <> b, flapping", "isolate a", "heal all"], ("a", "b"), 0),
        (["partition a <> c"], ("a", "c"), 0),  # no link between them, and cut as a pair
    ],
)
def test_what_a_way_is_cut_by(faults, ends, expected):
    assert history(*faults).on_line("cut", ends, len(faults)) == expected


def test_a_slow_line_and_a_loss_end_with_restore():
    faults = history("slow a <> b, 700 ms", "lose a <> b, 20 ppm", "restore a <> b")

    assert [faults.on_line(kind, ("a", "b"), 2) for kind in ("slow", "lose")] == [0, 1]
    assert [faults.on_line(kind, ("a", "b"), 3) for kind in ("slow", "lose")] == [None, None]


def test_what_took_a_message_on_its_way_is_the_first_that_met_it():
    faults = history("crash x", "isolate b", "crash n", "partition a <> b")

    assert faults.hit(("n", "m"), ("a", "b"), range(4)) == 1
    assert faults.hit(("n", "m"), ("a", "b"), range(2, 4)) == 2
    assert faults.hit(("n", "m"), ("b", "c"), range(2, 4)) == 2
    assert faults.hit(("k", "m"), ("b", "c"), range(2, 4)) is None
