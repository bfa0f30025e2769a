"""A small world on a simulated network: hosts that pass numbers on, faults that fall due like messages."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.sim.clock import Clock, Item
from labkit.sim.latency import Latency
from labkit.sim.network import Network
from labkit.sim.network_faults import Faults
from labkit.sim.random_streams import RandomStreams
from labkit.sim.topology import Link, Topology
from labkit.trace import Trace

SITES = ("lima", "paris", "tokyo")
HOSTS = tuple(f"{site}-{number}" for site in SITES for number in (1, 2))

LINES: dict[str, dict[str, Any]] = {
    "calm": {"latency": Latency.constant(100)},
    "jitter": {"latency": Latency.constant(100), "jitter_ns": 80},
    "rough": {
        "latency": Latency.normal(100, 30),
        "jitter_ns": 20,
        "loss_ppm": 100_000,
        "bandwidth_bps": 8_000_000_000,
    },
}


def links(kind: str) -> tuple[Link, ...]:
    """Paris is linked to both others; between those two the way leads over it."""
    return tuple(Link(between=("paris", site), **LINES[kind]) for site in ("lima", "tokyo"))


class World:
    """An owner of clock and network.  Each message is a number: whoever gets it passes it on, one less."""

    def __init__(self, kind: str = "calm", seed: int = 1, state: Any = None, *, traced: bool = True) -> None:
        self.seed = seed
        self.received: list[tuple[int, str, str, Any]] = []
        if state is None:
            self.trace = Trace(enabled=traced)
            self.clock = Clock(self.dispatch)
            self.random_streams = RandomStreams(seed)
            topology = Topology(sites=SITES, links=links(kind), local=Latency.constant(10))
            self.network = Network(topology, self.clock, self.random_streams, self.trace)
            for host in HOSTS:
                self.network.place(host, host.partition("-")[0])
            self.network.private("operator", "paris")
        else:
            self.trace = Trace.from_state(state["trace"])
            self.clock = Clock(self.dispatch, *state["clock"])
            self.random_streams = RandomStreams(seed, state["random_streams"])
            self.network = Network.from_state(state["network"], self.clock, self.random_streams, self.trace)
        self.faults = Faults(self.network, self.clock, self.trace)

    def state(self) -> dict[str, Any]:
        return {
            "trace": self.trace.state(),
            "clock": self.clock.state(),
            "random_streams": self.random_streams.state(),
            "network": self.network.state(),
        }

    def dispatch(self, item: Item) -> None:
        verb, host, payload = item
        if verb == "fault":
            name, *arguments = payload
            getattr(self.faults, name)(*arguments)
        elif verb == "send":
            self.send(host, *payload)
        elif self.network.arrive(payload):
            self.received.append((self.clock.now, payload.source, host, payload.payload))
            if type(payload.payload) is int and payload.payload > 0:
                self.send(host, HOSTS[(HOSTS.index(host) + payload.payload) % len(HOSTS)], payload.payload - 1)

    def send(self, source: str, target: str, payload: Any = 0, size_bytes: int = 100) -> None:
        self.network.send(source, target, "number", payload, size_bytes)

    def passes(self, source: str, target: str) -> bool:
        """Whether a message sent now would leave: no cut, both hosts up."""
        return not self.network._stream(source, target).closed

    def fates(self) -> list[str]:
        return [event.fate for event in self.trace.select("message")]


@pytest.fixture
def make_world() -> type[World]:
    """What makes worlds; a test may need several."""
    return World
