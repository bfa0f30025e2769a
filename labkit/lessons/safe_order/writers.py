"""Writers: pairs in which a client writes by itself, and what becomes of its writes when the primary moves."""

from __future__ import annotations

from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lab.plan.blueprint import Blueprint, ClientPlan, ClusterPlan, LinkPlan, WorkloadPlan
from labkit.service.durations import MILLISECOND_NS, SECOND_NS

PAIR, HOME = ("paris", "tokyo"), "lisbon"
LINE_MS, WAYS_MS = 80, {"paris": 15, "tokyo": 90}
GAP_MS, JITTER_MS, WRITES_UNTIL_S = 50, 40, 11
SETTLING, MAX_SECONDS_MORE = "900ms", 8


class Move(NamedTuple):
    """What became of a lab in which the primary was to move; ``error`` is what the function raised.

    ``later`` counts the writes that tokyo took; ``pause_s`` is how long none was taken, up to the first of them or to
    the end.  ``took_s`` is how long the function took; ``ended``: the client's work was over by then.
    """

    mode: str
    broken_s: float
    lost: int
    later: int
    pause_s: float
    error: str
    took_s: float
    ended: bool
    by_verb: bool


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


def moved(lab: Lab, began_ns: int, error: str) -> Move:
    """Let a lab settle in which a function has done its work since an instant, and say what became of the writes.

    A client that still waits is given time; so is a cluster that has not stepped down, until another node may lead it.
    """
    returned_ns = lab.now
    lab.run(SETTLING)
    for _ in range(MAX_SECONDS_MORE if lab["tokyo"].mode == "primary" else 0):
        is_stopped = lab["paris"].mode == "secondary" or _two_s(lab) > 0
        is_served = _later(lab) > 0 or lab.now >= WRITES_UNTIL_S * SECOND_NS
        if is_stopped and is_served:
            break
        lab.run("1s")
    last_ns = max((write.at_ns for write in lab.ledger.writes), default=began_ns)
    return Move(
        mode=lab["tokyo"].mode,
        broken_s=_two_s(lab),
        lost=lab.ledger.rpo().writes,
        later=_later(lab),
        pause_s=lab.ledger.rto().seconds or (lab.now - last_ns) / SECOND_NS,
        error=error,
        took_s=(returned_ns - began_ns) / SECOND_NS,
        ended=returned_ns >= WRITES_UNTIL_S * SECOND_NS,
        by_verb=any(note.text.startswith("failover: ") for note in lab.trace.select("note")),
    )


def _later(lab: Lab) -> int:
    return sum(write.committed.cluster == "tokyo" for write in lab.ledger.writes)


def _two_s(lab: Lab) -> float:
    broken = lab.trace.select("invariant", name="one primary")
    return broken[0].at_ns / SECOND_NS if broken else 0
