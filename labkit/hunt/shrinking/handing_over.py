"""Handing over: a finding as a file, which is written, loaded and run before anybody gets it.

What is handed over breaks in the same way, with every step done as it is written; else nothing is.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from labkit.hunt.drawing import Drawn
from labkit.hunt.findings import EXCEPTION, SeedFinding, Signature, exception_of, signature_of
from labkit.hunt.shrinking.other_roots import without_idle_faults
from labkit.hunt.shrinking.outcomes import as_it_went
from labkit.hunt.shrinking.shrinker import Shrinker
from labkit.hunt.world import World, run_of, world_of
from labkit.hunt.writing import written
from labkit.places import SCENARIO_SUFFIXES
from labkit.scenario.loading import loads
from labkit.scenario.measures import BROKEN, UNKNOWN, VerdictRow
from labkit.scenario.verdict import judge

Data = dict[str, Any]


class FoundFile(NamedTuple):
    """A finding as a file: its name, its text, how many steps it has, and how many runs it took to shrink it.

    ``not_written`` is why it is not in the folder into which it was to be written.
    """

    name: str
    text: str
    steps: int
    runs: int
    not_written: str = ""

    def line(self, folder: str) -> str:
        """Return where it is and how long, for a report."""
        if self.not_written:
            return f"no file: it cannot be written: {self.not_written}"
        return f"{folder}{self.name}, {self.steps} step{'' if self.steps == 1 else 's'}"


def hand_over(drawn: Drawn, finding: SeedFinding, operator: str) -> FoundFile | None:
    """Shrink the scenario of a finding; None when the same does not break in what is written.

    Where what is left has a root that had no effect, it is shrunk again by the root that is seen without it.
    """
    shrinker = Shrinker(drawn.data, finding.signature)
    if not shrinker.shrink():
        return None
    origin = (f"labkit explore, {operator} operator, seed {finding.seed}", f"on: {drawn.swarm.text}")
    title = f"{finding.signature.rule}, found by seed {finding.seed}"
    found = _found(shrinker, title, origin)
    if found is not None or finding.is_exception:
        return found
    left = without_idle_faults(shrinker.best, finding.signature.rule)
    if left is None:
        return None
    again = Shrinker(*left)
    return _found(again, title, origin, shrinker.runs) if again.shrink() else None


def _found(shrinker: Shrinker, title: str, origin: tuple[str, ...], runs: int = 0) -> FoundFile | None:
    """Return what was shrunk as a file, if it breaks again; ``runs`` are those that it took before."""
    data = {**shrinker.best, "scenario": title}
    for text in dict.fromkeys((written(as_it_went(data), origin), written(data, origin))):
        if breaks_again(text, shrinker.signature):
            return FoundFile(file_name(shrinker.signature), text, len(data["timeline"]), runs + shrinker.runs)
    return None


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
