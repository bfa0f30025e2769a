"""Node directory: which node, balancer or cloud an address names, and which node of a cluster is the active one."""

from __future__ import annotations

from collections.abc import Mapping

from labkit.lab.nodes.node_host import NodeHost
from labkit.lab.nodes.process import Process
from labkit.lab.plan.blueprint import Blueprint
from labkit.lab.wire.addresses import ACTIVE, CLOUD_HOST, host_of
from labkit.lab.wire.host_services import ResolvedNode
from labkit.service.cloud_environments import is_of_cloud
from labkit.sim.network import Network


class NodeDirectory:
    """The nodes of a lab by address and by cluster."""

    __slots__ = ("_balancers", "_blueprint", "_names", "_network", "_nodes", "_processes")

    def __init__(
        self,
        blueprint: Blueprint,
        nodes: Mapping[str, NodeHost],
        processes: Mapping[str, Process],
        network: Network,
    ) -> None:
        self._blueprint, self._nodes, self._processes, self._network = blueprint, nodes, processes, network
        self._names = {plan.name: plan.node_names for plan in blueprint.clusters}
        self._balancers = frozenset(plan.name for plan in blueprint.balancers)

    def resolve_for_console(self, name: str) -> ResolvedNode | None:
        """Return the node that an address names, or, for ``active://paris``, that cluster's active node, if any.

        ``running`` says whether there is one or could be: whether any node of the cluster is unsealed, as none is
        after a crash.  Only the operators' console can ask for an active node: no address that came through the API
        leads there.
        """
        if not name.startswith(ACTIVE):
            return self.resolve(name)
        cluster = name.removeprefix(ACTIVE)
        active = self.active_node(cluster)
        running = active != "" or any(not self._nodes[name].vault.sealed for name in self._names[cluster])
        return ResolvedNode(active, cluster, running)

    def resolve(self, address: str) -> ResolvedNode | None:
        """Return the node, the load balancer or the cloud that an address names; None when there is none."""
        name = host_of(address)
        node = self._nodes.get(name)
        if node is None and is_of_cloud(address) and CLOUD_HOST in self._network.hosts():
            return ResolvedNode(CLOUD_HOST, "", self._network.up(CLOUD_HOST), passes_on=True)
        if node is not None:
            return ResolvedNode(name, node.cluster, self._network.up(name))
        return ResolvedNode(name, "", self._network.up(name), passes_on=True) if name in self._balancers else None

    def active_node(self, cluster: str) -> str:
        """Return the name of the node that serves a cluster; empty while there is none: one that is paused does not."""
        nodes, processes = self._nodes, self._processes
        names = self._names.get(cluster) or self._blueprint.cluster(cluster).node_names
        return next((name for name in names if nodes[name].active and not processes[name].paused), "")
