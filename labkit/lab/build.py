"""Wiring: how a lab's parts are made and joined, anew or from a saved state; both ways make the same parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.lab.blueprint import Blueprint, LinkPlan
from labkit.lab.chance import SeededEntropy
from labkit.lab.client_host import ClientHost
from labkit.lab.cluster import Cluster
from labkit.lab.desk import Desk
from labkit.lab.host import HEADER_BYTES, NodeHost
from labkit.lab.invariants import Invariants
from labkit.lab.ledger import Ledger
from labkit.lab.runbooks import Credentials
from labkit.service.limits import measure
from labkit.service.message import Request
from labkit.sim.clock import Clock
from labkit.sim.dice import Dice
from labkit.sim.faults import Faults
from labkit.sim.latency import Latency
from labkit.sim.network import Network
from labkit.sim.topology import Link, Topology
from labkit.trace import Trace
from labkit.vault.files import Files
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.vault import set_up

if TYPE_CHECKING:
    from labkit.lab.blueprint import ClusterPlan
    from labkit.lab.lab import Lab

STAGGER_NS = 100_000_000

SHAPES = {
    "constant": lambda plan: Latency.constant(plan.latency_ns),
    "uniform": lambda plan: Latency.uniform(plan.latency_ns // 2, plan.latency_ns * 3 // 2),
    "normal": lambda plan: Latency.normal(plan.latency_ns, plan.latency_ns // 10),
    "exponential": lambda plan: Latency.exponential(plan.latency_ns, plan.latency_ns // 2),
    "heavy": lambda plan: Latency.heavy(plan.latency_ns, plan.latency_ns * 20),
}


class Operator:
    """An operator's host: hands what arrives to the desk."""

    __slots__ = ("_desk",)

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def receive(self, source: str, what: str, payload: tuple[Any, ...]) -> None:
        """Take an answer."""
        self._desk.on_answer(payload[1], payload[2])


def build(lab: Lab, *, trace: bool) -> None:
    """Make a new lab's parts: clusters initialised and unsealed, their first nodes active, clients at work."""
    lab.trace = Trace(enabled=trace)
    lab.clock = Clock(lab.dispatch)
    lab.dice = Dice(lab.seed)
    lab.network = Network(topology_of(lab.blueprint), lab.clock, lab.dice, lab.trace)
    _place(lab)
    lab.stores = {plan.name: MemoryStorage() for plan in lab.blueprint.clusters}
    _join(lab, {})
    for plan in lab.blueprint.clusters:
        _raise_cluster(lab, plan)
    _add_clients(lab, {})
    for client in lab.clients.values():
        client.start()


def state(lab: Lab) -> dict[str, Any]:
    """Return the state of every part as plain values (R3)."""
    return {
        "branch_label": lab.branch_label,
        "trace": lab.trace.state(),
        "clock": lab.clock.state(),
        "dice": lab.dice.state(),
        "network": lab.network.state(),
        "stores": {name: store.state() for name, store in lab.stores.items()},
        "files": {name: files.state() for name, files in lab.files.items()},
        "nodes": {name: node.state() for name, node in lab.nodes.items()},
        "clients": {name: client.state() for name, client in lab.clients.items()},
        "hosts": tuple(lab.hosts),
        "desk": lab.desk.state(),
        "ledger": lab.ledger.state(),
        "invariants": lab.invariants.state(),
        "reigns": dict(lab.reigns),
        "modes": dict(lab.modes),
        "followed": dict(lab.followed),
        "held": dict(lab.held),
        "scenario": lab.scenario.state() if lab.scenario is not None else None,
    }


def restore(lab: Lab, kept: dict[str, Any]) -> None:
    """Make a lab's parts from a saved state."""
    lab.trace = Trace.from_state(kept["trace"])
    lab.clock = Clock(lab.dispatch, *kept["clock"])
    lab.dice = Dice(lab.seed, kept["dice"])
    lab.network = Network.from_state(kept["network"], lab.clock, lab.dice, lab.trace)
    lab.stores = {name: MemoryStorage.from_state(stored) for name, stored in kept["stores"].items()}
    _join(lab, kept)
    _add_clients(lab, kept["clients"])


def topology_of(blueprint: Blueprint) -> Topology:
    """Make the graph of sites that a blueprint describes."""
    return Topology(sites=blueprint.sites, links=tuple(_link(plan) for plan in blueprint.links))


def request_size(request: Request) -> int:
    """Return how many bytes a request counts on the wire."""
    return HEADER_BYTES + (measure(request.body) if request.body else 0)


def _link(plan: LinkPlan) -> Link:
    return Link(
        between=plan.between,
        latency=SHAPES[plan.distribution](plan),
        jitter_ns=plan.jitter_ns,
        loss_ppm=plan.loss_ppm,
        bandwidth_bps=plan.bandwidth_bps or None,
    )


def _place(lab: Lab) -> None:
    for plan in lab.blueprint.clusters:
        for node in plan.node_names:
            lab.network.place(node, plan.site)
        lab.network.private(f"{plan.name}-operator", plan.site)
    for group in lab.blueprint.clients:
        for client in group.names:
            lab.network.place(client, group.site)


def _join(lab: Lab, kept: dict[str, Any]) -> None:
    """Make everything above the network; ``kept`` is empty for a new lab."""
    lab.epoch_ns = lab.blueprint.epoch_ns
    lab.faults = Faults(lab.network, lab.clock, lab.trace)
    lab.reigns, lab.modes = dict(kept.get("reigns", {})), dict(kept.get("modes", {}))
    lab.followed, lab.held = dict(kept.get("followed", {})), dict(kept.get("held", {}))
    plans = lab.blueprint.clusters
    lab.files = {plan.name: Files(kept.get("files", {}).get(plan.name)) for plan in plans}
    lab.desk = Desk(lab, kept.get("desk"))
    lab.ledger = Ledger(kept.get("ledger"))
    lab.invariants = Invariants(lab, kept.get("invariants"))
    lab.clusters = {plan.name: Cluster(lab, plan) for plan in plans}
    states = kept.get("nodes", {})
    lab.nodes = {node: NodeHost(lab, node, plan, states.get(node)) for plan in plans for node in plan.node_names}
    lab.clients = {}
    lab.hosts = dict(lab.nodes)
    for plan in plans:
        lab.hosts[f"{plan.name}-operator"] = Operator(lab.desk)


def _raise_cluster(lab: Lab, plan: ClusterPlan) -> None:
    """Initialise a cluster, unseal its nodes, and let the first take the lease."""
    first, *standbys = plan.node_names
    core = lab.nodes[first].vault.core
    drawn = core.entropy
    core.entropy = SeededEntropy(lab.seed, plan.name, "birth")
    root_token, keys = set_up(core, plan.shares, plan.threshold)
    core.entropy = drawn
    lab.desk.credentials[plan.name] = Credentials(root_token, keys)
    for node in standbys:
        lab.nodes[node].vault.unseal_with(keys[: plan.threshold])
    lab.nodes[first].boot(0)
    for number, node in enumerate(standbys):
        lab.nodes[node].boot((number + 1) * STAGGER_NS)
    lab.clock.run(until_ns=lab.now)


def _add_clients(lab: Lab, states: dict[str, Any]) -> None:
    for group in lab.blueprint.clients:
        for name in group.names:
            lab.clients[name] = ClientHost(lab, name, group, states.get(name))
    lab.hosts.update(lab.clients)
