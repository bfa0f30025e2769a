"""Build: how a lab's parts are made, for a new lab or from a saved state; both ways make the same parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from labkit.lab.flapping import Flapping
from labkit.lab.hosts.balancer import BalancerHost
from labkit.lab.hosts.client_host import ClientAccess, ClientHost
from labkit.lab.hosts.passage import Passage
from labkit.lab.nodes.election import RAISED_APART_NS
from labkit.lab.nodes.node_directory import NodeDirectory
from labkit.lab.nodes.node_host import NodeHost
from labkit.lab.nodes.process import Process
from labkit.lab.operations.operator_console import OperatorConsole
from labkit.lab.operations.operator_host import OperatorHost
from labkit.lab.operations.runbook_effects import Credentials
from labkit.lab.parts import Parts
from labkit.lab.plan.blueprint import Blueprint, ClusterPlan, LinkPlan
from labkit.lab.records.chunks import NEWEST_ROWS
from labkit.lab.records.loss_and_outage import RecoveryLedger
from labkit.lab.wire.host_services import HostServices
from labkit.seeded import DrawnOnce, SeededEntropy, WorldLabel
from labkit.sim.clock import Clock
from labkit.sim.latency import Latency
from labkit.sim.network import Network
from labkit.sim.network_faults import Faults
from labkit.sim.random_streams import RandomStreams
from labkit.sim.topology import Link, Topology
from labkit.trace import Trace
from labkit.vault.files import Files
from labkit.vault.replication.trust.api_certificate import files_of
from labkit.vault.sealing.initialise import set_up
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.storage.unfenced import UnfencedStorage

MILLION = 1_000_000

# The clock's items: (DELIVER, target, message), (TIMER, host, timer), (CONSOLE, "", timer), (FAULT, "", timer) and
# ("scenario", "", payload).
DELIVER, TIMER, CONSOLE, FAULT, CONDITION = "deliver", "timer", "console", "fault", "condition"

SHAPES = {
    "constant": lambda ns: Latency.constant(ns),
    "uniform": lambda ns: Latency.uniform(ns // 2, ns * 3 // 2),
    "normal": lambda ns: Latency.normal(ns, ns // 10),
    "exponential": lambda ns: Latency.exponential(ns, ns // 2),
    "heavy": lambda ns: Latency.heavy(ns, ns * 20),
}


class Connections(NamedTuple):
    """Where the clock's items go when they fall due, and where the hosts' reports go."""

    dispatch: Callable[[Any], None]
    emit: Callable[[Any], None]


def make_parts(
    blueprint: Blueprint,
    seed: int,
    connections: Connections,
    *,
    trace: bool = True,
    state: dict[str, Any] | None = None,
) -> Parts:
    """Make a lab's parts: of a saved state, or without one as nothing has happened yet."""
    state = state or {}
    shared = _shared_parts(blueprint, seed, connections, trace, state)
    parts = Parts(
        blueprint=blueprint,
        seed=seed,
        label=shared.label,
        branches=state.get("branches", 0),
        start_wall_ns=blueprint.start_wall_ns,
        trace=shared.trace,
        clock=shared.clock,
        random_streams=shared.streams,
        drawn_once=shared.drawn_once,
        network=shared.network,
        network_faults=Faults(shared.network, shared.clock, shared.trace),
        stores=_stores(blueprint, state.get("stores")),
        files={plan.name: _files(plan, blueprint, seed, state) for plan in blueprint.clusters},
        nodes=shared.nodes,
        processes=shared.processes,
        passages={},
        impostors={},
        late_services=lambda name: shared.services(TIMER, name),
        directory=shared.directory,
        clients={},
        balancers={},
        hosts={},
        console=_console(blueprint, shared, state.get("console")),
        ledger=RecoveryLedger(state.get("ledger"), 0 if shared.trace.enabled else NEWEST_ROWS),
        flapping={row[:2]: Flapping(*row[2]) for row in state.get("flapping", ())},
    )
    _add_hosts(parts, shared, state)
    return parts


def start(parts: Parts) -> None:
    """Start a new lab: clusters initialised and unsealed, their first nodes active, clients at work."""
    for plan in parts.blueprint.clusters:
        _raise_cluster(parts, plan)
    for balancer in parts.balancers.values():
        balancer.start()
    for client in parts.clients.values():
        client.start()


