"""Worlds: the lab or vault that a reader hands in: how it began, whether anything was done in it, and a branch of it.

1. What was handed in stays as it is: a branch of a lab is one of a copy, and a vault's is counted for no other.
2. Done is what writes, works through a runbook or breaks something, also where it was refused: whoever is refused has
   tried.  Reading, drawing and letting time pass are not.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from itertools import islice
from typing import Any

from labkit.front.lab import Lab
from labkit.front.vault import Vault
from labkit.front.vault_branch import branch_of
from labkit.lab.snapshot import Snapshot
from labkit.vault.replication.trust.operation_token import OPERATION, TOKEN

READING = ("GET", "LIST", "HEAD", "OPTIONS")


class KeptStart:
    """The start of an exercise: made once, and restored for each reader and each attempt."""

    __slots__ = ("_kept", "_make")

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._kept: Snapshot | Vault | None = None

    def __repr__(self) -> str:
        return f"KeptStart({self._make.__name__})"

    def __call__(self) -> Any:
        """Return the lab or vault as it is at the start."""
        if self._kept is None:
            made = self._make()
            if isinstance(made, Lab):
                made.keep_pictures()  # for whoever plays what happens from here on
            self._kept = made.snapshot() if isinstance(made, Lab) else made
        if isinstance(self._kept, Snapshot):
            return Lab.restore(self._kept)
        return branch_of(self._kept, 0, "start")


def is_world(handed: Any) -> bool:
    """Whether something is a lab or a vault."""
    return isinstance(handed, Lab | Vault)


def branched(world: Any) -> Any:
    """Return a branch of a lab or vault, the same one until something is done; nothing of the world itself changes.

    Its name says what was done and when it is, so that no two that differ draw the same nonces (R7).
    """
    now = world.now if isinstance(world, Lab) else world.core.now()
    name = f"check {fingerprint(now, *acts_of(world))}"
    if isinstance(world, Lab):
        return Lab.restore(world.snapshot()).branch(name)
    return branch_of(world, 0, name)


def begins_as(world: Any, start: Any) -> bool:
    """Whether a world began as a start does, whatever was done in it since."""
    if type(world) is not type(start):
        return False
    if isinstance(world, Lab):
        return list(islice(world.trace, len(start.trace))) == list(start.trace)
    same: bool = world.root_token == start.root_token
    return same


def acts_of(world: Any) -> tuple[Any, ...]:
    """Return what was done in a world, in a form that is equal where the same was done."""
    if isinstance(world, Vault):
        return tuple([(call.method, call.path, call.status) for call in world.calls if is_changing(call.method)])
    queries = world.queries
    modes: list[tuple[str, str]] = []
    for event in world.trace.select("mode"):
        if (event.cluster, event.mode) not in modes[-1:]:
            modes.append((event.cluster, event.mode))
    faults = [tuple(event)[2:] for event in world.trace.select("fault")]
    writes = [(write.path, write.committed.cluster) for write in world.ledger.writes]
    entries = [queries.last_entry(name) for name in queries.cluster_names]
    sealed = [node.core.keys.sealed for node in world.parts.nodes.values()]
    reindexed = [event.node for event in world.trace.select("observed", what="reindex_started")]
    failed = [ask[1:] for ask in world.ledger.failed_asks if is_changing(ask.method)]
    return modes, faults, writes, entries, sealed, reindexed, failed, _tokens_under_way(world)


def _tokens_under_way(lab: Lab) -> list[Any]:
    """Return the attempt to make an operation token, and the token that was made, as each node keeps them."""
    stores = [node.core.storage for node in lab.parts.nodes.values()]
    return [(store.get(OPERATION.record), store.get(TOKEN)) for store in stores]


def stalled(lab: Lab) -> list[str]:
    """Return the nodes that are paused, by name."""
    asleep: set[str] = set()
    for event in lab.trace.select("fault"):
        if event.verb in ("pause", "resume"):
            (asleep.add if event.verb == "pause" else asleep.discard)(event.target)
    return sorted(asleep)


def mode_said(mode: str) -> str:
    """Return a replication mode as a sentence names it: a cluster in which no node leads tells none."""
    return "without a leader" if mode == "unknown" else mode


def is_changing(method: str) -> bool:
    """Whether a request of this method is to change something."""
    return method not in READING


def play(lab: Lab) -> Any:
    """Return the run of a lab, to be played where copies between clusters travel."""
    return lab.play(only="replication")


def fingerprint(*facts: Any) -> str:
    """Return a few characters by which an attempt differs from another."""
    return blake2b(repr(facts).encode(), digest_size=6).hexdigest()
