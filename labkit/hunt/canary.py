"""Canary: a rule that must break, by which a campaign shows that it finds, shrinks and writes what breaks.

It is planted in the schedule of the campaign's first seed: a condition of its first cluster's mode, which holds until
that replicates; where nothing does, it is broken from the beginning.
"""

from __future__ import annotations

from dataclasses import replace

from labkit.hunt.drawing import Beginning, Drawn, drawn
from labkit.hunt.findings import SeedFinding, signature_of
from labkit.hunt.shrinking.handing_over import FoundFile, hand_over
from labkit.hunt.world import read, run_of, world_of

CANARY = "the canary"


def canary_of(operator: str, beginning: Beginning | None = None) -> FoundFile | None:
    """Plant the canary, and return the file that it becomes; None when it is not found, or not handed over."""
    for mode in ("disabled", "primary"):
        found = _found(drawn(0, operator, beginning), mode, operator)
        if found is not None:
            return found
    return None


def _found(first: Drawn, mode: str, operator: str) -> FoundFile | None:
    """Plant the condition that the first cluster is in a mode."""
    cluster = next(iter(first.data["lab"]["clusters"]))
    planted = {"name": CANARY, "modes": {cluster: mode}}
    first = replace(first, data={**first.data, "always": [planted]})
    world = world_of(read(first.data))
    run, broken, label = run_of(world), world.invariants.broken, CANARY
    world.run(until=lambda world: label in broken or run.ended)
    if label not in broken:
        return None
    violation = broken[label]
    finding = SeedFinding(0, signature_of(world, violation), violation.at_ns, violation.detail)
    return hand_over(first, finding, operator)
