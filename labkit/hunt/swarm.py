"""Swarm: which kinds are on in the schedule of a seed, for what is left out changes what can be found.

Even seeds draw a share and then which kinds are on, undoing verbs apart from faults; odd seeds have all on.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from labkit.hunt.draws import Draws
from labkit.hunt.kinds import OPTIONAL, OWN_SITES, REQUEST, SUPPRESSOR, TWO_CLUSTERS, kinds_of

RUNBOOK, CARELESS = "runbook", "careless"
"""The operators: one who keeps to runbooks and looks before each, and one who does single steps whenever."""

BLOCKS = {
    RUNBOOK: ("planned failover", "unplanned failover", "return", "reindex", "requests"),
    CARELESS: (
        "promote",
        "promote by force",
        "demote",
        "repoint",
        "disable",
        "replicate",
        "enable-primary",
        "enable-secondary",
        "reindex",
        "seal",
        "unseal",
        "requests",
    ),
}
OF_TWO = ("planned failover", "unplanned failover", "return", "repoint", "replicate", "enable-secondary")
FENCING = ("unplanned failover", "return")
BLOCK_NEEDS = {TWO_CLUSTERS: OF_TWO, OWN_SITES: FENCING}
"""{what a lab may lack: blocks that need it}."""


class Swarm(NamedTuple):
    """What is on in one schedule, by name: faults, verbs that undo them, what the operator does, requests."""

    mode: str
    faults: tuple[str, ...]
    suppressors: tuple[str, ...]
    blocks: tuple[str, ...]
    requests: tuple[str, ...]

    @property
    def text(self) -> str:
        """What is on, for whoever reads a found file."""
        if self.mode == ALL_ON:
            return ALL_ON
        named = [", ".join(names) for names in (self.faults, self.suppressors, self.blocks, self.requests) if names]
        return f"{self.mode}: {'; '.join(named)}"


SWARM, ALL_ON = "swarm", "all on"


def drawn_swarm(seed: int, operator: str, draws: Draws, lacks: Collection[str] = ()) -> Swarm:
    """Draw what is on for a seed, in a lab that lacks some of what is needed."""
    groups = [
        tuple([kind.name for kind in kinds_of(OPTIONAL, lacks)]),
        tuple([kind.name for kind in kinds_of(SUPPRESSOR, lacks)]),
        tuple([name for name in BLOCKS[operator] if not any(name in BLOCK_NEEDS.get(what, ()) for what in lacks)]),
        tuple([kind.name for kind in kinds_of(REQUEST, lacks)]),
    ]
    if seed % 2:
        return Swarm(ALL_ON, *groups)
    drawn = [draws.some_of(group) for group in groups]
    drawn[0] = drawn[0] or (draws.one_of(groups[0]),)
    return Swarm(SWARM, *drawn)
