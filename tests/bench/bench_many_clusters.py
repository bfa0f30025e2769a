"""Bench: many small clusters at once: 250 of four nodes, each written to once a second, for a simulated minute.

    python tests/bench/bench_many_clusters.py [clusters] [seconds]

The goal is a minute in at most 60 s on an idle machine; the memory is that of the whole process at its highest.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Lab
from labkit.lab.plan.blueprint import Blueprint, ClientPlan, ClusterPlan, LinkPlan, WorkloadPlan

GOAL_S, SITES, NODES = 60, 10, 4
MILLISECOND_NS, SECOND_NS = 1_000_000, 1_000_000_000


def blueprint(clusters: int) -> Blueprint:
    """Clusters of four nodes over ten sites, each with a client that writes once a second."""
    sites = tuple(f"site-{number}" for number in range(SITES))
    links = tuple(
        LinkPlan(between=(sites[0], site), latency_ns=20 * MILLISECOND_NS, jitter_ns=MILLISECOND_NS)
        for site in sites[1:]
    )
    plans = tuple(ClusterPlan(name=f"c{number}", site=sites[number % SITES], nodes=NODES) for number in range(clusters))
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS)
    clients = tuple(
        ClientPlan(name=f"app{number}", site=plan.site, use=(plan.name,), workload=(work,))
        for number, plan in enumerate(plans)
    )
    return Blueprint(sites=sites, links=links, clusters=plans, clients=clients)


def run(clusters: int, seconds: int) -> tuple[Lab, float, float, float]:
    """Build and run them; return the lab, the seconds to build it, and those of wall clock and processor to run it."""
    began = perf_counter()
    lab = Lab(blueprint(clusters), trace=False)
    built = perf_counter()
    used = process_time()
    lab.run(seconds)
    return lab, built - began, perf_counter() - built, process_time() - used


def main(clusters: int = 250, seconds: int = 60) -> None:
    """Print one row."""
    lab, build_s, run_s, cpu_s = run(clusters, seconds)
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    writes, messages = len(lab.ledger.writes), lab.network.delivered
    print(f"{clusters} clusters of {NODES} nodes, {seconds} s of lab time: {writes} writes, {messages} messages")
    print(
        f"built in {build_s:.1f} s, run in {run_s:.1f} s (processor {cpu_s:.1f} s), goal {GOAL_S} s for a minute of 250"
    )
    print(f"memory {memory_mb:.0f} MB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
