"""Obstacles: why an operator got no answer, or a runbook could not go on, as the lab stands; and what to do about it.

These are words for the caller only: nothing of them enters the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from labkit.lab.parts import Parts

DOWN, PAUSED, SEALED, FOLLOWING = "down", "paused", "sealed", "not leading"
REMEDIES = {
    DOWN: 'lab.restart("{target}")',
    PAUSED: 'lab.resume("{target}")',
    SEALED: 'lab["{cluster}"].unseal()',
}
"""{what a node is: what makes it serve again}; a node that was restarted is sealed."""


def unserved(parts: Parts, cluster: str, node: str = "") -> str:
    """Say what the node that was asked is, or the nodes of a cluster in which none leads; empty where one can serve."""
    names = (node,) if node else parts.blueprint.cluster(cluster).node_names
    if not node and parts.directory.active_node(cluster):
        return ""
    found = {name: _condition(parts, name) for name in names if name in parts.nodes}
    wanting = set(found.values()) - {FOLLOWING}
    if not wanting:
        return ""
    kinds = wanting | ({SEALED} if DOWN in wanting else set())
    steps = [step.format(target=node or cluster, cluster=cluster) for kind, step in REMEDIES.items() if kind in kinds]
    if len(set(found.values())) == 1:
        return f"{node or f'every node of {cluster}'} is {wanting.pop()}; {', then '.join(steps)}"
    are = ", ".join(f"{name} is {condition}" for name, condition in found.items())
    return f"no node of {cluster} leads: {are}; {', then '.join(steps)}"


def cut_lines(parts: Parts, named: Sequence[object]) -> str:
    """Say which lines between the clusters that are named are cut; empty where none is."""
    sites = {plan.name: plan.site for plan in parts.blueprint.clusters if plan.name in named}
    pairs = combinations(sites.items(), 2)
    cut = [f"the line {a} <> {b} is cut" for (a, at), (b, there) in pairs if not parts.network.reachable(at, there)]
    return f"{', '.join(cut)}; lab.heal()" if cut else ""


def _condition(parts: Parts, node: str) -> str:
    if not parts.network.up(node):
        return DOWN
    if parts.processes[node].paused:
        return PAUSED
    return SEALED if parts.nodes[node].vault.sealed else FOLLOWING
