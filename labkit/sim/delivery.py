"""Delivery: the lane from one site to another with the faults on it, and its streams of messages: lost, late, twice.

Rules kept here:

1. A lane is one direction between two sites, over any number of links; a cut of any of them cuts the lane.
2. A cut starts an epoch of the lane; messages of an earlier epoch are lost on arrival, without a search.
3. A stream is one direction between two hosts, in the queue or aside: its messages arrive in the order in which
   they were sent.  What goes aside waits for no bytes of others, but the line counts its bytes.
4. Each stream draws under its own labels, so other traffic does not change its delays.
5. Datagrams go aside too, each for itself: a lost one is not sent again, one may come twice, and a later one earlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from labkit.sim.fault_effects import NO_FAULTS, FaultEffects, LaneFaults
from labkit.sim.latency import Latency
from labkit.sim.random_streams import MILLION, RandomStreams
from labkit.sim.topology import NoRouteError, Pair, Path, Topology, joined, lost_either
from labkit.trace import SECOND_NS

FIRST_RESEND_NS = SECOND_NS // 5
MAX_SENDS = 8  # the wait doubles each time: the last is 25.6 s, all of them 51 s
GIVEN_UP = -1  # the epoch of a message that was lost each time it was sent: it is before every other epoch

IN_TURN, ASIDE, DATAGRAM = "", "aside", "datagram"
"""The ways of a message: behind what waits on the line, past it, or past it and each for itself."""

_BITS_NS = 8 * SECOND_NS
_WORD_BITS = 64


class Impairment(NamedTuple):
    """What faults do to one direction between two sites; only datagrams come twice.

    A cut belongs to what made it: `cut` to partition, cut and isolate, `down` to a line that flaps.
    """

    cut: bool = False
    latency: Latency | None = None
    factor: int = 1
    loss_ppm: int = 0
    twice_ppm: int = 0
    down: bool = False

    @property
    def closed(self) -> bool:
        """Whether nothing passes: a cut of either kind is left."""
        return self.cut or self.down

    @property
    def by_kind(self) -> tuple[Any, ...]:
        """What it does of each of ``KINDS``; false for what it does not."""
        slower = (self.latency, self.factor)
        return self.cut, slower != (None, 1) and slower, self.loss_ppm, self.twice_ppm

    def state(self) -> tuple[Any, ...]:
        """Return it as plain values."""
        return self.cut, None if self.latency is None else tuple(self.latency), *self[2:]


NO_IMPAIRMENT = Impairment()
NOWHERE = Path((), ())


class Host:
    """An endpoint that sends and receives messages; a crash starts an epoch of it."""

    __slots__ = ("epoch", "name", "private", "site", "up")

    def __init__(self, name: str, site: str, private: bool, up: bool = True, epoch: int = 0) -> None:
        self.name = name
        self.site = site
        self.private = private
        self.up = up
        self.epoch = epoch


class Lane:
    """One direction between two sites.

    `free_ns` is when the last byte put on it will have left.  Messages that a cut or a crash lost may arrive until
    `doubt_ns`; after that the epoch is not needed any more.  `ended_by` are the faults that began the epoch,
    `faults` those that it is under, which are counted in `effects`.
    """

    __slots__ = (
        "bandwidth_bps",
        "cut",
        "doubt_ns",
        "effects",
        "ended_by",
        "epoch",
        "faults",
        "fixed_ns",
        "free_ns",
        "jitter_ns",
        "loss_ppm",
        "own_loss_ppm",
        "shapes",
        "source",
        "target",
        "twice_ppm",
    )

    def __init__(
        self,
        source: str,
        target: str,
        epoch: int = 0,
        free_ns: int = 0,
        doubt_ns: int = -1,
        ended_by: tuple[int, ...] = (),
    ) -> None:
        self.source = source
        self.target = target
        self.epoch = epoch
        self.free_ns = free_ns
        self.doubt_ns = doubt_ns
        self.ended_by = ended_by
        self.effects = FaultEffects()
        self.fit(NOWHERE, True)

    def fit(self, path: Path, cut: bool) -> None:
        """Set its path and whether it is cut, from topology and faults."""
        self.cut = cut
        self.fixed_ns = sum(latency.first_ns for latency in path.latencies if latency.shape == "constant")
        self.shapes = tuple([latency for latency in path.latencies if latency.shape != "constant"])
        self.jitter_ns = path.jitter_ns
        self.loss_ppm = path.loss_ppm
        self.twice_ppm = path.twice_ppm
        self.bandwidth_bps = path.bandwidth_bps
        self.put_under(NO_FAULTS, path)

    def put_under(self, faults: LaneFaults, unimpaired: Path) -> None:
        """Set the faults that it is under; without them its path would be another."""
        self.faults = faults
        self.own_loss_ppm = unimpaired.loss_ppm

    def memory(self, now_ns: int) -> tuple[int, int, int]:
        """Epoch, free_ns and doubt_ns as far as they are still needed; otherwise those of a new lane."""
        epoch, doubt_ns = (self.epoch, self.doubt_ns) if self.doubt_ns >= now_ns else (0, -1)
        return epoch, self.free_ns if self.free_ns > now_ns else 0, doubt_ns

    def queued_ns(self, now_ns: int, size_bytes: int, bandwidth_bps: int) -> int:
        """Put a message on the line; return its wait for those before it plus the time it takes to be sent."""
        self.free_ns = max(now_ns, self.free_ns) + _sending_ns(size_bytes, bandwidth_bps)
        return self.free_ns - now_ns

    def aside_ns(self, now_ns: int, size_bytes: int, bandwidth_bps: int) -> int:
        """Send a message past those that wait on the line, which wait longer by it; return the time it takes."""
        sending_ns = _sending_ns(size_bytes, bandwidth_bps)
        self.free_ns = max(now_ns, self.free_ns) + sending_ns
        return sending_ns


def _sending_ns(size_bytes: int, bandwidth_bps: int) -> int:
    return -(-size_bytes * _BITS_NS // bandwidth_bps)  # rounded up


def fitted(topology: Topology, impairments: Mapping[Pair, Impairment], ends: Pair) -> tuple[Path, bool]:
    """The path from one site to another with the faults on it, and whether it is cut.

    Without a route between the sites it is always cut.
    """
    try:
        path = topology.route(*ends)
    except NoRouteError:
        return NOWHERE, True
    hops = path.hops
    cut = any(impairments.get(hop, NO_IMPAIRMENT).closed for hop in hops)
    if hops:
        path = joined(tuple([_impaired(topology.hop(*hop), impairments.get(hop, NO_IMPAIRMENT)) for hop in hops]))
    if hops != (ends,):  # a fault between sites that are not neighbours, or inside one
        cut = cut or impairments.get(ends, NO_IMPAIRMENT).closed
        path = _impaired(path, impairments.get(ends, NO_IMPAIRMENT))
    return path, cut


def _impaired(path: Path, impairment: Impairment) -> Path:
    latencies = path.latencies if impairment.latency is None else (impairment.latency,)
    return path._replace(
        latencies=tuple([latency.times(impairment.factor) for latency in latencies]),
        jitter_ns=path.jitter_ns * impairment.factor,
        loss_ppm=lost_either(path.loss_ppm, impairment.loss_ppm),
        twice_ppm=lost_either(path.twice_ppm, impairment.twice_ppm),
    )


class MessageStream:
    """One direction between two hosts, on a lane; `refresh` computes what each message needs."""

    __slots__ = (
        "_aside",
        "_copies",
        "_delays",
        "_jitter",
        "_losses",
        "_source",
        "_target",
        "closed",
        "delay_ns",
        "epoch",
        "lane",
        "last_ns",
        "lossy",
        "varies",
    )

    def __init__(self, source: Host, target: Host, lane: Lane, draws: RandomStreams, way: str = IN_TURN) -> None:
        direction = f"{source.name}>{target.name}{way and f' {way}'}"
        self._aside = way != IN_TURN
        self._source = source
        self._target = target
        self.lane = lane
        self._delays = draws.stream(f"delay {direction}")
        self._jitter = draws.stream(f"jitter {direction}")
        self._losses = draws.stream(f"loss {direction}")
        self._copies = draws.stream(f"copy {direction}")
        self.last_ns = -1
        self.epoch = 0
        self.refresh()

    def refresh(self) -> None:
        """Compute it again after a change of hosts or lane."""
        lane, source, target = self.lane, self._source, self._target
        self.closed = lane.cut or not (source.up and target.up)
        epoch = max(lane.epoch, source.epoch, target.epoch)
        if epoch > self.epoch:
            self.epoch = epoch
            lane.doubt_ns = max(lane.doubt_ns, self.last_ns)  # what a crash lost may meet a later cut too
            self.last_ns = -1  # what was in flight is lost; nothing has to wait for it
        self.delay_ns = lane.fixed_ns
        self.lossy = lane.loss_ppm > 0
        self.varies = bool(lane.shapes or lane.jitter_ns or lane.bandwidth_bps or self.lossy or lane.faults.slowed)

    def due_ns(self, now_ns: int, size_bytes: int) -> int:
        """When a message sent now arrives, if it is not lost."""
        lane = self.lane
        due_ns = now_ns + self.delay_ns
        if lane.faults.slowed:
            lane.effects.meet(lane.faults.slowed)
        if lane.jitter_ns:
            jitter = self._jitter
            due_ns += (jitter.words or jitter.refill()).pop() * (lane.jitter_ns + 1) >> _WORD_BITS
        if lane.shapes:
            for shape in lane.shapes:
                due_ns += shape.draw_ns(self._delays)
        if lane.bandwidth_bps:
            wait_ns = lane.aside_ns if self._aside else lane.queued_ns
            due_ns += wait_ns(now_ns, size_bytes, lane.bandwidth_bps)
        return due_ns

    def is_lost(self) -> bool:
        """Whether a datagram sent now is lost."""
        drawn_ppm = self._losses.word() * MILLION >> _WORD_BITS
        if drawn_ppm < self.lane.loss_ppm:
            self._met_loss(drawn_ppm)
        return drawn_ppm < self.lane.loss_ppm

    def copies(self) -> int:
        """How often a datagram sent now arrives that is not lost: once, or twice."""
        lane = self.lane
        twice = lane.twice_ppm > 0 and self._copies.word() * MILLION >> _WORD_BITS < lane.twice_ppm
        if twice:
            lane.effects.meet(lane.faults.doubled)
        return 1 + twice

    def resent_ns(self) -> tuple[int, bool]:
        """How long a message is delayed by being lost and sent again, and whether it arrives at all."""
        waited_ns, wait_ns = 0, FIRST_RESEND_NS
        for _ in range(MAX_SENDS):
            drawn_ppm = self._losses.word() * MILLION >> _WORD_BITS
            if drawn_ppm >= self.lane.loss_ppm:
                return waited_ns, True
            self._met_loss(drawn_ppm)
            waited_ns += wait_ns
            wait_ns *= 2
        return waited_ns, False

    def _met_loss(self, drawn_ppm: int) -> None:
        """Count a loss for the faults without which the message would have passed."""
        lane = self.lane
        if drawn_ppm >= lane.own_loss_ppm:
            lane.effects.meet(lane.faults.sent_again)
