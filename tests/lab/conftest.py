"""Labs for the tests: two or three clusters, replicating or not; made once, and restored for each test."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import Blueprint, ClientPlan, WorkloadPlan, pair
from labkit.lab.wire.host_services import HostServices, ResolvedNode
from labkit.seeded import SeededEntropy

SECOND_NS = 1_000_000_000


def writers(*, until_s: int = 60, every_ms: int = 100, count: int = 2) -> ClientPlan:
    """Clients that put secrets and call encrypt."""
    every_ns = every_ms * 1_000_000
    return ClientPlan(
        name="writers",
        site="lisbon",
        use=("paris", "tokyo"),
        count=count,
        workload=(
            WorkloadPlan(operation="put-secret", every_ns=every_ns, from_ns=SECOND_NS, until_ns=until_s * SECOND_NS),
            WorkloadPlan(operation="encrypt", every_ns=3 * every_ns, from_ns=SECOND_NS, until_ns=until_s * SECOND_NS),
        ),
    )


def started(blueprint: Blueprint, seed: int = 7):
    """A lab of two clusters, half a second after tokyo began to stream from paris."""
    lab = Lab(blueprint, seed=seed)
    lab.replicate("paris", "tokyo")
    lab.run("500ms")
    return lab.snapshot()


@pytest.fixture(scope="session")
def busy_blueprint():
    """The pair with writers."""
    return pair().with_clients(writers())


@pytest.fixture(scope="session")
def replicating_snapshot(busy_blueprint):
    """The pair with writers, half a second after it began to replicate."""
    return started(busy_blueprint)


@pytest.fixture(scope="session")
def calm_snapshot():
    """The pair without clients, half a second after it began to replicate."""
    return started(pair())


@pytest.fixture(scope="session")
def short_ring_snapshot():
    """The pair with writers that take their time, replicating; the journals remember eight entries only."""
    return started(short_rings(writers(every_ms=400)))


def short_rings(clients: ClientPlan) -> Blueprint:
    """The pair with journals of eight entries."""
    blueprint = pair().with_clients(clients)
    return replace(blueprint, clusters=tuple(replace(plan, backlog_entries=8) for plan in blueprint.clusters))


@pytest.fixture(scope="session")
def hasty_snapshot():
    """Journals of eight entries, and writers that fill them faster than a comparison takes, until 12 s."""
    return started(short_rings(writers(until_s=12)))


@pytest.fixture(scope="session")
def looping_snapshot():
    """After a cut tokyo compares again and again: more is written meanwhile than journals of eight entries hold."""
    lab = Lab.restore(started(short_rings(writers(until_s=600))))
    lab.run("2s").partition("paris", "tokyo")
    lab.run("3s").heal()
    lab.run("10s")
    return lab.snapshot()


@pytest.fixture(scope="session")
def trio_snapshot():
    """Three clusters: tokyo and lima stream from paris."""
    lab = Lab.triangle(seed=7)
    lab.replicate("paris", "tokyo")
    lab.work_through("enable-secondary", cluster="lima", primary="paris")
    lab.run("500ms")
    return lab.snapshot()


@pytest.fixture
def lab(replicating_snapshot):
    """The pair with writers, replicating."""
    return Lab.restore(replicating_snapshot)


@pytest.fixture
def calm(calm_snapshot):
    """The pair without clients, replicating."""
    return Lab.restore(calm_snapshot)


@pytest.fixture
def short_ring(short_ring_snapshot):
    """The pair with writers, replicating over journals of eight entries."""
    return Lab.restore(short_ring_snapshot)


@pytest.fixture
def looping(looping_snapshot):
    """The pair whose secondary compares in vain."""
    return Lab.restore(looping_snapshot)


@pytest.fixture
def trio(trio_snapshot):
    """Three clusters, two of them secondaries of paris."""
    return Lab.restore(trio_snapshot)


@pytest.fixture
def quiet():
    """The pair without clients, not yet replicating."""
    return Lab.pair(seed=7)


@dataclass
class Outside:
    """The eight services, faked: the test sets the time and the known nodes; everything done stands in one list."""

    now_ns: int = 0
    known: dict[str, ResolvedNode] = field(default_factory=dict)
    done: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def services(self) -> HostServices:
        """What a host is handed."""
        own = self._now, self._after, self._send, self._send, self.known.get, self._entropy, self._emit, self._is_node
        return HostServices(*own)

    @property
    def sent(self) -> list[Any]:
        """Messages, as (source, target, what, message, size in bytes)."""
        return [what for kind, what in self.done if kind == "send"]

    @property
    def timers(self) -> list[Any]:
        """Timers, as (delay in ns, payload, spread in parts per million)."""
        return [what for kind, what in self.done if kind == "after"]

    @property
    def reports(self) -> list[Any]:
        """What was emitted."""
        return [what for kind, what in self.done if kind == "emit"]

    def _now(self) -> int:
        return self.now_ns

    def _after(self, delay_ns: int, payload: Any, spread_ppm: int = 0) -> None:
        self.done.append(("after", (delay_ns, payload, spread_ppm)))

    def _send(self, *message: Any, aside: bool = False) -> None:
        self.done.append(("send", message[:5]))

    def _entropy(self, incarnation: int, counter: int) -> SeededEntropy:
        return SeededEntropy(7, "fake", incarnation, counter=counter)

    def _is_node(self, host: str) -> bool:
        found = self.known.get(host)
        return found is not None and not found.passes_on

    def _emit(self, report: Any) -> None:
        self.done.append(("emit", report))


@pytest.fixture
def outside():
    """The eight services that a host is handed, faked."""
    return Outside()
