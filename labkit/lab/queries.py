"""Queries: what can be seen of a lab from outside; nothing here sends anything or changes anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from labkit.lab.parts import Parts
from labkit.lab.plan.blueprint import Blueprint
from labkit.lab.records.lag import Lag, Progress
from labkit.lab.records.observations import Observations
from labkit.lab.records.outages import CUT, DOWN, FENCED, Cause
from labkit.lab.records.surviving_tokens import Counts, survival, valid_tokens
from labkit.lab.wire.addresses import host_of
from labkit.lab.wire.messages import Correlation
from labkit.service.message import Request, Unreadable
from labkit.vault import cors
from labkit.vault.mount_caches import CacheCounts
from labkit.vault.replication.state import State
from labkit.vault.replication.tree.journal import WAL_KEY, read_number
from labkit.vault.replication.tree.merkle import OUTSIDE, leaf_digest

STREAMING = "stream-wals"


class Reach(NamedTuple):
    """Which sites no client reaches, and from each site the others that it and they do not reach, at an epoch."""

    epoch: int
    fenced: tuple[str, ...] = ()
    cut: Mapping[str, frozenset[str]] = MappingProxyType({})

    @property
    def is_whole(self) -> bool:
        """Whether everybody reaches everybody."""
        return not self.fenced and not self.cut


class Queries:
    """The looking part of a lab.

    ``upstreams`` says whom each secondary follows, ``followers`` who follows each cluster, ``progress`` how far all
    are, ``observations`` what was observed and how often.
    """

    __slots__ = ("_plans", "_reach", "cluster_names", "followers", "observations", "parts", "progress", "upstreams")

    def __init__(
        self,
        parts: Parts,
        upstreams: Mapping[str, str],
        followers: Mapping[str, Iterable[str]],
        progress: Progress,
        observations: Observations,
    ) -> None:
        self.parts, self.upstreams, self.followers, self.progress = parts, upstreams, followers, progress
        self.observations = observations
        self._reach = Reach(-1)
        plans = enumerate(parts.blueprint.clusters)
        self._plans = {plan.name: (plan.site, plan.node_names, place) for place, plan in plans}
        self.cluster_names = tuple(self._plans)  # in order

    @property
    def now(self) -> int:
        """Simulated time since the lab was built, in nanoseconds."""
        return self.parts.now

    @property
    def blueprint(self) -> Blueprint:
        """What the lab was built from."""
        return self.parts.blueprint

    def place_of(self, cluster: str) -> int:
        """Return the place of a cluster in the order of the blueprint."""
        return self._plans[cluster][2]

    def active_node(self, cluster: str) -> str:
        """Return the name of the node that serves a cluster; empty while there is none."""
        return self.parts.directory.active_node(cluster)

    def is_running(self, node: str) -> bool:
        """Whether a node exists and is up, sealed or not."""
        return node in self.parts.nodes and self.parts.network.up(node)

    def is_paused(self, node: str) -> bool:
        """Whether a node's process is paused."""
        return self.parts.processes[node].paused

    def waiting(self, node: str) -> int:
        """Return how many requests wait for a node or are worked on: of the messages of a pause, all."""
        process = self.parts.processes[node]
        return len(process.queue) + len(process.held)

    def cluster_of(self, node: str) -> str:
        """Return the cluster that a node belongs to."""
        return self.parts.nodes[node].cluster

    def nodes_of(self, target: str) -> tuple[str, ...]:
        """Return the nodes that a target names: itself, or all of a cluster."""
        if target in self.parts.nodes:
            return (target,)
        known = self._plans.get(target)
        return known[1] if known is not None else self.parts.blueprint.cluster(target).node_names

    def site_of(self, name: str) -> str:
        """Return the site that a name means: itself, or that of a cluster or host."""
        known = self._plans.get(name)
        if known is not None:
            return known[0]
        network = self.parts.network
        return network.site_of(name) if name in self.parts.hosts else network.topology.site(name)

    def cache_counts(self, cluster: str) -> tuple[CacheCounts, ...]:
        """Return what the caches of a cluster's mounts hold and how often they served, on its active node."""
        node = self.active_node(cluster)
        return self.parts.nodes[node].vault.cache_counts if node else ()

    def judge_large(self, cluster: str, request: Request) -> Unreadable | None:
        """Return what stands for a large body, as a cluster's active node judges its sender; None without one."""
        node = self.active_node(cluster)
        return self.parts.nodes[node].vault.judge_large(request) if node else None

    def has_cors(self, cluster: str) -> bool:
        """Whether a cluster's active node judges the origins of requests."""
        node = self.active_node(cluster)
        return bool(node) and cors.is_configured(self.parts.nodes[node].vault.core)

    def mode_of(self, cluster: str) -> str:
        """Return a cluster's replication mode as its active node knows it; ``unknown`` without one."""
        node = self.active_node(cluster)
        return self.parts.nodes[node].mode.mode if node else "unknown"

    def state_of(self, cluster: str) -> str:
        """Return what the status of a cluster would say its state is; empty where it does not replicate."""
        node = self.parts.nodes.get(self.active_node(cluster))
        if node is None or node.mode.mode == "disabled":
            return ""
        return "running" if node.mode.mode == "primary" else (node.sync or State()).state

    def connection_of(self, cluster: str) -> str:
        """Return the state of a secondary's connection to its primary; empty for a cluster without one."""
        node = self.parts.nodes.get(self.active_node(cluster))
        if node is None or not node.mode.has_upstream:
            return ""
        return (node.sync or State()).connection_state

    def upstream_of(self, cluster: str) -> str:
        """Return the cluster that a secondary follows, or followed last; empty for none."""
        return self.upstreams.get(cluster, "")

    def lag(self, primary: str, secondary: str, at_ns: int | None = None) -> Lag:
        """Return how far a secondary is behind the cluster that it follows, or was at an instant; else infinite."""
        return self.progress.lag(primary, secondary, self.now if at_ns is None else at_ns)

    def lags(self, at_ns: int | None = None) -> dict[str, Lag]:
        """Return for each cluster that follows another, or did at an instant, how far it was behind."""
        at_ns = self.now if at_ns is None else at_ns
        names = list(self.cluster_names)
        followed = {name: self.progress.upstream(name, at_ns) for name in names}
        return {name: self.progress.lag(followed[name], name, at_ns) for name in names if followed[name]}

    def root(self, cluster: str) -> str:
        """Return a cluster's Merkle root, forty hex digits; empty while its active node keeps no index."""
        node = self.active_node(cluster)
        index = self.parts.nodes[node].journal.tree if node else None
        return index.root() if index is not None else ""

    def root_as_is(self, cluster: str) -> str:
        """Return a cluster's root as ``root`` does, and fold nothing: the lab goes on as if nobody had asked."""
        node = self.active_node(cluster)
        index = self.parts.nodes[node].journal.tree if node else None
        return index.root_as_is() if index is not None else ""

    def contents(self, cluster: str) -> dict[str, bytes]:
        """Return a cluster's replicated keys and ciphertexts, straight from its store."""
        values = self.parts.stores[cluster].values
        return {key: values[key] for key in sorted(values) if not key.startswith(OUTSIDE)}

    def digest(self, cluster: str, key: str) -> bytes | None:
        """Return the digest of what a cluster's store holds under a key, 20 bytes; None for nothing."""
        stored = self.parts.stores[cluster].get(key)
        return None if stored is None else leaf_digest(key, stored)

    def token_survival(self, old_primary: str, survivor: str) -> Counts:
        """Return how many tokens were valid at an old primary, and at the survivor what ``survival`` says."""
        core, stores = self.parts.nodes[self.active_node(survivor)].core, self.parts.stores
        return survival(valid_tokens(stores[old_primary], core), valid_tokens(stores[survivor], core))

    def is_awaited(self, correlation: Correlation) -> bool:
        """Whether a client or an operator still waits for the answer to a request."""
        client = self.parts.clients.get(correlation.asker)
        if client is not None:
            return correlation.number in client.client.pending
        ask = self.parts.console.asks.get(correlation.number)  # a node's fetch has a number too
        return ask is not None and self.parts.console.hosts[ask.cluster] == correlation.asker

    def reach(self) -> Reach:
        """Return which sites are cut off or apart now; it changes with the network's epoch only."""
        network = self.parts.network
        if self._reach.epoch != network.epoch:
            sites = list(dict.fromkeys([plan.site for plan in self.parts.blueprint.clusters]))
            fenced = () if network.is_whole else tuple([site for site in sites if not self._clients_reach(site)])
            cut: dict[str, set[str]] = {}
            for one, other in network.apart(sites):
                cut.setdefault(one, set()).add(other)
                cut.setdefault(other, set()).add(one)
            self._reach = Reach(network.epoch, fenced, {site: frozenset(others) for site, others in cut.items()})
        return self._reach

    def outages(self) -> list[Cause]:
        """Return what keeps clusters from serving or shipping now: who is down or fenced, and which lines are cut."""
        plans, (_, fenced, cut) = self.parts.blueprint.clusters, self.reach()
        causes: list[Cause] = [(DOWN, plan.name) for plan in plans if not self.active_node(plan.name)]
        causes += [(FENCED, plan.name) for plan in plans if plan.site in fenced]
        at: dict[str, list[tuple[int, str]]] = {}
        for number, plan in enumerate(plans):
            at.setdefault(plan.site, []).append((number, plan.name))
        for one in plans if cut else ():
            others = sorted([row for site in cut.get(one.site, ()) for row in at[site] if one.name < row[1]])
            apart = [(one.name, other) for _, other in others]
            causes += [(CUT, *pair) for pair in apart if not (self.passes(*pair) or self.passes(*pair[::-1]))]
        return causes

    def passes(self, primary: str, secondary: str) -> bool:
        """Whether a secondary is connected to its primary through a load balancer, and no line on the way is cut."""
        node = self.active_node(secondary)
        sync = self.parts.nodes[node].sync if node and self.upstream_of(secondary) == primary else None
        if sync is None or sync.connection_state != "ready":
            return False
        balancer, network = host_of(sync.addresses[0]), self.parts.network
        if balancer not in self.parts.balancers:
            return False
        place = self.site_of(balancer)
        return all(network.reachable(self.site_of(cluster), place) for cluster in (primary, secondary))

    def accepting(self) -> dict[str, list[str]]:
        """Return, for each replication set, the clusters whose active node is primary and reachable by clients."""
        found: dict[str, list[str]] = {}
        for name in self.cluster_names:
            set_id = self.accepts_for(name)
            if set_id is not None:
                found.setdefault(set_id, []).append(name)
        return found

    def accepts_for(self, cluster: str) -> str | None:
        """Return the replication set that a cluster accepts writes of; None while it does not."""
        node = self.active_node(cluster)
        mode = self.parts.nodes[node].mode if node else None
        if mode is None or mode.mode != "primary":
            return None
        fenced = self.reach().fenced
        return None if fenced and self.site_of(cluster) in fenced else mode.cluster_id

    def streaming_pairs(self) -> list[tuple[str, str]]:
        """Return (primary, secondary) of every pair that streams and has nothing on its way."""
        pairs = []
        nodes = self.parts.nodes
        for plan in self.parts.blueprint.clusters:
            node = self.active_node(plan.name)
            sync = nodes[node].sync if node else None
            if sync is None or sync.state != STREAMING:
                continue
            upstream = self.upstream_of(plan.name)
            leader = self.active_node(upstream) if upstream else ""
            if not leader or not nodes[leader].journal.on:
                continue
            above, below = nodes[leader].mode, nodes[node].mode
            same_set = above.mode == "primary" and above.cluster_id == below.cluster_id
            if same_set and nodes[leader].journal.last == sync.position:
                pairs.append((upstream, plan.name))
        return pairs

    def last_entry(self, cluster: str) -> int:
        """Return the number of the newest journal entry in a cluster's store."""
        return read_number(self.parts.stores[cluster].get(WAL_KEY))

    def _clients_reach(self, site: str) -> bool:
        """Whether any client's place reaches a site; without clients every other site counts as one."""
        blueprint = self.parts.blueprint
        places = [*dict.fromkeys([plan.site for plan in blueprint.clients])]
        places = places or [other for other in blueprint.sites if other != site] or [site]
        return any(self.parts.network.reachable(place, site) for place in places)
