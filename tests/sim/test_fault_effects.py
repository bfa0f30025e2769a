"""What faults met is counted for each fault by its number, on the lanes that it is on."""

from __future__ import annotations

import pytest

from labkit.sim.clock import Clock
from labkit.sim.fault_effects import NO_FAULTS, FaultEffects, LaneFaults
from labkit.sim.latency import Latency
from labkit.sim.network import Network
from labkit.sim.network_faults import Faults
from labkit.sim.random_streams import RandomStreams
from labkit.sim.topology import Link, Topology
from labkit.trace import Trace

MS = 1_000_000
LINE = Topology(
    sites=("a", "b", "c"),
    links=(
        Link(between=("a", "b"), latency=Latency.constant(10 * MS), loss_ppm=100_000),
        Link(between=("b", "c"), latency=Latency.constant(10 * MS)),
    ),
)


class World:
    """Three sites in a row, one host each, and the faults on the lines between them."""

    def __init__(self, trace: bool = False, topology: Topology = LINE) -> None:
        log = Trace(enabled=trace)
        self.clock = Clock(lambda item: None if item[0] != "deliver" else self.arrived(item[2]))
        self.network = Network(topology, self.clock, RandomStreams(7), log)
        for site in topology.sites:
            self.network.place(f"{site}-1", site)
        self.faults, self.effects = Faults(self.network, self.clock, log), self.network.effects

    def arrived(self, message: object) -> None:
        self.network.arrive(message)  # type: ignore[arg-type]  # it is a message

    def send(self, source: str = "a", target: str = "b", times: int = 1) -> None:
        for _ in range(times):
            self.network.send(f"{source}-1", f"{target}-1", "x", None, 100)

    def datagrams(self, times: int) -> None:
        for _ in range(times):
            self.network.datagram("a-1", "b-1", "x", None, 100)

    def pass_ms(self, ms: int) -> None:
        self.clock.run(until_ns=self.clock.now + ms * MS)


@pytest.mark.parametrize("trace", [False, True])
def test_a_cut_counts_what_it_lost_at_once_and_on_the_way(trace: bool) -> None:
    world = World(trace)
    world.send(times=2)
    world.faults.partition("a", "b")
    world.send()
    world.send("b", "c")
    world.send("c", "a")
    world.pass_ms(60_000)

    assert world.effects.counts == {1: 4}


def test_what_was_on_the_way_is_the_cuts_though_it_was_healed_meanwhile() -> None:
    world = World()
    world.send()
    world.faults.cut("a", "b")
    world.pass_ms(1)
    world.faults.heal()
    world.faults.partition("b", "c")
    world.pass_ms(60_000)

    assert world.effects.counts == {1: 1, 2: 0}


def test_each_fault_has_a_count_of_its_own() -> None:
    world = World()
    world.faults.partition("a", "b")
    world.send()
    world.faults.isolate("b")  # the line between a and b is cut already
    world.send("b", "c")
    world.faults.heal()
    world.faults.partition("a", "b")

    assert world.effects.counts == {1: 1, 2: 1, 3: 0}
    assert not world.faults.partition("a", "b")
    assert world.effects.last == 3


def test_a_crash_loses_messages_that_are_no_cuts() -> None:
    world = World()
    world.faults.partition("b", "c")
    world.faults.crash("b-1")
    world.send()

    assert world.effects.counts == {1: 0}


def test_a_slower_line_counts_what_it_slowed() -> None:
    world = World()
    world.faults.slow("a", "b", latency=Latency.constant(50 * MS))
    world.send()
    world.send("a", "c")
    world.datagrams(1)
    world.send("b", "c")
    world.faults.restore()
    world.send()

    assert world.effects.counts == {1: 3}


def test_a_line_that_is_as_slow_as_before_slows_nothing() -> None:
    world = World()
    world.faults.slow("a", "b", latency=Latency.constant(10 * MS))
    world.send()

    assert world.effects.counts == {1: 0}


def test_of_what_a_line_loses_by_itself_nothing_is_the_faults() -> None:
    world = World()
    world.faults.lose("a", "b", 1)
    world.send(times=300)
    world.datagrams(300)
    assert world.effects.counts == {1: 0}

    world.faults.lose("a", "b", 300_000)
    world.send(times=100)
    world.datagrams(100)
    assert 30 < world.effects.counts[2] < 100


def test_a_datagram_that_comes_twice_is_counted() -> None:
    world = World()
    world.faults.duplicate("a", "b", 1_000_000)
    world.send()
    world.datagrams(5)

    assert world.effects.counts == {1: 5}


def test_all_of_it_is_state() -> None:
    world = World()
    world.send()
    world.faults.cut("a", "b")
    world.faults.slow("b", "c", factor=2)
    world.send("b", "c")
    state = world.network.state()
    again = Network.from_state(state, world.clock, RandomStreams(7), Trace(enabled=False))
    world.network = again
    world.pass_ms(60_000)
    again.send("b-1", "c-1", "x", None, 100)

    assert again.effects.counts == {1: 1, 2: 2}
    assert (again.effects.last, again.effects.changes) == (2, 2)


def test_a_meter_counts_from_the_beginning_of_a_fault_to_its_end() -> None:
    effects = FaultEffects()
    first = effects.begin(("paused", "a-1"), ("paused", "a-2"), meters=[5, 7])
    effects.end(("paused", "a-1"), 8)
    second = effects.begin(("paused", "a-2"), meters=[9])

    assert effects.counts == {first: 3 + 2, second: -9}
    assert (effects.places_of(first), effects.places_of(second)) == ((), (("paused", "a-2"),))
    assert FaultEffects(effects.state()).state() == effects.state()
    effects.end(("paused", "a-3"))
    assert repr(effects) == "FaultEffects(2 faults, 1 places)"


def test_a_line_that_flaps_loses_only_while_it_is_down() -> None:
    effects = FaultEffects()
    effects.begin(("down", "a", "b"), ("down", "b", "a"))

    assert effects.on([("a", "b")], down=False) == NO_FAULTS
    assert effects.on([("a", "b")], down=True) == LaneFaults(lost=(1,))
