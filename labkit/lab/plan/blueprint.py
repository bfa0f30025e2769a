"""Blueprint: regions, clusters, clients and links of a lab, as frozen data.

A blueprint is everything that a lab is built from besides its seed.  ``pair`` and ``triangle`` are the two that need no
file: clusters of three nodes each, one a region, with a place between them where clients live.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from labkit.lab.plan.measured_latencies import latency_ns
from labkit.lab.plan.workload_operations import CLOUD
from labkit.seeded import START_NS
from labkit.service.arguments import wrong
from labkit.service.durations import MILLISECOND_NS, SECOND_NS

# 2030-01-01T00:00:00Z: where a lab's wall clocks stand when it is built


@dataclass(frozen=True, kw_only=True)
class LinkPlan:
    """One link between two sites: latency and jitter in nanoseconds, loss in parts per million, bits per second.

    ``back_ns`` is the latency from the second site to the first, where that is another (0: the same).
    """

    between: tuple[str, str]
    latency_ns: int
    jitter_ns: int = 0
    loss_ppm: int = 0
    bandwidth_bps: int = 0
    distribution: str = "constant"
    back_ns: int = 0

    @classmethod
    def measured(cls, between: tuple[str, str], regions: tuple[str, str]) -> LinkPlan:
        """Return a link with the latency that was measured between two regions (``measured_latencies``)."""
        return cls(between=between, latency_ns=latency_ns(*regions))


@dataclass(frozen=True, kw_only=True)
class NodeSettings:
    """What one node of a cluster has of its own; None is the cluster's.

    Its wall clock is wrong by ``offset_ns`` at the start, and by ``drift_ppm`` parts per million of the time since.
    """

    name: str
    version: str | None = None
    service_ns: int | None = None
    offset_ns: int = 0
    drift_ppm: int = 0


@dataclass(frozen=True, kw_only=True)
class ClusterPlan:
    """One cluster: its site, how many nodes, how its root key is shared out, and which version it runs.

    ``service_ns`` is how long a node works on one request of the API (0: no time).  Without ``fencing`` its store
    takes the commits of a leader that was overtaken.  ``each`` has what single nodes have of their own.
    """

    name: str
    site: str
    nodes: int = 3
    shares: int = 5
    threshold: int = 3
    version: str = "1.16.3+ent"
    backlog_entries: int = 16_384
    service_ns: int = 0
    fencing: bool = True
    each: tuple[NodeSettings, ...] = ()

    @property
    def node_names(self) -> tuple[str, ...]:
        """The names of the cluster's nodes, in order."""
        return tuple([f"{self.name}-{number}" for number in range(1, self.nodes + 1)])

    @property
    def operator_host(self) -> str:
        """The name of the operator's host beside the cluster."""
        return f"{self.name}-operator"

    def settings_of(self, node: str) -> NodeSettings:
        """Return what a node has of its own."""
        return next((settings for settings in self.each if settings.name == node), NodeSettings(name=node))


@dataclass(frozen=True, kw_only=True)
class NodePlan:
    """One node: its name, its cluster, the time at the start of the lab, and what it has of its own."""

    name: str
    cluster: ClusterPlan
    start_wall_ns: int = START_NS
    own_version: str | None = None
    service_ns: int = 0
    offset_ns: int = 0
    drift_ppm: int = 0

    @property
    def version(self) -> str:
        """Which version it runs: its own, or the cluster's."""
        return self.own_version or self.cluster.version