def topology_of(blueprint: Blueprint) -> Topology:
    """Make the graph of sites that a blueprint describes."""
    return Topology(sites=blueprint.sites, links=tuple([_link(plan) for plan in blueprint.links]))


class _SharedParts(NamedTuple):
    """What all hosts share, and what each host's services are made of."""

    seed: int
    label: WorldLabel
    trace: Trace
    clock: Clock
    streams: RandomStreams
    drawn_once: DrawnOnce
    network: Network
    nodes: dict[str, NodeHost]
    processes: dict[str, Process]
    directory: NodeDirectory
    emit: Callable[[Any], None]

    def services(self, verb: str, host: str, cluster: str = "") -> HostServices:
        """Return the services of one host; its timers are items of the clock with this verb."""
        clock, streams, seed, drawn_once, label = self.clock, self.streams, self.seed, self.drawn_once, self.label

        def now() -> int:
            return clock.now

        def after(delay_ns: int, payload: Any, spread_ppm: int = 0) -> None:
            if spread_ppm:
                width_ns = delay_ns * spread_ppm // MILLION
                delay_ns += streams.below(f"backoff {host}", 2 * width_ns + 1) - width_ns
            clock.at(clock.now + delay_ns, (verb, host, payload))

        def entropy(incarnation: int, counter: int) -> SeededEntropy:
            return SeededEntropy(seed, label.branch, cluster, host, incarnation, counter=counter, drawn_once=drawn_once)

        return HostServices(
            now,
            after,
            self.network.send,
            self.network.datagram,
            self.directory.resolve,
            entropy,
            self.emit,
            self.nodes.__contains__,
        )


def _shared_parts(
    blueprint: Blueprint, seed: int, connections: Connections, trace: bool, state: dict[str, Any]
) -> _SharedParts:
    log = Trace.from_state(state["trace"]) if state else Trace(enabled=trace)
    clock = Clock(connections.dispatch, *state.get("clock", ()))
    label = WorldLabel(state.get("branch_label", ""), state.get("luck", ()))
    streams = RandomStreams(label.seed_of_network(seed), state.get("random_streams"))
    drawn_once = DrawnOnce(state.get("drawn_once"))
    if state:
        network = Network.from_state(state["network"], clock, streams, log)
    else:
        network = _placed(blueprint, Network(topology_of(blueprint), clock, streams, log))
    nodes: dict[str, NodeHost] = {}
    processes: dict[str, Process] = {}
    directory = NodeDirectory(blueprint, nodes, processes, network)
    return _SharedParts(
        seed, label, log, clock, streams, drawn_once, network, nodes, processes, directory, connections.emit
    )


def _files(plan: ClusterPlan, blueprint: Blueprint, seed: int, state: dict[str, Any]) -> Files:
    """Return a cluster's files: those that were written, and its API's authority, certificate and key."""
    entropy = SeededEntropy(seed, plan.name, "api certificate")
    made = files_of(plan.name, plan.node_names, entropy, blueprint.start_wall_ns)
    lines, blocked = state.get("files", {}), state.get("blocked_files", {})
    return Files(lines.get(plan.name), made, blocked.get(plan.name))


def _stores(blueprint: Blueprint, states: dict[str, Any] | None) -> dict[str, MemoryStorage]:
    kinds = {plan.name: MemoryStorage if plan.fencing else UnfencedStorage for plan in blueprint.clusters}
    if states is None:
        return {name: kind() for name, kind in kinds.items()}
    return {name: kinds[name].from_state(state) for name, state in states.items()}


def _link(plan: LinkPlan) -> Link:
    return Link(
        between=plan.between,
        latency=SHAPES[plan.distribution](plan.latency_ns),
        back=SHAPES[plan.distribution](plan.back_ns) if plan.back_ns else None,
        jitter_ns=plan.jitter_ns,
        loss_ppm=plan.loss_ppm,
        bandwidth_bps=plan.bandwidth_bps or None,
    )


def _placed(blueprint: Blueprint, network: Network) -> Network:
    """Place every host of a blueprint on a new network."""
    for plan in blueprint.clusters:
        for node in plan.node_names:
            network.place(node, plan.site)
        network.private(plan.operator_host, plan.site)
    for balancer in blueprint.balancers:
        network.place(balancer.name, balancer.site)
    for group in blueprint.clients:
        for client in group.names:
            network.place(client, group.site)
    return network


