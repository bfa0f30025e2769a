"""Lab rows: labs that are measured, made by the names of the front door only, so that older versions run them too."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from labkit import Lab

SAMPLE_S, HOUR_S = 60, 3_600
KEYS = 10_000
IN_STAR, IN_PAIRS = 250, 1_000
LATENCY_NS = 20_000_000
SETTLING_MIN, BUSY_MIN = 20, 60
FAILOVERS, BRANCHES = 3, 5

WRITERS = """
scenario: What four clients do
lab:
  sites: [paris, lisbon]
  links: [{between: [lisbon, paris], latency: 15ms}]
  clusters: {paris: {site: paris}}
  clients:
    app: {site: lisbon, count: 4, use: [paris], work: [{do: put-secret, every: 200ms, keys: 100}]}
timeline:
  - {do: note, text: the clients are taken into another lab, at: 0s}
"""

Sample = Callable[[], float]


def writers() -> Any:
    """Return the plans of four clients that write five secrets a second each into paris."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "writers.lab.yaml"
        file.write_text(WRITERS, encoding="utf-8")
        return Lab.load(file).blueprint.clients


def under_load(trace: bool = True) -> Lab:
    """Return three clusters that replicate, with twenty writes a second for some seconds."""
    blueprint = replace(Lab.triangle(seed=7).blueprint, clients=writers())
    lab = Lab(blueprint, seed=7, trace=trace)
    for secondary in ("tokyo", "lima"):
        lab.replicate("paris", secondary)
    lab.run("10s")
    return lab


def timed(work: Callable[[], object]) -> float:
    """Return the processor time of some work, without what the collector would have to do for others."""
    gc.collect()
    began = process_time()
    work()
    return process_time() - began


def hour() -> Sample:
    """How many times faster than real time a minute of three clusters under load is."""
    lab = under_load()
    return lambda: SAMPLE_S / timed(lambda: lab.run(SAMPLE_S))


def idle() -> Sample:
    """What a virtual hour of a pair that replicates and has nothing to do takes, in seconds."""
    lab = Lab(Lab.pair(seed=7).blueprint, seed=7, trace=False)
    lab.replicate("paris", "tokyo")
    lab.run("1m")
    return lambda: timed(lambda: lab.run(HOUR_S))


def fail_over() -> None:
    """Run the minute of a new pair without clients: it replicates, the primary goes down, the other is promoted."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("18s")
    lab.crash("paris")
    lab["tokyo"].promote()
    lab.run("38s")


def failovers() -> Sample:
    """How many such minutes there are in a second of processor time."""

    def some() -> None:
        for _ in range(FAILOVERS):
            fail_over()

    return lambda: FAILOVERS / timed(some)


def filled(keys: int) -> Lab:
    """Return a pair that replicates so many keys."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    number = 0
    while len(lab.queries.contents("paris")) < keys:
        for _ in range(max(1, (keys - len(lab.queries.contents("paris"))) // 3)):
            number += 1
            lab["paris"].post(f"secret/data/team-{number % 7}/{number}", {"data": {"number": number}})
    lab.run("5s")
    return lab


def branch(keys: int = KEYS) -> Sample:
    """What a branch takes, in milliseconds."""
    lab = filled(keys)
    return lambda: timed(lambda: [lab.branch("what-if") for _ in range(BRANCHES)]) * 1e3 / BRANCHES


def star(count: int) -> Any:
    """Return the plan of clusters of three nodes, each at a site of its own with a line to the first one's."""
    pair = Lab.pair(seed=7).blueprint
    sites = tuple(f"site-{number}" for number in range(count))
    line, cluster = replace(pair.links[0], latency_ns=LATENCY_NS, jitter_ns=0), pair.clusters[0]
    return replace(
        pair,
        sites=sites,
        links=tuple(replace(line, between=(sites[0], site)) for site in sites[1:]),
        clusters=tuple(replace(cluster, name=f"c{number}", site=sites[number]) for number in range(count)),
    )


def join(blueprint: Any) -> None:
    """Build a star, and join all to the first."""
    lab = Lab(blueprint, trace=False)
    for name in list(lab.clusters)[1:]:
        lab.replicate("c0", name)


def star_join(count: int = IN_STAR) -> Sample:
    """What building a star and all its joins take, in seconds."""
    blueprint = star(count)
    return lambda: timed(lambda: join(blueprint))


def pairs(count: int) -> Any:
    """Return the plan of clusters of one node each, all at one site."""
    pair = Lab.pair(seed=7).blueprint
    one = replace(pair.clusters[0], site="site", nodes=1)
    clusters = tuple(replace(one, name=f"c{number}") for number in range(count))
    return replace(pair, sites=("site",), links=(), clusters=clusters)


def joined(blueprint: Any, joins: Sequence[tuple[int, int]]) -> tuple[float, float, float]:
    """Return the seconds to build a lab, those for all joins, and the last fifth of them over the first."""
    began = process_time()
    lab = Lab(blueprint, trace=False)
    built_s = process_time() - began
    took_s = []
    for primary, secondary in joins:
        before = process_time()
        lab.replicate(f"c{primary}", f"c{secondary}")
        took_s.append(process_time() - before)
    fifth = len(took_s) // 5
    return built_s, sum(took_s), sum(took_s[-fifth:]) / sum(took_s[:fifth])


def pair_joins(count: int = IN_PAIRS) -> Sample:
    """How many times as long the last fifth of many joins takes as the first, where each pair is by itself."""
    blueprint = pairs(count)
    return lambda: joined(blueprint, [(number, number + 1) for number in range(0, count, 2)])[2]


def resident_bytes() -> int:
    """Return what is resident of this process now."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1_024
    raise OSError("/proc/self/status says nothing of VmRSS")


def memory(settling_min: int = SETTLING_MIN, busy_min: int = BUSY_MIN) -> Sample:
    """How many megabytes a minute three busy clusters without a trace keep, once all that has a bound is full."""
    lab = under_load(trace=False)
    lab.run(settling_min * SAMPLE_S)

    def grown() -> float:
        gc.collect()
        before = resident_bytes()
        lab.run(busy_min * SAMPLE_S)
        gc.collect()
        return (resident_bytes() - before) / busy_min / 1e6

    return grown
