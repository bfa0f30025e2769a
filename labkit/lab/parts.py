"""Parts: what a lab is made of, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit.lab.blueprint import Blueprint
    from labkit.lab.client_host import ClientHost
    from labkit.lab.cluster import Cluster
    from labkit.lab.desk import Desk
    from labkit.lab.host import NodeHost
    from labkit.lab.invariants import Invariants
    from labkit.lab.ledger import Ledger
    from labkit.sim.clock import Clock
    from labkit.sim.faults import Faults
    from labkit.sim.network import Network
    from labkit.sim.random_streams import RandomStreams
    from labkit.trace import Trace
    from labkit.vault.files import Files
    from labkit.vault.storage.memory import MemoryStorage


class Parts:
    """The parts of a lab; ``wiring`` makes them."""

    blueprint: Blueprint
    seed: int
    branch_label: str
    epoch_ns: int
    trace: Trace
    clock: Clock
    dice: RandomStreams
    network: Network
    faults: Faults
    stores: dict[str, MemoryStorage]
    files: dict[str, Files]
    clusters: dict[str, Cluster]
    nodes: dict[str, NodeHost]
    clients: dict[str, ClientHost]
    hosts: dict[str, Any]
    desk: Desk
    ledger: Ledger
    invariants: Invariants
    reigns: dict[str, int]
    modes: dict[str, tuple[str, str]]
    followed: dict[str, str]
    held: dict[str, int]

    @property
    def now(self) -> int:
        """Simulated time since the lab was built, in nanoseconds."""
        return self.clock.now
