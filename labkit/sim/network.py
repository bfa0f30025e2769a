"""The network: carries messages between hosts without opening them; it delays them and may lose them.

Rules kept here:

1. A message is one item of the clock, `("deliver", target, message)`, and one event of the trace, at its end.
2. Each change of hosts or lanes starts an epoch; lanes that it cuts and hosts that it crashes take its number.
   A message carries the epoch it was sent in; when that is before its lane's or a host's, it is lost.
3. Lanes and streams are made when they are first used; what they remember is state, the rest follows from it.
4. A message is sent in the queue of its line, or aside: past the bytes that wait, in an order of its own; or as a
   datagram, that is aside, without any order, and gone when it is lost.
5. An operator's line draws nothing, loses nothing and never fails: observing a lab does not change it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from labkit.sim.clock import Clock
from labkit.sim.delivery import (
    ASIDE,
    DATAGRAM,
    GIVEN_UP,
    IN_TURN,
    NO_IMPAIRMENT,
    Host,
    Impairment,
    Lane,
    MessageStream,
    fitted,
)
from labkit.sim.fault_effects import KINDS, FaultEffects, Place
from labkit.sim.host_names import checked, unknown
from labkit.sim.latency import Latency
from labkit.sim.random_streams import RandomStreams
from labkit.sim.topology import Pair, Path, Topology, TopologyState
from labkit.trace import Trace


class Message(NamedTuple):
    """A message in flight.  The payload is plain data; the epoch shows whether a fault hit it on its way."""

    sent_ns: int
    source: str
    target: str
    what: str
    payload: Any
    size_bytes: int
    epoch: int


class NetworkState(NamedTuple):
    """Plain values: what a network remembers, without the messages in flight, which the clock holds."""

    topology: TopologyState
    epoch: int
    hosts: tuple[tuple[str, str, bool, bool, int], ...]  # name, site, private, up, epoch
    impairments: tuple[tuple[Pair, tuple[Any, ...]], ...]
    lanes: tuple[tuple[Any, ...], ...]  # source, target, epoch, free_ns, doubt_ns, the faults that began the epoch
    streams: tuple[tuple[str, str, str, int], ...]  # source, target, way, last_ns
    delivered: int
    effects: tuple[Any, ...] = ()


class Network:
    """Hosts at sites, and the messages between them.

    The owner's dispatch gives the message in a "deliver" item to `arrive`, then to the host if that returns True.
    """

    __slots__ = (
        "_asides",
        "_at",
        "_clock",
        "_datagrams",
        "_epoch",
        "_hosts",
        "_impairments",
        "_lanes",
        "_operator_lane",
        "_random_streams",
        "_record",
        "_streams",
        "_topology",
        "delivered",
        "effects",
        "watcher",
    )

    def __init__(self, topology: Topology, clock: Clock, random_streams: RandomStreams, trace: Trace) -> None:
        self.delivered = 0
        self.effects = FaultEffects()
        self.watcher: Callable[[Any], None] | None = None  # is given what each message of the trace carried
        self._topology = topology
        self._clock = clock
        self._at = clock.at
        self._random_streams = random_streams
        self._epoch = 0
        self._record = trace.record if trace.enabled else None
        self._hosts: dict[str, Host] = {}
        self._impairments: dict[Pair, Impairment] = {}
        self._lanes: dict[Pair, Lane] = {}
        self._operator_lane = Lane("operator", "operator")
        self._operator_lane.fit(_operators(topology), False)
        self._streams: dict[Pair, MessageStream] = {}
        self._asides: dict[Pair, MessageStream] = {}
        self._datagrams: dict[Pair, MessageStream] = {}

    @classmethod
    def from_state(cls, state: NetworkState, clock: Clock, random_streams: RandomStreams, trace: Trace) -> Network:
        """The network that gave this state, with clock, random streams and trace restored beside it."""
        network = cls(Topology.from_state(state.topology), clock, random_streams, trace)
        network.delivered = state.delivered
        network._epoch = state.epoch
        network.effects = FaultEffects(state.effects)
        network._hosts = {row[0]: Host(*row) for row in state.hosts}
        for pair, (cut, latency, *rest) in state.impairments:
            slower = None if latency is None else Latency(*latency)
            network._impairments[pair] = Impairment(cut, slower, *rest)
        for source, target, *memory in state.lanes:
            network._lane(source, target, *memory)
        for source, target, way, last_ns in state.streams:
            network._stream(source, target, way).last_ns = last_ns
        return network

    def state(self) -> NetworkState:
        """What is needed to build it again.

        Lanes and streams with nothing in flight equal new ones and are left out.
        """
        now_ns = self._clock.now
        known = sorted(self._lanes.items(), key=_pair)
        lanes = (
            (*pair, *lane.memory(now_ns), lane.ended_by if lane.doubt_ns >= now_ns else ()) for pair, lane in known
        )
        return NetworkState(
            topology=self._topology.state(),
            epoch=self._epoch,
            hosts=tuple([(h.name, h.site, h.private, h.up, h.epoch) for h in self._hosts.values()]),
            impairments=tuple([(pair, kept.state()) for pair, kept in sorted(self._impairments.items(), key=_pair)]),
            lanes=tuple([row for row in lanes if row[2] or row[3] or row[4] >= now_ns]),
            streams=tuple(
                [
                    (*pair, way, stream.last_ns)
                    for way, streams in self._ways()
                    for pair, stream in sorted(streams.items(), key=_pair)
                    if stream.last_ns >= now_ns
                ]
            ),
            delivered=self.delivered,
            effects=self.effects.state(),
        )

    @property
    def topology(self) -> Topology:
        """Where the sites are; replaced by `rewire`, never edited."""
        return self._topology

    @property
    def epoch(self) -> int:
        """How often hosts or lanes have changed."""
        return self._epoch

    def place(self, host: str, site: str) -> None:
        """Place a host at a site; it is up.  ValueError for an unknown site or a name that exists already."""
        self._add(host, site, private=False)

    def private(self, host: str, near: str) -> None:
        """Place an operator's host beside a site.

        Its line to hosts there takes the site's mean local latency, draws nothing, loses nothing, and is
        never the target of a fault.  Its messages to other sites travel like all others.
        """
        self._add(host, near, private=True)

    def hosts(self, site: str | None = None) -> tuple[str, ...]:
        """Names of the hosts that faults can hit, all or those at one site, in the order in which they were placed."""
        if site is not None:
            self._topology.site(site)
        found = (host for host in self._hosts.values() if site is None or host.site == site)
        return tuple([host.name for host in found if not host.private])

    def site_of(self, host: str) -> str:
        """The site of the host."""
        return self._host(host).site

    def up(self, host: str) -> bool:
        """Whether the host is up."""
        return self._host(host).up

    def datagram(self, source: str, target: str, what: str, payload: Any, size_bytes: int) -> None:
        """Send a message that may be lost, come twice, or be overtaken by a later one."""
        stream = self._stream(source, target, DATAGRAM)
        now_ns = self._clock.now
        if stream.closed:
            self._lose(stream, (source, target, what, size_bytes), payload)
            return
        lost = stream.lossy and stream.is_lost()
        for _ in range(1 if lost else stream.copies()):
            due_ns = stream.due_ns(now_ns, size_bytes)
            stream.last_ns = max(stream.last_ns, due_ns)  # until then one of this epoch may arrive
            epoch = GIVEN_UP if lost else self._epoch
            message = Message(now_ns, source, target, what, payload, size_bytes, epoch)
            self._at(due_ns, ("deliver", target, message))

    def send(self, source: str, target: str, what: str, payload: Any, size_bytes: int, aside: bool = False) -> None:
        """Send a message: it arrives later, after those sent before it from this host to that one the same way.

        Over a cut lane, or from or to a host that is down, it is lost at once; a later fault may lose it too.
        """
        streams = self._asides if aside else self._streams
        stream = streams.get((source, target)) or self._stream(source, target, ASIDE if aside else IN_TURN)
        now_ns = self._clock.now
        if stream.closed:
            self._lose(stream, (source, target, what, size_bytes), payload)
            return
        epoch = self._epoch
        if stream.varies:
            due_ns = stream.due_ns(now_ns, size_bytes)
            if stream.lossy:
                waited_ns, arrives = stream.resent_ns()
                due_ns += waited_ns
                epoch = epoch if arrives else GIVEN_UP
        else:
            due_ns = now_ns + stream.delay_ns
        if due_ns < stream.last_ns:
            due_ns = stream.last_ns
        stream.last_ns = due_ns
        message = _new(Message, (now_ns, source, target, what, payload, size_bytes, epoch))
        self._at(due_ns, ("deliver", target, message))

    def _lose(self, stream: MessageStream, said: tuple[str, str, str, int], payload: Any) -> None:
        """Lose a message as it is sent."""
        self.effects.meet(stream.lane.faults.lost)
        if self._record is not None:
            self._record(("message", self._clock.now, self._clock.now, *said, "lost"))
            if self.watcher is not None:
                self.watcher(payload)

    def arrive(self, message: Message) -> bool:
        """End a message's flight: True when the owner gives it to the host, False when a fault lost it."""
        fate = "delivered"
        # Most arrive in the epoch in which they were sent: no fault can have hit them.
        if message.epoch != self._epoch and message.epoch < self._stream(message.source, message.target).epoch:
            fate = "lost"
            lane = self._stream(message.source, message.target).lane
            if GIVEN_UP < message.epoch < lane.epoch:
                self.effects.meet(lane.ended_by)
        else:
            self.delivered += 1
        if self._record is not None:
            sent_ns, source, target, what, payload, size_bytes, _ = message
            self._record(("message", sent_ns, self._clock.now, source, target, what, size_bytes, fate))
            if self.watcher is not None:
                self.watcher(payload)
        return fate == "delivered"

    def reachable(self, a_site: str, b_site: str) -> bool:
        """Whether messages pass between two sites in both directions."""
        return not (self._lane(a_site, b_site).cut or self._lane(b_site, a_site).cut)

    @property
    def is_whole(self) -> bool:
        """Whether messages pass between any two sites: all have a route, and no line is cut."""
        return self._topology.is_connected and not any(kept.closed for kept in self._impairments.values())

    def apart(self, sites: Sequence[str]) -> set[Pair]:
        """The pairs of these sites between which messages do not pass in both directions; each pair sorted."""
        closed = [pair for pair, kept in self._impairments.items() if kept.closed]
        return self._topology.apart(sites, closed)

    def free_ns(self, source_site: str, target_site: str) -> int:
        """When the last byte that waits on a line will have left; 0 for one that nothing was ever put on."""
        lane = self._lanes.get((source_site, target_site))
        return lane.free_ns if lane is not None else 0

    def rewire(self, topology: Topology) -> None:
        """Use another topology, which has all sites of this one; messages in flight keep their times."""
        for site in self._topology.sites:
            topology.site(site)
        self._topology = topology
        self._operator_lane.fit(_operators(topology), False)
        self._refit()

    def impairment(self, source: str, target: str) -> Impairment:
        """What faults do to the direction from one site to another."""
        return self._impairments.get((self._topology.site(source), self._topology.site(target)), NO_IMPAIRMENT)

    def impaired(self) -> tuple[Pair, ...]:
        """The directions that have any impairment, sorted."""
        return tuple(sorted(self._impairments))

    def impair(self, changes: Mapping[Pair, Impairment]) -> None:
        """Set the impairment of some directions; called by `faults`, which traces it."""
        self._number(changes)
        kept = {**self._impairments, **changes}
        self._impairments = {pair: new for pair, new in kept.items() if new != NO_IMPAIRMENT}
        self._refit()

    def set_up(self, host: str, up: bool) -> bool:
        """Take a host down or up; False when it was already.  Called by `faults`, which traces it."""
        found = self._host(host)
        if found.private:
            raise ValueError(f"{host} is an operator's host: it is never the target of a fault")
        if found.up == up:
            return False
        found.up = up
        self._epoch += 1
        if not up:
            found.epoch = self._epoch
        self._refresh()
        return True

    def _add(self, host: str, site: str, private: bool) -> None:
        if checked("host", host) in self._hosts:
            raise ValueError(f"a host named {host} exists already, at {self._hosts[host].site}")
        self._hosts[host] = Host(host, self._topology.site(site), private)

    def _host(self, name: str) -> Host:
        host = self._hosts.get(name)
        if host is None:
            raise ValueError(unknown("host", name, self._hosts))
        return host

    def _lane(self, source: str, target: str, *memory: Any) -> Lane:
        lane = self._lanes.get((source, target))
        if lane is None:
            lane = Lane(source, target, *memory)
            self._fit(lane)
            self._lanes[source, target] = lane
        return lane

    def _ways(self) -> tuple[tuple[str, dict[Pair, MessageStream]], ...]:
        return (IN_TURN, self._streams), (ASIDE, self._asides), (DATAGRAM, self._datagrams)

    def _stream(self, source: str, target: str, way: str = IN_TURN) -> MessageStream:
        streams = dict(self._ways())[way]
        stream = streams.get((source, target))
        if stream is None:
            a, b = self._host(source), self._host(target)
            own = a.site == b.site and (a.private or b.private)
            lane = self._operator_lane if own else self._lane(a.site, b.site)
            stream = streams[source, target] = MessageStream(a, b, lane, self._random_streams, way)
        return stream

    def _refit(self) -> None:
        """After a change of topology or impairments: a new epoch, for which lanes and streams are computed again."""
        self._epoch += 1
        for lane in self._lanes.values():
            was_cut = lane.cut
            self._fit(lane)
            if lane.cut and not was_cut:
                lane.epoch, lane.ended_by = self._epoch, lane.faults.lost
                lane.free_ns = 0
        self._refresh()

    def _fit(self, lane: Lane) -> None:
        """Set a lane's path and the faults that it is under."""
        ends = (lane.source, lane.target)
        path, cut = fitted(self._topology, self._impairments, ends)
        lane.fit(path, cut)
        if not self._impairments or not path.sites:
            return
        route = self._topology.route(*ends)
        pairs = dict.fromkeys((*route.hops, ends))
        faults = self.effects.on(pairs, any(self._impairments.get(pair, NO_IMPAIRMENT).down for pair in pairs))
        alike = (path.latencies, path.jitter_ns) == (route.latencies, route.jitter_ns)
        lane.put_under(faults._replace(slowed=()) if alike else faults, route)
        lane.effects = self.effects

    def _number(self, changes: Mapping[Pair, Impairment]) -> None:
        """Give what begins by these changes the number of one new fault, and end what ends by them."""
        begun: list[Place] = []
        for pair, new in changes.items():
            old = self._impairments.get(pair, NO_IMPAIRMENT)
            for what, before, after in zip(KINDS, old.by_kind, new.by_kind, strict=True):
                if after and after != before:
                    begun.append((what, *pair))
                elif before and not after:
                    self.effects.end((what, *pair))
        if begun:
            self.effects.begin(*begun)

    def _refresh(self) -> None:
        for _, streams in self._ways():
            for stream in streams.values():
                stream.refresh()


# Makes a record without its constructor's frame: there is one per message.
_new = tuple.__new__


def _operators(topology: Topology) -> Path:
    """Every operator's line to the hosts of its own site: constant, lossless, not affected by faults."""
    return Path((), (Latency.constant(topology.local.typical_ns),))


def _pair(entry: tuple[Pair, object]) -> Pair:
    return entry[0]
