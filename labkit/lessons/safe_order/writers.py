"""Writers: pairs in which a client writes by itself, and what becomes of its writes when the primary moves."""

from __future__ import annotations

from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lab.plan.blueprint import Blueprint, ClientPlan, ClusterPlan, LinkPlan, WorkloadPlan
from labkit.service.durations import MILLISECOND_NS, SECOND_NS

PAIR = ("paris", "tokyo")
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


def pair_with_writer(seed: int, one_way_ms: int) -> Lab:
    """Return a pair that replicates, so far apart; a client beside paris writes each 50 ms, to whoever takes it."""
    work = WorkloadPlan(operation="put-secret", every_ns=GAP_MS * MILLISECOND_NS, until_ns=WRITES_UNTIL_S * SECOND_NS)
    line = LinkPlan(
        between=PAIR,
        latency_ns=one_way_ms * MILLISECOND_NS,
        jitter_ns=JITTER_MS * MILLISECOND_NS,
        distribution="uniform",
    )
    blueprint = Blueprint(
        sites=PAIR,
        links=(line,),
        clusters=tuple([ClusterPlan(name=name, site=name) for name in PAIR]),
        clients=(ClientPlan(name="writer", site="paris", use=PAIR, workload=(work,)),),
    )
    lab = Lab(blueprint, seed)
    lab.replicate(*PAIR)
    lab.run("500ms")
    return lab


def moved(lab: Lab, error: str) -> Move:
    """Let a lab settle in which a function has done its work, and say what became of the writes."""
    ended_ns = lab.now
    lab.run(SETTLING)
    broken = lab.trace.select("invariant", name="one primary")
    return Move(
        mode=lab["tokyo"].mode,
        broken_s=broken[0].at_ns / SECOND_NS if broken else 0,
        lost=lab.ledger.rpo().writes,
        later=sum(row.committed.cluster == "tokyo" and row.at_ns > ended_ns for row in lab.ledger.writes),
        pause_s=lab.ledger.rto().seconds or 0,
        error=error,
    )
