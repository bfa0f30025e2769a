"""Snapshot: everything that a lab is made of, as plain values (R3): taken, branched, and restored to parts."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from labkit.lab import build
from labkit.lab.parts import Parts
from labkit.lab.plan.blueprint import Blueprint
from labkit.seeded import WorldLabel

MAX_LUCK = 10**18 - 1


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A lab at an instant: what it was built from, and the state of every part."""

    blueprint: Blueprint
    seed: int
    at_ns: int
    state: dict[str, Any]

    def __repr__(self) -> str:
        return f"Snapshot(at {self.at_ns} ns, {len(self.state['hosts'])} hosts)"


def state_of(parts: Parts) -> dict[str, Any]:
    """Return the state of every part as plain values."""
    return {
        "branch_label": parts.label.branch,
        "luck": parts.label.luck,
        "branches": parts.branches,
        "trace": parts.trace.state(),
        "clock": parts.clock.state(),
        "random_streams": parts.random_streams.state(),
        "drawn_once": parts.drawn_once.state(),
        "network": parts.network.state(),
        "stores": {name: store.state() for name, store in parts.stores.items()},
        "files": {name: files.state() for name, files in parts.files.items()},
        "blocked_files": {name: dict(files.blocked) for name, files in parts.files.items() if files.blocked},
        "nodes": {name: node.state() for name, node in parts.nodes.items()},
        "processes": {name: state for name, process in parts.processes.items() if (state := process.state())},
        "passages": {name: passage.state() for name, passage in parts.passages.items()},
        "clients": {name: client.state() for name, client in parts.clients.items()},
        "balancers": {name: balancer.state() for name, balancer in parts.balancers.items()},
        "clouds": {name: cloud.state() for name, cloud in parts.clouds.items()},
        "impostors": {node: impostor.state() for node, impostor in parts.impostors.items()},
        "hosts": tuple(parts.hosts),
        "console": parts.console.state(),
        "ledger": parts.ledger.state(),
        "flapping": tuple([(*pair, tuple(row)) for pair, row in parts.flapping.items()]),
    }


def restore_parts(snapshot: Snapshot, connections: build.Connections) -> Parts:
    """Make every part again as it was; keys and nonces go on under the branch label that the state names (R7)."""
    return build.make_parts(snapshot.blueprint, snapshot.seed, connections, state=snapshot.state)


def branch_of(parts: Parts, snapshot: Snapshot, name: str, luck: int | None = None) -> Snapshot:
    """Return a snapshot under a branch label of its own: the parts count their branches, so that a name may come again.

    A label is its parent's, the count and the quoted name, so that no two lists of names make the same label; and the
    luck, which the network draws under too.
    """
    parts.branches += 1
    label = WorldLabel(f"{parts.label.branch}/{parts.branches}:{json.dumps(name)}", parts.label.luck)
    if luck is not None:
        label.take(luck)
    return replace(snapshot, state={**snapshot.state, "branch_label": label.branch, "luck": label.luck, "branches": 0})


def take_luck(parts: Parts, luck: int) -> None:
    """Let a lab that is under way draw keys, nonces and network as a branch with that luck does, from here on (R7)."""
    parts.label.take(luck)
    parts.random_streams.rekey(parts.label.seed_of_network(parts.seed))
    for node in parts.nodes.values():
        node.entropy.take_label_of(node.services.entropy(node.incarnation, 0))
    for cloud in parts.clouds.values():
        cloud.entropy.take_label_of(cloud.services.entropy(0, 0))
