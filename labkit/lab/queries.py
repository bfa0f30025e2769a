"""Survey: what can be seen of a lab from outside without touching it; nothing here asks or changes anything."""

from __future__ import annotations

from labkit.lab.parts import Parts
from labkit.vault.replication.journal import WAL_KEY
from labkit.vault.replication.merkle import classify

STREAMING = "stream-wals"


class Survey(Parts):
    """The looking part of a Lab."""

    def active_node(self, cluster: str) -> str:
        """Return the name of the node that serves a cluster; empty while there is none."""
        nodes = self.blueprint.cluster(cluster).node_names
        return next((node for node in nodes if self.nodes[node].active), "")

    def is_running(self, node: str) -> bool:
        """Whether a node exists and is up, sealed or not."""
        return node in self.nodes and self.network.up(node)

    def host_at(self, address: str) -> str | None:
        """Return the host that an address such as ``https://paris-1:8201`` names; None for nobody's."""
        name = address.rpartition("//")[2].partition(":")[0]
        return name if name in self.nodes else None

    def cluster_of(self, node: str) -> str:
        """Return the cluster that a node belongs to."""
        return self.nodes[node].plan.name

    def mode_of(self, cluster: str) -> str:
        """Return a cluster's replication mode as its active node knows it; ``unknown`` without one."""
        node = self.active_node(cluster)
        return self.nodes[node].vault.core.mode().mode if node else "unknown"

    def root(self, cluster: str) -> str:
        """Return a cluster's Merkle root, forty hex digits; empty while its active node keeps no index."""
        node = self.active_node(cluster)
        index = self.nodes[node].vault.core.journal.index if node else None
        return index.root() if index is not None else ""

    def contents(self, cluster: str) -> dict[str, bytes]:
        """Return a cluster's replicated keys and ciphertexts, straight from its store."""
        store = self.stores[cluster]
        keys = store.keys()
        found = ((key, store.get(key)) for key in keys if classify(key))
        return {key: value for key, value in found if value is not None}

    def accepting(self) -> dict[str, list[str]]:
        """Return, for each replication set, the clusters whose active node is primary and reachable by clients."""
        found: dict[str, list[str]] = {}
        for plan in self.blueprint.clusters:
            node = self.active_node(plan.name)
            if not node:
                continue
            mode = self.nodes[node].vault.core.mode()
            if mode.mode == "primary" and self._clients_reach(plan.site):
                found.setdefault(mode.cluster_id, []).append(plan.name)
        return found

    def _clients_reach(self, site: str) -> bool:
        """Whether any client's place reaches a site; without clients every other site counts as one."""
        places = [plan.site for plan in self.blueprint.clients]
        places = places or [other for other in self.blueprint.sites if other != site] or [site]
        return any(self.network.reachable(place, site) for place in places)

    def streaming_pairs(self) -> list[tuple[str, str]]:
        """Return (primary, secondary) of every pair that streams and has nothing on its way."""
        pairs = []
        for plan in self.blueprint.clusters:
            node = self.active_node(plan.name)
            sync = self.nodes[node].vault.core.sync if node else None
            if sync is None or sync.state != STREAMING:
                continue
            upstream = self.followed.get(plan.name, "")
            leader = self.active_node(upstream) if upstream else ""
            if leader and self.nodes[leader].vault.core.journal.last == sync.position:
                pairs.append((upstream, plan.name))
        return pairs

    def last_entry(self, cluster: str) -> int:
        """Return the number of the newest journal entry in a cluster's store."""
        stored = self.stores[cluster].get(WAL_KEY)
        return 0 if stored is None else int.from_bytes(stored, "big")
