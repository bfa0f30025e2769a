"""Parts: what a lab is made of, by name; ``build`` makes them, for a new lab or from a saved state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from labkit.lab.flapping import Flapping
from labkit.lab.hosts.balancer import BalancerHost
from labkit.lab.hosts.client_host import ClientHost
from labkit.lab.hosts.cloud_host import CloudHost
from labkit.lab.hosts.impostor import Impostor, name_of
from labkit.lab.hosts.passage import Passage
from labkit.lab.nodes.node_directory import NodeDirectory
from labkit.lab.nodes.node_host import NodeHost
from labkit.lab.nodes.process import Process
from labkit.lab.operations.operator_console import OperatorConsole
from labkit.lab.plan.blueprint import Blueprint
from labkit.lab.records.loss_and_outage import RecoveryLedger
from labkit.lab.wire.addresses import CLOUD_HOST
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.turns import Turns
from labkit.seeded import DrawnOnce, WorldLabel
from labkit.service.message import Body
from labkit.sim.clock import Clock
from labkit.sim.network import Network
from labkit.sim.network_faults import Faults
from labkit.sim.random_streams import RandomStreams
from labkit.trace import Trace
from labkit.vault.files import Files
from labkit.vault.storage.memory import MemoryStorage


@dataclass(slots=True, kw_only=True)
class Parts:
    """The parts of one lab; none of them knows the lab."""

    blueprint: Blueprint
    seed: int
    label: WorldLabel
    branches: int
    start_wall_ns: int
    trace: Trace
    clock: Clock
    random_streams: RandomStreams
    drawn_once: DrawnOnce
    network: Network
    network_faults: Faults
    stores: dict[str, MemoryStorage]
    files: dict[str, Files]
    nodes: dict[str, NodeHost]
    processes: dict[str, Process]
    passages: dict[str, Passage]
    impostors: dict[str, Impostor]
    late_services: Callable[[str], HostServices]  # of a host that is not in the blueprint
    clouds: dict[str, CloudHost] = field(default_factory=dict)  # one at most
    directory: NodeDirectory
    clients: dict[str, ClientHost]
    balancers: dict[str, BalancerHost]
    hosts: dict[str, Any]
    console: OperatorConsole
    ledger: RecoveryLedger
    flapping: dict[tuple[str, ...], Flapping]
    turns: Turns = field(default_factory=Turns)

    @property
    def now(self) -> int:
        """Simulated time since the lab was built, in nanoseconds."""
        return self.clock.now

    def add_impostor(self, node: str, state: dict[str, Any] | None = None) -> None:
        """Put an impostor in a node's place; ``connect`` lets it take effect."""
        name, site = name_of(node), self.network.site_of(node)
        near = frozenset(host for host in self.hosts if self.network.site_of(host) == site)
        if name not in self.network.hosts():
            self.network.place(name, site)
        self.impostors[node] = Impostor(node, near, self.late_services(name), state)
        self.hosts[name] = self.impostors[node]

    def add_cloud(self, site: str, state: dict[str, Any] | None = None) -> CloudHost:
        """Put the cloud on a host of its own at a site."""
        if CLOUD_HOST in self.hosts:
            raise ValueError(f"the cloud's host is called {CLOUD_HOST}, as another one of this lab is: rename that")
        if CLOUD_HOST not in self.network.hosts():
            self.network.place(CLOUD_HOST, site)
        host = CloudHost(CLOUD_HOST, site, self.late_services(CLOUD_HOST), self.start_wall_ns, state)
        for shared in (host.cloud, host.keystore):
            shared.use.is_forked = lambda: self.turns.is_forked()  # which the bench hands in later
        self.clouds[CLOUD_HOST] = self.hosts[CLOUD_HOST] = host
        return host

    def cloud_values(self) -> dict[str, Any]:
        """Return what operators have of the cloud, by name (``kept_values``)."""
        return {name: value for host in self.clouds.values() for name, value in host.values().items()}

    def login_body(self, machine: str) -> Body:
        """Return what a machine of the cloud logs in with now; nothing without a cloud, or a token."""
        host = self.clouds.get(CLOUD_HOST)
        return {} if host is None else host.login_body(machine)

    def connect(self, node: str) -> None:
        """Let the clock's items for a node go to its process, or past it to the node while nothing waits for it."""
        host, impostor, passage = self.processes[node].host, self.impostors.get(node), self.passages.get(node)
        host = passage.in_front_of(host) if passage is not None else host
        self.hosts[node] = impostor.in_front_of(host) if impostor is not None and impostor.present else host
