"""Explore: plays a campaign, shrinks what broke, and returns what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from labkit.hunt.beginnings import of_blueprint
from labkit.hunt.campaign import Plan, grouped, played
from labkit.hunt.canary import canary_of
from labkit.hunt.drawing import drawn
from labkit.hunt.exploration import Exploration
from labkit.hunt.findings import SeedFinding
from labkit.hunt.known import Known
from labkit.hunt.processes import in_order
from labkit.hunt.shrinking.handing_over import FoundFile, hand_over
from labkit.hunt.swarm import BLOCKS, RUNBOOK
from labkit.lab.bench import Bench
from labkit.service.arguments import one_of, whole_number, wrong

MAX_SEEDS = 9_999_999


def explore(
    lab: Bench | None = None,
    seeds: int = 50,
    *,
    operator: str = RUNBOOK,
    known: Sequence[Known] = (),
) -> Exploration:
    """Draw and play schedules for a lab as it was built, or for drawn ones; print what is returned.

    The lab itself stays as it is.  ``operator`` is runbook or careless.
    """
    if lab is not None and not isinstance(lab, Bench):
        raise wrong("lab", "a lab, or None for drawn ones", lab)
    one_of("operator", "an operator", operator, tuple(BLOCKS))
    whole_number("seeds", f"a number of seeds from 1 to {MAX_SEEDS:,}", seeds, 1, MAX_SEEDS)
    beginning = None if lab is None else of_blueprint(lab.blueprint)
    return explored(Plan(seeds=seeds, operator=operator, beginning=beginning), tuple(known))


def explored(
    plan: Plan, known: tuple[Known, ...] = (), jobs: int = 1, done: Callable[[], None] = lambda: None
) -> Exploration:
    """Play a campaign in so many processes, and shrink the smallest finding of each signature."""
    results = played(plan, jobs, done)
    groups = grouped(results)
    files = list(in_order(partial(_file_of, plan), [group.smallest for group in groups], jobs))
    return Exploration(
        plan=plan,
        seeds=tuple(results),
        groups=tuple(groups),
        files=with_own_names(files),
        canary=canary_of(plan.operator, plan.beginning),
        known=known,
    )


def with_own_names(files: Sequence[FoundFile | None]) -> tuple[FoundFile | None, ...]:
    """Return files of which no two have one name: a later one has a number."""
    found: list[FoundFile | None] = []
    counts: Counter[str] = Counter()
    for file in files:
        if file is not None:
            counts[file.name] += 1
            name, dot, suffix = file.name.partition(".")
            file = file._replace(name=f"{name}-{counts[file.name]}{dot}{suffix}") if counts[file.name] > 1 else file
        found.append(file)
    return tuple(found)


def _file_of(plan: Plan, finding: SeedFinding) -> FoundFile | None:
    return hand_over(drawn(finding.seed, plan.operator, plan.beginning), finding, plan.operator)
