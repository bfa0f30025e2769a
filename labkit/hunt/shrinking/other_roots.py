"""Other roots: a fault that had no effect cannot be what led to a finding; without it another root is seen.

A finding keeps its root while it is made small.  Where that root is such a fault, no file can be handed over: its
verdict says that a fault had no effect.
"""

from __future__ import annotations

from typing import Any

from labkit.hunt.findings import Signature, signature_of
from labkit.hunt.shrinking.idle_steps import without_effect
from labkit.hunt.world import read, run_of, world_of

Data = dict[str, Any]


def without_idle_faults(data: Data, rule: str) -> tuple[Data, Signature] | None:
    """Leave out the faults that had no effect; return what is left, and what breaks the rule then.

    None where all had one, where the rule holds without them, where other steps follow them, or where labkit raises.
    """
    try:
        idle = without_effect(world_of(read(data)).run())
        timeline = [step for number, step in enumerate(data["timeline"], 1) if number not in idle]
        left = {**data, "timeline": timeline}
        world = world_of(read(left))
        run, broken = run_of(world), world.invariants.broken
        world.run(until=lambda world: rule in broken or run.ended)
    except Exception:  # no file without them, or labkit raises, which is a finding by itself
        return None
    return (left, signature_of(world, broken[rule])) if idle and rule in broken else None
