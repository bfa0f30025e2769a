"""Node replica: what both sides of replication on a node stand on: its vault's journal, mode and lead, and its line."""

from __future__ import annotations

from typing import Any

from labkit.lab.plan.blueprint import NodePlan
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import HEADER_BYTES
from labkit.vault.core import Leadership
from labkit.vault.replication.events import Moment
from labkit.vault.replication.mode import Mode
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.vault_node import VaultNode


class NodeReplica:
    """One node as replication sees it; the secondary's side and the primary's build on it."""

    __slots__ = ("_core", "_incarnation", "_plan", "_services", "_vault")

    def __init__(self, plan: NodePlan, services: HostServices, vault: VaultNode, incarnation: int) -> None:
        self._plan, self._services, self._incarnation = plan, services, incarnation
        self._vault, self._core = vault, vault.core

    @property
    def _journal(self) -> Journal:
        return self._core.replica.journal

    @property
    def _mode(self) -> Mode:
        return self._core.replica.mode

    @property
    def _leadership(self) -> Leadership:
        return self._core.leadership

    @property
    def _active(self) -> bool:
        return self._core.keys.barrier is not None and self._core.leadership.active

    def _moment(self) -> Moment:
        return Moment(self._services.now(), self._core.now())

    def _datagram(self, target: str, what: str, message: Any, body_bytes: int) -> None:
        self._services.datagram(self._plan.name, target, what, message, body_bytes + HEADER_BYTES)

    def _send(self, target: str, what: str, message: Any, body_bytes: int, aside: bool = False) -> None:
        self._services.send(self._plan.name, target, what, message, body_bytes + HEADER_BYTES, aside=aside)