def _console(blueprint: Blueprint, shared: _SharedParts, state: dict[str, Any] | None) -> OperatorConsole:
    services = shared.services(CONSOLE, "")._replace(resolve=shared.directory.resolve_for_console)
    return OperatorConsole(blueprint, services, state)


def _add_hosts(parts: Parts, shared: _SharedParts, state: dict[str, Any]) -> None:
    """Make all that stands on hosts, impostors last: they are in front of nodes."""
    _add_nodes(parts, shared, state)
    _add_balancers(parts, shared, state.get("balancers", {}))
    _add_clients(parts, shared, state.get("clients", {}))
    parts.console.cloud_values = parts.cloud_values
    if parts.blueprint.cloud is not None and not state:
        parts.add_cloud(parts.blueprint.cloud.site)
    for cloud in state.get("clouds", {}).values():
        parts.add_cloud(cloud["site"], cloud)
    for node, impostor in state.get("impostors", {}).items():
        parts.add_impostor(node, impostor)
        parts.connect(node)
    for name in state.get("hosts", ()):  # in the order in which they came: a cloud may have come after an impostor
        if name in parts.hosts:
            parts.hosts[name] = parts.hosts.pop(name)


def _add_nodes(parts: Parts, shared: _SharedParts, state: dict[str, Any]) -> None:
    """Make the nodes, each with its process, and beside each cluster its operator's host."""
    states, processes = state.get("nodes", {}), state.get("processes", {})
    balancers = frozenset(plan.name for plan in parts.blueprint.balancers)
    for plan in parts.blueprint.clusters:
        store, files = parts.stores[plan.name], parts.files[plan.name]
        for node in parts.blueprint.nodes_of(plan.name):
            own = shared.services(TIMER, node.name, plan.name)
            if balancers:  # without any, nothing stands between a node and the network
                passage = parts.passages[node.name] = Passage(balancers, own, state.get("passages", {}).get(node.name))
                own = passage.services
            host = parts.nodes[node.name] = NodeHost(node, own, store, files, states.get(node.name))
            parts.processes[node.name] = Process(host, node.service_ns, own.after, processes.get(node.name))
            parts.connect(node.name)
    for plan in parts.blueprint.clusters:
        parts.hosts[plan.operator_host] = OperatorHost(plan.operator_host, parts.console)


def _add_clients(parts: Parts, shared: _SharedParts, states: dict[str, Any]) -> None:
    for group in parts.blueprint.clients:
        nodes = parts.blueprint.behind(group)
        preferred = group.use[0]
        for name in group.names:
            access = ClientAccess(_root_token(parts.console, preferred), parts.login_body)
            own = shared.services(TIMER, name)
            parts.clients[name] = ClientHost(name, group, nodes, own, access, states.get(name))
    parts.hosts.update(parts.clients)


def _add_balancers(parts: Parts, shared: _SharedParts, states: dict[str, Any]) -> None:
    for plan in parts.blueprint.balancers:
        nodes = tuple([node.name for cluster in plan.use for node in parts.blueprint.nodes_of(cluster)])
        parts.balancers[plan.name] = BalancerHost(plan, nodes, shared.services(TIMER, plan.name), states.get(plan.name))
    parts.hosts.update(parts.balancers)


def _root_token(console: OperatorConsole, cluster: str) -> Callable[[], str]:
    return lambda: console.credentials[cluster].root_token


def _raise_cluster(parts: Parts, plan: ClusterPlan) -> None:
    """Initialise a cluster, unseal its nodes, and let the first take the lease."""
    first, *standbys = plan.node_names
    core = parts.nodes[first].core
    drawn = core.entropy
    core.entropy = SeededEntropy(parts.seed, plan.name, "birth")
    root_token, keys = set_up(core, plan.shares, plan.threshold)
    core.entropy = drawn
    parts.console.credentials[plan.name] = Credentials(root_token, keys)
    for node in standbys:
        parts.nodes[node].vault.unseal_with(keys[: plan.threshold])
    for number, node in enumerate(plan.node_names):
        parts.nodes[node].boot(number * RAISED_APART_NS)
    parts.clock.run(until_ns=parts.now)
