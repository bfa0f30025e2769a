"""The network: carries messages between hosts, unopened, late, and not always.

Rules kept here:

1. A message is one item of the clock, `("deliver", target, message)`, and one event of the trace, at its end.
2. Each change of hosts or lanes opens an epoch; lanes that it cuts and hosts that it crashes take its number.
   A message carries the epoch it was sent in; when that lies before its lane's or a host's, it is lost.
3. Lanes and streams are made when they are first used; what they remember is state, the rest follows from it.
4. An operator's line draws nothing, loses nothing and is never faulty: looking at a world does not change it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from labkit.sim.clock import Clock
from labkit.sim.dice import Dice
from labkit.sim.lane import GIVEN_UP, SOUND, Damage, Host, Lane, Stream, fitted
from labkit.sim.latency import Latency
from labkit.sim.names import checked, unknown
from labkit.sim.topology import Pair, Path, Topology, TopologyState
from labkit.trace import Trace


class Message(NamedTuple):
    """A message under way.  The payload is plain data; the epoch tells whether a fault has overtaken it."""

    sent_ns: int
    source: str
    target: str
    what: str
    payload: Any
    size_bytes: int
    epoch: int


class NetworkState(NamedTuple):
    """Plain values: what a network remembers beside the messages in flight, which the clock holds."""

    topology: TopologyState
    epoch: int
    hosts: tuple[tuple[str, str, bool, bool, int], ...]  # name, site, private, up, epoch
    damage: tuple[tuple[Pair, tuple[Any, ...]], ...]
    lanes: tuple[tuple[str, str, int, int, int], ...]  # source, target, epoch, free_ns, doubt_ns
    streams: tuple[tuple[str, str, int], ...]  # source, target, last_ns
    delivered: int


class Network:
    """Hosts at sites, and what passes between them.

    The owner's dispatch gives the message in a "deliver" item to `arrive`, then to the host if that is True.
    """

    __slots__ = (
        "_at",
        "_clock",
        "_damage",
        "_dice",
        "_epoch",
        "_hosts",
        "_lanes",
        "_own_lane",
        "_record",
        "_streams",
        "_topology",
        "delivered",
    )

    def __init__(self, topology: Topology, clock: Clock, dice: Dice, trace: Trace) -> None:
        self.delivered = 0
        self._topology = topology
        self._clock = clock
        self._at = clock.at
        self._dice = dice
        self._epoch = 0
        self._record = trace.record if trace.enabled else None
        self._hosts: dict[str, Host] = {}
        self._damage: dict[Pair, Damage] = {}
        self._lanes: dict[Pair, Lane] = {}
        self._own_lane = Lane("operator", "operator")
        self._own_lane.fit(_operators(topology), False)
        self._streams: dict[Pair, Stream] = {}

    @classmethod
    def from_state(cls, state: NetworkState, clock: Clock, dice: Dice, trace: Trace) -> Network:
        """The network that gave this state, among clock, dice and trace restored beside it."""
        network = cls(Topology.from_state(state.topology), clock, dice, trace)
        network.delivered = state.delivered
        network._epoch = state.epoch
        network._hosts = {row[0]: Host(*row) for row in state.hosts}
        for pair, (cut, latency, factor, loss_ppm) in state.damage:
            slower = None if latency is None else Latency(*latency)
            network._damage[pair] = Damage(cut, slower, factor, loss_ppm)
        for source, target, *memory in state.lanes:
            network._lane(source, target, *memory)
        for source, target, last_ns in state.streams:
            network._stream(source, target).last_ns = last_ns
        return network

    def state(self) -> NetworkState:
        """What it takes to build it again.

        Lanes and streams on which nothing is under way are as good as new ones, and left out.
        """
        now_ns = self._clock.now
        lanes = ((*pair, *lane.memory(now_ns)) for pair, lane in sorted(self._lanes.items(), key=_pair))
        return NetworkState(
            topology=self._topology.state(),
            epoch=self._epoch,
            hosts=tuple((h.name, h.site, h.private, h.up, h.epoch) for h in self._hosts.values()),
            damage=tuple((pair, _plain(damage)) for pair, damage in sorted(self._damage.items(), key=_pair)),
            lanes=tuple(row for row in lanes if row[2] or row[3]),
            streams=tuple(
                (*pair, stream.last_ns)
                for pair, stream in sorted(self._streams.items(), key=_pair)
                if stream.last_ns >= now_ns
            ),
            delivered=self.delivered,
        )

    @property
    def topology(self) -> Topology:
        """Where the sites are; replaced by `rewire`, never edited."""
        return self._topology

    def place(self, host: str, site: str) -> None:
        """Stand a host at a site; it is up.  ValueError for an unknown site or a name that is taken."""
        self._add(host, site, private=False)

    def private(self, host: str, near: str) -> None:
        """Stand an operator's host beside a site.

        Its line to hosts there takes the site's mean local latency, draws nothing, loses nothing, and no
        fault is aimed at it.  What it sends to other sites goes the way of all messages.
        """
        self._add(host, near, private=True)

    def hosts(self, site: str | None = None) -> tuple[str, ...]:
        """Names of the hosts that faults can hit, all or those at one site, in the order of their placing."""
        if site is not None:
            self._topology.site(site)
        found = (host for host in self._hosts.values() if site is None or host.site == site)
        return tuple(host.name for host in found if not host.private)

    def site_of(self, host: str) -> str:
        """The site where the host stands."""
        return self._host(host).site

    def up(self, host: str) -> bool:
        """Whether the host is up: placed, and not crashed since or restarted."""
        return self._host(host).up

    def send(self, source: str, target: str, what: str, payload: Any, size_bytes: int) -> None:
        """Send a message: it arrives later, after those sent before it from this host to that one.

        Over a cut lane, or from or to a host that is down, it is lost at once; faults may overtake it later.
        """
        stream = self._streams.get((source, target)) or self._stream(source, target)
        now_ns = self._clock.now
        if stream.closed:
            if self._record is not None:
                self._record(("message", now_ns, now_ns, source, target, what, size_bytes, "lost"))
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

    def arrive(self, message: Message, taken: bool = True) -> bool:
        """End a message's way: True when it is to be given to the host, False when a fault overtook it.

        The owner passes `taken=False` for a host that takes no messages, though it is up: a message that gets
        there is traced as refused, and False.
        """
        fate = "delivered"
        # Most arrive in the epoch in which they were sent: nothing can have hit them.
        if message.epoch != self._epoch and message.epoch < self._stream(message.source, message.target).epoch:
            fate = "lost"
        elif taken:
            self.delivered += 1
        else:
            fate = "refused"
        if self._record is not None:
            sent_ns, source, target, what, _, size_bytes, _ = message
            self._record(("message", sent_ns, self._clock.now, source, target, what, size_bytes, fate))
        return fate == "delivered"

    def can_send(self, source: str, target: str) -> bool:
        """Whether a message sent now from one host to another would set out."""
        return not self._stream(source, target).closed

    def reachable(self, a_site: str, b_site: str) -> bool:
        """Whether messages pass between two sites both ways."""
        return not (self._lane(a_site, b_site).cut or self._lane(b_site, a_site).cut)

    def rewire(self, topology: Topology) -> None:
        """Go on with another topology, which has all sites of this one; what is under way stays so."""
        for site in self._topology.sites:
            topology.site(site)
        self._topology = topology
        self._own_lane.fit(_operators(topology), False)
        self._refit()

    def damage(self, source: str, target: str) -> Damage:
        """What faults have done to the direction from one site to another."""
        return self._damage.get((self._topology.site(source), self._topology.site(target)), SOUND)

    def damaged(self) -> tuple[Pair, ...]:
        """The directions that bear any damage, sorted."""
        return tuple(sorted(self._damage))

    def wear(self, changes: Mapping[Pair, Damage]) -> None:
        """Set the damage of some directions; called by `faults`, which traces it."""
        kept = {**self._damage, **changes}
        self._damage = {pair: damage for pair, damage in kept.items() if damage != SOUND}
        self._refit()

    def set_up(self, host: str, up: bool) -> bool:
        """Take a host down or up; False when it was so.  Called by `faults`, which traces it."""
        found = self._host(host)
        if found.private:
            raise ValueError(f"{host} is an operator's host: no fault is aimed at it")
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
            raise ValueError(f"a host named {host} stands at {self._hosts[host].site} already")
        self._hosts[host] = Host(host, self._topology.site(site), private)

    def _host(self, name: str) -> Host:
        host = self._hosts.get(name)
        if host is None:
            raise ValueError(unknown("host", name, self._hosts))
        return host

    def _lane(self, source: str, target: str, *memory: int) -> Lane:
        lane = self._lanes.get((source, target))
        if lane is None:
            lane = Lane(source, target, *memory)
            lane.fit(*fitted(self._topology, self._damage, (source, target)))
            self._lanes[source, target] = lane
        return lane

    def _stream(self, source: str, target: str) -> Stream:
        stream = self._streams.get((source, target))
        if stream is None:
            a, b = self._host(source), self._host(target)
            own = a.site == b.site and (a.private or b.private)
            lane = self._own_lane if own else self._lane(a.site, b.site)
            stream = self._streams[source, target] = Stream(a, b, lane, self._dice)
        return stream

    def _refit(self) -> None:
        """After a change of topology or damage: a new epoch, in which lanes and streams look again."""
        self._epoch += 1
        for lane in self._lanes.values():
            path, cut = fitted(self._topology, self._damage, (lane.source, lane.target))
            if cut and not lane.cut:
                lane.epoch = self._epoch
                lane.free_ns = 0
            lane.fit(path, cut)
        self._refresh()

    def _refresh(self) -> None:
        for stream in self._streams.values():
            stream.refresh()


# A record without its constructor's frame: there is one a message.
_new = tuple.__new__


def _operators(topology: Topology) -> Path:
    """Every operator's line to the hosts of its own site: constant, lossless, and known to no fault."""
    return Path((), (Latency.constant(topology.local.typical_ns),))


def _pair(entry: tuple[Pair, object]) -> Pair:
    return entry[0]


def _plain(damage: Damage) -> tuple[Any, ...]:
    latency = None if damage.latency is None else tuple(damage.latency)
    return damage.cut, latency, damage.factor, damage.loss_ppm
