"""Handing over: a finding as a file, which is written, loaded and run before anybody gets it.

What is handed over breaks in the same way, with every step done as it is written; else nothing is.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from labkit.hunt.drawing import Drawn
from labkit.hunt.findings import EXCEPTION, SeedFinding, Signature, exception_of, signature_of
from labkit.hunt.shrinking.shrinker import Shrinker
from labkit.hunt.world import World, run_of, world_of
from labkit.hunt.writing import written
from labkit.places import SCENARIO_SUFFIXES
from labkit.scenario.loading import loads
from labkit.scenario.measures import BROKEN, UNKNOWN, VerdictRow
from labkit.scenario.verdict import judge

Data = dict[str, Any]


class FoundFile(NamedTuple):
    """A finding as a file: its name, its text, how many steps it has, and how many runs it took to shrink it."""

    name: str
    text: str
    steps: int
    runs: int


def hand_over(drawn: Drawn, finding: SeedFinding, operator: str) -> FoundFile | None:
    """Shrink the scenario of a finding; None when the same does not break in what is written."""
    shrinker = Shrinker(drawn.data, finding.signature)
    if not shrinker.shrink():
        return None
    data = {**shrinker.best, "scenario": f"{finding.signature.rule}, found by seed {finding.seed}"}
    comments = (f"labkit explore, {operator} operator, seed {finding.seed}", f"on: {drawn.swarm.text}")
    text = written(data, comments)
    if not breaks_again(text, finding.signature):
        return None
    return FoundFile(file_name(finding.signature), text, len(data["timeline"]), shrinker.runs)


def breaks_again(text: str, signature: Signature) -> bool:
    """Whether a file that is loaded and run to its end breaks as it is to, and in nothing but rules."""
    try:
        world = world_of(loads(text.encode(), "a found file"))
        world.run()
    except Exception as error:
        return signature.rule == EXCEPTION and exception_of(error, 0, 0).signature == signature
    violation = world.invariants.broken.get(signature.rule)
    if violation is None or signature_of(world, violation) != signature:
        return False
    return not [row for row in _wrong(world) if row.key.startswith(("step", "timeline", "end"))]


def _wrong(world: World) -> list[VerdictRow]:
    verdict = judge(run_of(world), world.queries, world.ledger, world.invariants)
    return [row for row in verdict.rows if row.status in (BROKEN, UNKNOWN)]


def file_name(signature: Signature) -> str:
    """Return a name for the file of a signature: its rule, and what led to it."""
    words = re.findall(r"[a-z0-9]+", f"{signature.rule} {signature.what} {' '.join(signature.roles)}".lower())
    return "-".join(words)[:80] + SCENARIO_SUFFIXES[0]
