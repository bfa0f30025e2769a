"""Exploration: what came of a campaign, and its report: the same for the same seeds, whatever played them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING

from labkit.hunt.campaign import FindingGroup, Plan
from labkit.hunt.known import Known, no_longer_found
from labkit.hunt.playing import RAISED, PlayedSeed
from labkit.hunt.shrinking.handing_over import FoundFile
from labkit.hunt.swarm import ALL_ON, CARELESS, SWARM
from labkit.scenario.many.many_runs import bound_texts, percent

MAX_GROUPS, MAX_NOT_JUDGED_PERCENT = 8, 5
RULE_OF_THREE = 3
"""What was not met in n seeds is met in at most 3 of n, with 95 % certainty."""


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """What came of a campaign: what became of each seed, findings by signature with their files, and the canary."""

    plan: Plan
    seeds: tuple[PlayedSeed, ...]
    groups: tuple[FindingGroup, ...]
    files: tuple[FoundFile | None, ...]
    canary: FoundFile | None
    known: tuple[Known, ...] = ()

    @property
    def unknown_groups(self) -> tuple[FindingGroup, ...]:
        """The findings that are not accepted."""
        accepted = {one.signature for one in self.known}
        return tuple([group for group in self.groups if group.signature.text not in accepted])

    @property
    def judged(self) -> int:
        """How many seeds were played to their end and came to rest: only these show what they did not find."""
        return sum(seed.is_judged for seed in self.seeds)

    @property
    def exit_code(self) -> int:
        """4 an exception of labkit or no canary, 1 findings, 3 too many seeds that are not judged, else 0.

        What a careless operator breaks is a lesson, and no finding of the service.
        """
        new = self.unknown_groups
        if self.canary is None or any(group.smallest.is_exception for group in new):
            return 4
        if new and self.plan.operator != CARELESS:
            return 1
        not_judged = len(self.seeds) - self.judged
        return 3 if 100 * not_judged > MAX_NOT_JUDGED_PERCENT * len(self.seeds) else 0

    def file_of(self, group: FindingGroup) -> FoundFile | None:
        """Return the file of a finding; None where none was handed over."""
        return self.files[self.groups.index(group)]

    @property
    def no_longer_found(self) -> tuple[Known, ...]:
        """The accepted findings that did not come up; none where no seed was judged."""
        return no_longer_found(self.known, self.groups) if self.judged else ()

    def report(self, folder: str = "", seconds: float | None = None) -> str:
        """Return the report; files are said to be in a folder, and the time is said, where they are given."""
        return "\n".join(_lines(self, folder, seconds))

    def __str__(self) -> str:
        return self.report()


def _lines(exploration: Exploration, folder: str, seconds: float | None) -> Iterator[str]:
    plan, seeds, judged = exploration.plan, exploration.seeds, exploration.judged
    modes = [(sum(seed.mode == mode for seed in seeds), mode) for mode in (SWARM, ALL_ON)]
    took = "" if seconds is None else f", {seconds:.0f} s"
    counts = ", ".join(f"{count:,} {mode}" for count, mode in modes)
    yield f"{_seeds(len(seeds))} ({counts}), {plan.operator} operator{took}"
    yield f"  {_steps(exploration)}"
    if judged < len(seeds):
        reasons = sorted({_in_general(seed.left) for seed in seeds if not seed.is_judged})
        yield f"  {_seeds(len(seeds) - judged)} not judged: {', '.join(reasons)}"
    if exploration.groups and plan.operator == CARELESS:
        yield "what a careless operator breaks: lessons about operating, no faults of the service"
    for number, group in enumerate(exploration.groups[:MAX_GROUPS], 1):
        yield from _group(exploration, number, group, folder)
    if len(exploration.groups) > MAX_GROUPS:
        yield f"and {len(exploration.groups) - MAX_GROUPS} more"
    for known in exploration.no_longer_found:
        yield f"no longer found: {known.signature}, accepted on {known.day} ({known.reason})"
    what = "nothing else" if exploration.groups else "nothing"
    if judged:
        high = percent(min(1, RULE_OF_THREE / judged), ROUND_CEILING)
        yield f"{what} in {_seeds(judged)}: at most {high} of schedules"
    else:
        yield "no seed was judged: what this campaign did not find says nothing"
    if exploration.canary is None:
        yield "the canary was not found: what this campaign did not find says nothing"


def _steps(exploration: Exploration) -> str:
    seeds = exploration.seeds
    steps, done = sum(seed.steps for seed in seeds), sum(seed.done for seed in seeds)
    faults, idle = sum(seed.faults for seed in seeds), sum(seed.idle for seed in seeds)
    done_percent = round(100 * done / steps) if steps else 0
    text = f"{steps:,} steps: {done_percent} % done, {100 - done_percent} % refused or skipped"
    return f"{text}; {round(100 * idle / faults)} % of {faults:,} faults met nothing" if faults else text


def _group(exploration: Exploration, number: int, group: FindingGroup, folder: str) -> Iterator[str]:
    count, total = len(group.findings), len(exploration.seeds)
    low, high = bound_texts(count, total)
    all_judged = exploration.judged == total  # what is not played to its end may break it later
    rate = f"{percent(count / total)}; {f'{low} to {high}' if all_judged else f'at least {low}'}"
    accepted = next((one for one in exploration.known if one.signature == group.signature.text), None)
    known = f", accepted on {accepted.day}: {accepted.reason}" if accepted is not None else ""
    yield f"{number}. {group.signature.text}: {_seeds(count)} ({rate}), smallest {group.smallest.seed}{known}"
    found = exploration.file_of(group)
    if found is None:
        why = "as a file it does not break in the same way with every step done as it is written"
        yield f"   no file is handed over: {why}"
    else:
        yield f"   {found.line(folder)}"


def _seeds(count: int) -> str:
    return f"{count:,} seed{'' if count == 1 else 's'}"


def _in_general(left: str) -> str:
    """Return what is left without the name of the node."""
    if left == RAISED or left.startswith("step"):
        return left
    return f"at the end {left}" if left.startswith("a line") else f"at the end a node {left.partition(' ')[2]}"
