"""Campaign: many seeds, in this process or in several; what became of them is the same for any number of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from labkit.hunt.drawing import Beginning
from labkit.hunt.findings import SeedFinding, Signature
from labkit.hunt.playing import PlayedSeed, play
from labkit.hunt.processes import in_order
from labkit.hunt.swarm import RUNBOOK

SEEDS_PER_CHUNK = 4


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a campaign plays: how many seeds from 0 on, with which operator, from which beginning."""

    seeds: int
    operator: str = RUNBOOK
    beginning: Beginning | None = None


@dataclass(frozen=True, kw_only=True)
class FindingGroup:
    """Findings of one signature, one a seed; the smallest is the earliest one."""

    signature: Signature
    findings: tuple[SeedFinding, ...]

    @property
    def smallest(self) -> SeedFinding:
        """The finding that is shrunk."""
        return min(self.findings, key=lambda finding: (finding.at_ns, finding.seed))


def played(plan: Plan, jobs: int, done: Callable[[], None]) -> list[PlayedSeed]:
    """Play all seeds, in so many processes; ``done()`` is called after each.  WorkersLost when they end too often."""
    found = []
    work = partial(play, operator=plan.operator, beginning=plan.beginning)
    for result in in_order(work, range(plan.seeds), jobs, SEEDS_PER_CHUNK):
        found.append(result)
        done()
    return found


def grouped(results: Iterable[PlayedSeed]) -> list[FindingGroup]:
    """Return the findings by signature: exceptions of labkit first, then what the most seeds found."""
    found: dict[Signature, list[SeedFinding]] = {}
    for result in results:
        for finding in result.findings:
            found.setdefault(finding.signature, []).append(finding)
    groups = [FindingGroup(signature=signature, findings=tuple(findings)) for signature, findings in found.items()]
    return sorted(groups, key=lambda group: (not group.smallest.is_exception, -len(group.findings), group.signature))
