"""What tests of measures share: a lab that went through a drill, and what its hosts were at each instant."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from labkit import Lab


class Seen(NamedTuple):
    """For how long each node and each secondary's sync and connection was seen in each state, in nanoseconds."""

    nodes: dict[tuple[str, str], int]
    links: dict[tuple[str, str, str], int]


def node_state(lab: Lab, name: str) -> str:
    """What a node is, asked of itself."""
    node = lab.parts.nodes[name]
    if not lab.network.up(name):
        return "down"
    if lab.queries.is_paused(name):
        return "paused"
    if node.vault.sealed:
        return "sealed"
    return "active" if node.active else "standby"


def watch_to_the_end(lab: Lab, until_ns: int, seen: Seen) -> None:
    """Let time pass event by event, and add up what everything was between them."""
    while lab.now < until_ns:
        before_ns = lab.now
        nodes = {name: node_state(lab, name) for name in lab.parts.nodes}
        links = {}
        for cluster in lab.clusters:
            active = lab[cluster].active
            sync = lab.parts.nodes[active].sync if active and nodes[active] == "active" else None
            links[cluster] = ("none", "none") if sync is None else (sync.state, sync.connection_state)
        lab.step()
        passed = lab.now - before_ns
        for name, state in nodes.items():
            seen.nodes[name, state] = seen.nodes.get((name, state), 0) + passed
        for cluster, (state, connection) in links.items():
            for kind, what in (("sync", state), ("connection", connection)):
                seen.links[kind, cluster, what] = seen.links.get((kind, cluster, what), 0) + passed


@pytest.fixture(scope="session")
def drilled(replicating_snapshot) -> Lab:
    """A crash of the primary, a promotion, and the old primary back as a secondary."""
    lab = Lab.restore(replicating_snapshot)
    lab.run("1s")
    lab.crash("paris")
    lab.run("500ms")
    lab["tokyo"].promote()
    lab.restart("paris")
    lab.unseal("paris")
    lab["paris"].demote()
    lab["paris"].repoint("tokyo")
    return lab.run("2s")
