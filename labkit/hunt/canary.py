"""Canary: a rule that must break, by which a campaign shows that it finds, shrinks and writes what breaks.

It is planted in the schedule of the campaign's first seed: a condition of its first cluster's mode, which holds until
that replicates; where nothing does, it is broken from the beginning.
"""

from __future__ import annotations

from dataclasses import replace

from labkit.hunt.beginnings import CONDITIONS_TAKEN
from labkit.hunt.drawing import Beginning, Drawn, drawn
from labkit.hunt.findings import SeedFinding, signature_of
from labkit.hunt.shrinking.handing_over import FoundFile, hand_over
from labkit.hunt.world import read, run_of, world_of
from labkit.scenario.file_parts import MAX_TIMELINE_STEPS
from labkit.scenario.timed.timed_conditions import ALWAYS

CANARY = "the canary"


def canary_of(operator: str, beginning: Beginning | None = None) -> FoundFile | None:
    """Plant the canary, and return the file that it becomes; None when it is not found, or not handed over."""
    for mode in ("disabled", "primary"):
        found = _found(drawn(0, operator, beginning), mode, operator)
        if found is not None:
            return found
    return None


def _found(first: Drawn, mode: str, operator: str) -> FoundFile | None:
    """Plant the condition that the first cluster is in a mode, in place of those of a file."""
    cluster = next(iter(first.data["lab"]["clusters"]))
    planted = {"name": CANARY, "modes": {cluster: mode}}
    data = {key: value for key, value in first.data.items() if key not in CONDITIONS_TAKEN}
    data["timeline"] = data["timeline"][:MAX_TIMELINE_STEPS]
    first = replace(first, data={**data, ALWAYS: [planted]})
    try:
        world = world_of(read(first.data))
        world.run(until=lambda world: CANARY in world.invariants.broken or run_of(world).ended)
    except Exception:  # a finding of the first seed, which is played by itself
        return None
    violation = world.invariants.broken.get(CANARY)
    if violation is None:
        return None
    finding = SeedFinding(0, signature_of(world, violation), violation.at_ns, violation.detail)
    return hand_over(first, finding, operator)
