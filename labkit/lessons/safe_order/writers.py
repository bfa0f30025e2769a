"""Writers: pairs in which a client writes by itself, and what becomes of its writes when the primary moves."""

from __future__ import annotations

from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lab.plan.blueprint import Blueprint, ClientPlan, ClusterPlan, LinkPlan, WorkloadPlan
from labkit.service.durations import MILLISECOND_NS, SECOND_NS

PAIR, HOME = ("paris", "tokyo"), "lisbon"
LINE_MS, WAYS_MS = 80, {"paris": 15, "tokyo": 90}
GAP_MS, JITTER_MS, WRITES_UNTIL_S = 50, 40, 11
SETTLING = "900ms"


class Move(NamedTuple):
    """What became of a lab in which the primary was to move; ``error`` is what the function raised."""

    mode: str
    broken_s: float
    lost: int
    later: int
    pause_s: float
    error: str


def pair_with_writer(seed: int, slower: int = 1) -> Lab:
    """Return a pair that replicates; a client in lisbon writes each 50 ms, to whoever takes it.

    The line between the two takes 40 to 160 ms, or so many times as long.
    """
    work = WorkloadPlan(operation="put-secret", every_ns=GAP_MS * MILLISECOND_NS, until_ns=WRITES_UNTIL_S * SECOND_NS)
    line = LinkPlan(
        between=PAIR,
        latency_ns=LINE_MS * MILLISECOND_NS,
        jitter_ns=JITTER_MS * MILLISECOND_NS,
        distribution="uniform",
    )
    ways = [LinkPlan(between=(HOME, name), latency_ns=way_ms * MILLISECOND_NS) for name, way_ms in WAYS_MS.items()]
    blueprint = Blueprint(
        sites=(*PAIR, HOME),
        links=(line, *ways),
        clusters=tuple([ClusterPlan(name=name, site=name) for name in PAIR]),
        clients=(ClientPlan(name="writer", site=HOME, use=PAIR, workload=(work,)),),
    )
    lab = Lab(blueprint, seed)
    lab.replicate(*PAIR)
    lab.run("500ms")
    if slower > 1:
        lab.slow(*PAIR, factor=slower)
        lab.run("2s")
    return lab


def moved(lab: Lab, error: str) -> Move:
    """Let a lab settle in which a function has done its work, and say what became of the writes."""
    lab.run(SETTLING)
    broken = lab.trace.select("invariant", name="one primary")
    return Move(
        mode=lab["tokyo"].mode,
        broken_s=broken[0].at_ns / SECOND_NS if broken else 0,
        lost=lab.ledger.rpo().writes,
        later=sum(row.committed.cluster == "tokyo" for row in lab.ledger.writes),
        pause_s=lab.ledger.rto().seconds or 0,
        error=error,
    )