@dataclass(frozen=True, kw_only=True)
class WorkloadPlan:
    """What a group of clients does: an operation at a steady rate between two instants (nanoseconds of lab time).

    With ``cas`` a secret is put only as the version after the one that the client last saw.  Tokens that are created
    have ``ttl_ns`` and ``uses`` (0: as the service has it).  A login is ``by`` the method mounted under that name: a
    ``machine`` of the cloud with a ``role``, a program with the ids of AppRole, or a user with a password.
    """

    operation: str
    every_ns: int
    from_ns: int = 0
    until_ns: int = 0
    size_bytes: int = 64
    keys: int = 0
    cas: bool = False
    ttl_ns: int = 0
    uses: int = 0
    role: str = "web"
    machine: str = "web-1"
    by: str = CLOUD
    role_id: str = ""
    secret_id: str = field(default="", repr=False)
    user: str = ""
    password: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class ClientPlan:
    """A group of clients: their site, the clusters they use in order of preference, and how long they wait.

    The pause before another attempt is ``backoff_ns``, doubled each time up to ``max_backoff_ns`` (0: always the same),
    longer or shorter by up to ``jitter_ppm``.  ``budget_ppm`` is how many further attempts each operation pays for
    (0: no budget).  With ``check_ns`` they check every node's health so often and use one in service, which ``fall``
    failed checks end; without, they try one node after another.  ``consistent`` ones send X-Vault-Index.
    Those ``through`` a load balancer know nothing but that.  With ``share`` all of them use the same keys, those under
    this name.
    """

    name: str
    site: str
    use: tuple[str, ...]
    count: int = 1
    timeout_ns: int = SECOND_NS
    retries: int = 3
    backoff_ns: int = 200 * MILLISECOND_NS
    max_backoff_ns: int = 0
    jitter_ppm: int = 0
    budget_ppm: int = 0
    check_ns: int = 0
    fall: int = 2
    consistent: bool = False
    through: str = ""
    share: str = ""
    workload: tuple[WorkloadPlan, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the group's clients, in order."""
        return tuple([f"{self.name}-{number}" for number in range(1, self.count + 1)])


@dataclass(frozen=True, kw_only=True)
class BalancerPlan:
    """A load balancer: its site, the clusters behind it in order of preference, and how it checks their health.

    It passes connections through, or with ``ends_tls`` reads requests.
    """

    name: str
    site: str
    use: tuple[str, ...]
    check_ns: int = SECOND_NS
    fall: int = 2
    ends_tls: bool = False


@dataclass(frozen=True, kw_only=True)
class CloudPlan:
    """The simulated cloud on a host of its own: its site."""

    site: str


@dataclass(frozen=True, kw_only=True)
class Blueprint:
    """A whole lab, before it is built; without ``cloud`` a cloud comes to the first site when it is asked for."""

    sites: tuple[str, ...]
    links: tuple[LinkPlan, ...]
    clusters: tuple[ClusterPlan, ...]
    clients: tuple[ClientPlan, ...] = ()
    balancers: tuple[BalancerPlan, ...] = ()
    cloud: CloudPlan | None = None
    start_wall_ns: int = START_NS

    def cluster(self, name: str) -> ClusterPlan:
        """Return the plan of a cluster; ValueError with the names there are for any other value."""
        for plan in self.clusters:
            if plan.name == name:
                return plan
        raise wrong("cluster", "a cluster", name, [plan.name for plan in self.clusters])

    def nodes_of(self, cluster: str) -> tuple[NodePlan, ...]:
        """Return the plans of a cluster's nodes, in order; ValueError as ``cluster``."""
        plan = self.cluster(cluster)
        own = {settings.name: settings for settings in reversed(plan.each)}  # of two for one node the first counts
        return tuple([self._node(plan, own.get(name) or NodeSettings(name=name)) for name in plan.node_names])

    def behind(self, group: ClientPlan) -> tuple[NodePlan, ...]:
        """Return what a group of clients sends to: the nodes of its clusters, or the load balancer in front of them."""
        if group.through:
            front = ClusterPlan(name=group.through, site=group.site, nodes=1)
            return (NodePlan(name=group.through, cluster=front),)
        return tuple([node for cluster in group.use for node in self.nodes_of(cluster)])

    def with_clients(self, *clients: ClientPlan) -> Blueprint:
        """Return the blueprint with these groups of clients instead of its own."""
        return replace(self, clients=clients)

    def _node(self, plan: ClusterPlan, own: NodeSettings) -> NodePlan:
        return NodePlan(
            name=own.name,
            cluster=plan,
            start_wall_ns=self.start_wall_ns,
            own_version=own.version,
            service_ns=plan.service_ns if own.service_ns is None else own.service_ns,
            offset_ns=own.offset_ns,
            drift_ppm=own.drift_ppm,
        )


def pair() -> Blueprint:
    """Clusters paris and tokyo, three nodes each, 80 ms apart one way, and clients' place lisbon."""
    return Blueprint(
        sites=("paris", "tokyo", "lisbon"),
        links=(
            _link("paris", "tokyo", 80),
            _link("lisbon", "paris", 15),
            _link("lisbon", "tokyo", 90),
        ),
        clusters=(ClusterPlan(name="paris", site="paris"), ClusterPlan(name="tokyo", site="tokyo")),
    )


def triangle() -> Blueprint:
    """The pair, and a third cluster lima."""
    two = pair()
    return replace(
        two,
        sites=(*two.sites, "lima"),
        links=(*two.links, _link("lima", "paris", 95), _link("lima", "tokyo", 110), _link("lima", "lisbon", 85)),
        clusters=(*two.clusters, ClusterPlan(name="lima", site="lima")),
    )


def _link(a: str, b: str, latency_ms: int) -> LinkPlan:
    return LinkPlan(between=(a, b), latency_ns=latency_ms * MILLISECOND_NS, jitter_ns=latency_ms * 10_000)
