"""Candidacy: how a node stands for election: what it makes of the lease that it looks at each second (``election``)."""

from __future__ import annotations

from typing import Any, Protocol

from labkit.lab.nodes.commit_reports import CommitReports
from labkit.lab.nodes.election import ABSTENTION_NS, HELD, RENEWED, TAKEN, is_held, resign, stand
from labkit.lab.nodes.forwarding import Forwarding
from labkit.lab.nodes.wall_clock import WallClock
from labkit.lab.wire import reports
from labkit.lab.wire.addresses import api_address, cluster_address
from labkit.lab.wire.host_services import HostServices
from labkit.vault.core import Leadership
from labkit.vault.storage import Storage
from labkit.vault.vault_node import VaultNode


class Candidate(Protocol):
    """A node, as far as it is asked here; ``followed`` is the leadership and lease that it found held last."""

    name: str
    cluster: str
    store: Storage
    services: HostServices
    vault: VaultNode
    clock: WallClock
    commits: CommitReports
    forwarding: Forwarding
    waiting: list[Any]
    served: bool
    abstains_until_ns: int
    followed: tuple[Leadership | None, tuple[str, int]]


def stand_for_election(node: Candidate) -> None:
    """Renew the lease, take it when it has run out, or follow the node that holds it."""
    vault, core = node.vault, node.vault.core
    if core.storage.deciding_writes != core.caches.keyring_as_of:
        vault.reload_keyring()
    leadership = core.leadership
    if core.keys.barrier is None:
        if leadership.active or leadership.leader:
            vault.set_leadership(Leadership(active=False))
        return
    now_ns = node.services.now()
    held_term = leadership.term if leadership.active else 0
    result, lease = stand(node.store, node.name, held_term, now_ns, now_ns >= node.abstains_until_ns)
    if result == RENEWED:
        return
    leader = api_address(lease.holder) if lease.holder else ""
    if result == TAKEN:
        vault.set_leadership(Leadership(True, lease.term, node.clock.now(), leader, leader))
        node.services.emit(reports.LeaderTaken(now_ns, node.cluster, node.name, lease.term))
    elif leadership.active or leadership.term != lease.term or leadership.leader != leader:
        leader_cluster = cluster_address(lease.holder) if lease.holder else ""
        vault.set_leadership(Leadership(False, lease.term, 0, leader, leader_cluster))
    if result == HELD and lease.holder:
        node.followed = core.leadership, (lease.holder, lease.term)


def follows_still(node: Candidate) -> bool:
    """Whether a standby that looks at the lease finds all as it was: the same leader, and nothing to do.

    Four of nine things that happen in a second of an idle pair are such looks.
    """
    core, (leadership, followed) = node.vault.core, node.followed
    return (
        core.leadership is leadership
        and core.keys.barrier is not None
        and core.storage.deciding_writes == core.caches.keyring_as_of
        and not (node.served or node.commits.made or node.waiting or node.forwarding.calls or core.time_decided)
        and is_held(node.store, followed, node.services.now())
    )


def step_down(node: Candidate) -> None:
    """Give the lease up, as an operator asked, and let another node take it."""
    now_ns = node.services.now()
    resign(node.store, node.name, node.vault.core.leadership.term, now_ns)
    node.abstains_until_ns = now_ns + ABSTENTION_NS
    node.vault.set_leadership(Leadership(active=False))
    node.vault.core.observe("stepped down", reason="it was asked to")
