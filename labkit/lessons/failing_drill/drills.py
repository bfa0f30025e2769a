"""Drills: texts of scenario files, played in fresh labs with many seeds, as they stand or with a fault planted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from labkit.front.lab import Lab, lab_of
from labkit.scenario.loading import loads
from labkit.scenario.scenario import Scenario
from labkit.scenario.verdict import Verdict, judge
from labkit.service.durations import SECOND_NS

SEEDS = 20
CRASH_S, PROMOTE_S = 5, 6
NO_EXPECTATIONS = """\
scenario: The region of paris is lost
lab:
  sites: [paris, tokyo, lisbon]
  links:
    - {between: [paris, tokyo], latency: 80ms, jitter: 40ms, distribution: uniform}
    - {between: [lisbon, paris], latency: 15ms}
    - {between: [lisbon, tokyo], latency: 90ms}
  clusters: {paris: {site: paris, nodes: 1}, tokyo: {site: tokyo, nodes: 1}}
  clients:
    shop: {site: lisbon, use: [paris, tokyo], work: [{do: put-secret, every: 100ms, from: 3s, until: 9s}]}
settle: 1s
timeline:
  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}
  - {do: crash, target: paris, at: 5s}
  - {do: promote, cluster: tokyo, at: 6s}
"""
"""A drill whose fault is witnessed and breaks no standing rule; nothing is expected of it."""


def read(text: str) -> Scenario:
    """Read a drill; raise ScenarioError, a ValueError, with everything that is wrong with it."""
    return loads(text.encode(), "drill")


def played(drill: Scenario, seed: int) -> Lab:
    """Play a drill to its end."""
    lab = lab_of(drill, seed)
    lab.run()
    return lab


def verdict(lab: Lab) -> Verdict:
    """Judge a lab whose drill was played."""
    assert lab.scenario is not None
    return judge(lab.scenario, lab.queries, lab.ledger, lab.invariants)


def runs(text: str, seeds: Iterable[int] = range(SEEDS)) -> list[Lab]:
    """Play a drill from its text with many seeds; return the labs, each at its end."""
    drill = read(text)
    return [played(drill, seed) for seed in seeds]


class Planted(NamedTuple):
    """A fault and when it comes: it breaks no standing rule and no step of the drill."""

    at_s: float
    fault: Callable[[Lab], Any]


PLANTED: Mapping[str, Planted] = MappingProxyType(
    {
        "copies stop": Planted(CRASH_S - 1.5, lambda lab: lab.cut("paris", "tokyo")),
        "clients cannot follow": Planted(CRASH_S - 1.5, lambda lab: lab.partition("lisbon", "tokyo")),
        "the survivor dies": Planted(PROMOTE_S + 2, lambda lab: lab.crash("tokyo")),
    }
)
"""Faults in the order in which they come: who expects nothing does not see them."""


def with_each_fault(drill: Scenario, seed: int = 0) -> dict[str, Lab]:
    """Play a drill with each of the planted faults; what comes before a fault is played once for all of them."""
    sound, ended = lab_of(drill, seed), {}
    for name, planted in PLANTED.items():
        sound.run(until=planted.at_s)
        ended[name] = lab = Lab.restore(sound.snapshot())
        planted.fault(lab)
        lab.run()
    return ended


def loses_its_region(drill: Scenario) -> bool:
    """Whether paris still crashes and tokyo is still promoted when the drill that was handed out says so."""
    found = {(step.verb, step.at_ns) for step in drill.timeline}
    return {("crash", CRASH_S * SECOND_NS), ("promote", PROMOTE_S * SECOND_NS)} <= found
