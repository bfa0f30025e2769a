"""Cluster: the handle that ``lab["paris"]`` gives; answers like a Vault, over the simulated network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from labkit.lab.runbooks import Ask
from labkit.service.message import Body, Response
from labkit.service.short_forms import ShortForms

if TYPE_CHECKING:
    from labkit.lab.blueprint import ClusterPlan
    from labkit.lab.lab import Lab
    from labkit.vault.files import Files


class Silence(TimeoutError):
    """No answer came within the time; what was asked may have happened."""


class Cluster(ShortForms):
    """One cluster of a lab, asked from an operator's host beside it."""

    __slots__ = ("_lab", "plan")

    def __init__(self, lab: Lab, plan: ClusterPlan) -> None:
        self._lab, self.plan = lab, plan

    def __repr__(self) -> str:
        return f"Cluster({self.name}, {self.mode})"

    @property
    def name(self) -> str:
        """The cluster's name."""
        return self.plan.name

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of its nodes."""
        return self.plan.node_names

    @property
    def active(self) -> str:
        """The name of the node that serves; empty while there is none."""
        return self._lab.active_node(self.name)

    @property
    def root_token(self) -> str:  # type: ignore[override]  # a lab's credentials change with replication
        """The root token that is valid here."""
        return self._lab.desk.credentials[self.name].root_token

    @property
    def unseal_keys(self) -> tuple[str, ...]:
        """The key shares (hex) that open it."""
        return self._lab.desk.credentials[self.name].unseal_keys

    @property
    def files(self) -> Files:
        """The cluster's simulated files."""
        return self._lab.files[self.name]

    @property
    def mode(self) -> str:
        """The replication mode as its active node knows it: disabled, primary, secondary; unknown without one."""
        return self._lab.mode_of(self.name)

    def request(
        self,
        method: str,
        path: str,
        json: Body | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        node: str = "",
        timeout: str = "30s",
    ) -> Response:
        """Send one request with exactly these headers; the clock moves until the answer, or raises Silence."""
        return self._lab.ask(Ask(self.name, method, path, json, node), timeout=timeout, headers=dict(headers or {}))

    def promote(self, force: bool = False) -> str:
        """Make this secondary the primary, with an operation token generated from key shares."""
        return self._lab.work_through("promote", cluster=self.name, force=force)

    def demote(self) -> str:
        """Make this primary a secondary without an upstream."""
        return self._lab.work_through("demote", cluster=self.name)

    def unseal(self) -> str:
        """Give every sealed node its key shares."""
        return self._lab.work_through("unseal", cluster=self.name)

    def status(self) -> Any:
        """Return what the replication status endpoint tells, as data."""
        return self.get("sys/replication/dr/status", token="").data

    @property
    def root(self) -> str:
        """The Merkle root of what it replicates, forty hex digits; empty while it does not replicate."""
        return self._lab.root(self.name)
