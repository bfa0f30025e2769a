"""Campaign: many seeds, in this process or in several; what became of them is the same for any number of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

from labkit.hunt.drawing import Beginning
from labkit.hunt.findings import SeedFinding, Signature
from labkit.hunt.playing import PlayedSeed, play
from labkit.hunt.swarm import RUNBOOK

SEEDS_PER_CHUNK = 4

Given = TypeVar("Given")
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a campaign plays: how many seeds from 0 on, with which operator, from which beginning."""

    seeds: int
    operator: str = RUNBOOK
    beginning: Beginning | None = None


@dataclass(frozen=True, kw_only=True)
class FindingGroup:
    """Findings of one signature, one a seed; the smallest is that with the fewest steps before it broke."""

    signature: Signature
    findings: tuple[SeedFinding, ...]

    @property
    def smallest(self) -> SeedFinding:
        """The finding that is shrunk: the earliest one."""
        return min(self.findings, key=lambda finding: (finding.at_ns, finding.seed))


def played(plan: Plan, jobs: int, done: Callable[[], None]) -> list[PlayedSeed]:
    """Play all seeds, in so many processes; ``done()`` is called after each."""
    found = []
    for result in in_processes(
        partial(play, operator=plan.operator, beginning=plan.beginning), range(plan.seeds), jobs
    ):
        found.append(result)
        done()
    return found


def in_processes(work: Callable[[Given], Result], given: Iterable[Given], jobs: int) -> Iterator[Result]:
    """Yield the results of some work in the order in which it is given, one process or many."""
    if jobs == 1:
        yield from map(work, given)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, given, chunksize=SEEDS_PER_CHUNK)


def grouped(results: Iterable[PlayedSeed]) -> list[FindingGroup]:
    """Return the findings by signature: exceptions of labkit first, then what the most seeds found."""
    found: dict[Signature, list[SeedFinding]] = {}
    for result in results:
        for finding in result.findings:
            found.setdefault(finding.signature, []).append(finding)
    groups = [FindingGroup(signature=signature, findings=tuple(findings)) for signature, findings in found.items()]
    return sorted(groups, key=lambda group: (not group.smallest.is_exception, -len(group.findings), group.signature))
