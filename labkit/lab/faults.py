"""Verbs: the faults and procedures of a lab, each a short form; a target is a cluster, a node or a site."""

from __future__ import annotations

from labkit.lab.survey import Survey
from labkit.service.durations import parse_duration
from labkit.sim.latency import Latency

MILLION = 1_000_000


class Verbs(Survey):
    """The doing part of a Lab."""

    def crash(self, target: str) -> None:
        """Take a node, or all nodes of a cluster, down; what they held in memory is gone."""
        nodes = self.nodes_of(target)
        struck = {self.cluster_of(node) for node in nodes if self.nodes[node].active}
        for cluster in sorted(struck):
            self.ledger.fault(cluster, self.now)
        for node in nodes:
            if self.faults.crash(node):
                self.nodes[node].crash()
        self.invariants.on_change()

    def restart(self, target: str) -> None:
        """Start a node, or all nodes of a cluster, again; they come up sealed."""
        for number, node in enumerate(self.nodes_of(target)):
            if self.faults.restart(node):
                self.nodes[node].boot((number + 1) * 10_000_000)
        self.invariants.on_change()

    def partition(self, a: str, b: str) -> None:
        """Cut both ways between two sites or clusters."""
        self.faults.partition(self.site_of(a), self.site_of(b))
        self._note_cut(a, b)
        self.invariants.on_change()

    def cut(self, source: str, target: str) -> None:
        """Cut one way, from a site or cluster to another."""
        self.faults.cut(self.site_of(source), self.site_of(target))
        self._note_cut(source, target)
        self.invariants.on_change()

    def isolate(self, target: str) -> None:
        """Cut a site or cluster off from every other site."""
        self.faults.isolate(self.site_of(target))
        self._note_cut(target)
        self.invariants.on_change()

    def heal(self, a: str | None = None, b: str | None = None) -> None:
        """Undo cuts: between two, around one, or all."""
        self.faults.heal(*(None if name is None else self.site_of(name) for name in (a, b)))
        self.invariants.on_change()

    def slow(self, a: str, b: str, latency: str | None = None, factor: int | None = None) -> None:
        """Give the line between two another latency (a duration), or make it so many times as slow."""
        shape = None if latency is None else Latency.constant(parse_duration(latency))
        self.faults.slow(self.site_of(a), self.site_of(b), latency=shape, factor=factor)

    def lose(self, a: str, b: str, percent: float) -> None:
        """Lose a share of the messages between two; each lost one is sent again, later."""
        self.faults.lose(self.site_of(a), self.site_of(b), round(percent * MILLION / 100))

    def restore_links(self, a: str | None = None, b: str | None = None) -> None:
        """Undo ``slow`` and ``lose``: between two, around one, or everywhere."""
        self.faults.restore(*(None if name is None else self.site_of(name) for name in (a, b)))

    def corrupt(self, cluster: str, layer: str = "subpage", key: str | None = None) -> None:
        """Alter one kept node of the Merkle index of a cluster's active node, or a stored value (``storage``)."""
        active = self.active_node(cluster)
        if not active:
            raise ValueError(f"{cluster} has no active node whose index could be altered; unseal or restart one first")
        node = self.nodes[active]
        if layer == "storage":
            chosen = key or sorted(self.contents(cluster))[-1]
            stored = self.stores[cluster].get(chosen)
            if stored is None:
                raise ValueError(f"{cluster} stores nothing under {chosen}")
            damaged = stored[:-1] + bytes([stored[-1] ^ 1])
            self.stores[cluster].apply({chosen: damaged}, node.vault.core.duty.term)
        else:
            index = node.vault.core.journal.index
            if index is None:
                raise ValueError(f"{cluster} keeps no Merkle index: replication is disabled there")
            index.corrupt(layer, key)
        self.invariants.corrupted = True
        self.trace.record(("fault", self.now, "corrupt", cluster, layer))

    def nodes_of(self, target: str) -> tuple[str, ...]:
        """Return the nodes that a target names: itself, or all of a cluster."""
        if target in self.nodes:
            return (target,)
        return self.blueprint.cluster(target).node_names

    def site_of(self, name: str) -> str:
        """Return the site that a name means: itself, or that of a cluster or host."""
        for plan in self.blueprint.clusters:
            if plan.name == name:
                return plan.site
        return self.network.site_of(name) if name in self.hosts else self.network.topology.site(name)

    def _note_cut(self, *targets: str) -> None:
        sites = {self.site_of(target) for target in targets}
        for plan in self.blueprint.clusters:
            if plan.site in sites:
                self.ledger.fault(plan.name, self.now)
