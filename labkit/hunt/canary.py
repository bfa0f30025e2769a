"""Canary: a rule that must break, by which a campaign shows that it finds, shrinks and writes what breaks.

It is planted in a lab of its own, of the first seed: a condition that holds until the first cluster replicates.
"""

from __future__ import annotations

from dataclasses import replace

from labkit.hunt.drawing import drawn
from labkit.hunt.findings import SeedFinding, signature_of
from labkit.hunt.shrinking.handing_over import FoundFile, hand_over
from labkit.hunt.world import read, run_of, world_of

CANARY = "the canary"
PLANTED = {"name": CANARY, "modes": {"paris": "disabled"}}


def canary_of(operator: str) -> FoundFile | None:
    """Plant the canary, and return the file that it becomes; None when it is not found, or not handed over."""
    first = drawn(0, operator)
    first = replace(first, data={**first.data, "always": [PLANTED]})
    world = world_of(read(first.data))
    run, broken, label = run_of(world), world.invariants.broken, CANARY
    world.run(until=lambda world: label in broken or run.ended)
    if label not in broken:
        return None
    violation = broken[label]
    finding = SeedFinding(0, signature_of(world, violation), violation.at_ns, violation.detail)
    return hand_over(first, finding, operator)
