"""The way from one site to another as it is now, faults counted in, and the streams of messages on it.

Rules kept here:

1. A lane is one direction between two sites, whatever links it passes; a cut in any of them cuts it.
2. Being cut starts an epoch of the lane; messages of an earlier one are lost on arrival, without a search.
3. A stream is one direction between two hosts: its messages arrive in the order in which they were sent.
4. Each stream draws under labels of its own, so traffic of others does not move its delays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from labkit.sim.dice import MILLION, Dice
from labkit.sim.latency import Latency
from labkit.sim.topology import NoRouteError, Pair, Path, Topology, joined, lost_either

FIRST_RESEND_NS = 200_000_000
MOST_SENDS = 8  # the wait doubles each time: the last is 25.6 s, all of them 51 s
GIVEN_UP = -1  # the epoch of a message that was lost each time it was sent: it lies before every other

_BITS_NS = 8 * 1_000_000_000
_WORD_BITS = 64


class Damage(NamedTuple):
    """What faults have done to one direction between two sites."""

    cut: bool = False
    latency: Latency | None = None
    factor: int = 1
    loss_ppm: int = 0


SOUND = Damage()
NOWHERE = Path((), ())


class Host:
    """A place where messages are sent from and arrive; a crash starts an epoch of it."""

    __slots__ = ("epoch", "name", "private", "site", "up")

    def __init__(self, name: str, site: str, private: bool, up: bool = True, epoch: int = 0) -> None:
        self.name = name
        self.site = site
        self.private = private
        self.up = up
        self.epoch = epoch


class Lane:
    """One direction between two sites.

    `free_ns` is when the last byte put on it will have left; until `doubt_ns` messages of an earlier epoch may
    arrive, after that the epoch says nothing more.
    """

    __slots__ = (
        "bandwidth_bps",
        "cut",
        "doubt_ns",
        "epoch",
        "fixed_ns",
        "free_ns",
        "jitter_ns",
        "loss_ppm",
        "shapes",
        "source",
        "target",
    )

    def __init__(self, source: str, target: str, epoch: int = 0, free_ns: int = 0, doubt_ns: int = -1) -> None:
        self.source = source
        self.target = target
        self.epoch = epoch
        self.free_ns = free_ns
        self.doubt_ns = doubt_ns
        self.fit(NOWHERE, True)

    def fit(self, path: Path, cut: bool) -> None:
        """Take on what topology and faults make of it now."""
        self.cut = cut
        self.fixed_ns = sum(latency.first_ns for latency in path.latencies if latency.shape == "constant")
        self.shapes = tuple(latency for latency in path.latencies if latency.shape != "constant")
        self.jitter_ns = path.jitter_ns
        self.loss_ppm = path.loss_ppm
        self.bandwidth_bps = path.bandwidth_bps

    def memory(self, now_ns: int) -> tuple[int, int, int]:
        """Epoch, free_ns and doubt_ns, as far as they still matter: as of a new lane when nothing does."""
        epoch, doubt_ns = (self.epoch, self.doubt_ns) if self.doubt_ns >= now_ns else (0, -1)
        return epoch, self.free_ns if self.free_ns > now_ns else 0, doubt_ns

    def queued_ns(self, now_ns: int, size_bytes: int, bandwidth_bps: int) -> int:
        """Put a message on the line: how long it waits for those before it, and takes to get on itself."""
        start_ns = max(now_ns, self.free_ns)
        self.free_ns = start_ns - (-size_bytes * _BITS_NS // bandwidth_bps)  # rounded up
        return self.free_ns - now_ns


def fitted(topology: Topology, damage: Mapping[Pair, Damage], ends: Pair) -> tuple[Path, bool]:
    """The path from one site to another with the faults on it, and whether it is cut.

    Where no links lead it is cut for good.
    """
    try:
        path = topology.route(*ends)
    except NoRouteError:
        return NOWHERE, True
    hops = path.hops
    cut = any(damage.get(hop, SOUND).cut for hop in hops)
    if hops:
        path = joined(tuple(_worn(topology.hop(*hop), damage.get(hop, SOUND)) for hop in hops))
    if hops != (ends,):  # a fault between sites that are no neighbours, or inside one
        cut = cut or damage.get(ends, SOUND).cut
        path = _worn(path, damage.get(ends, SOUND))
    return path, cut


def _worn(path: Path, damage: Damage) -> Path:
    latencies = path.latencies if damage.latency is None else (damage.latency,)
    return path._replace(
        latencies=tuple(latency.times(damage.factor) for latency in latencies),
        jitter_ns=path.jitter_ns * damage.factor,
        loss_ppm=lost_either(path.loss_ppm, damage.loss_ppm),
    )


class Stream:
    """One direction between two hosts, on a lane; `refresh` keeps ready what each message needs."""

    __slots__ = (
        "_delays",
        "_jitter",
        "_lane",
        "_losses",
        "_source",
        "_target",
        "closed",
        "delay_ns",
        "epoch",
        "last_ns",
        "lossy",
        "varies",
    )

    def __init__(self, source: Host, target: Host, lane: Lane, dice: Dice) -> None:
        way = f"{source.name}>{target.name}"
        self._source = source
        self._target = target
        self._lane = lane
        self._delays = dice.die(f"delay {way}")
        self._jitter = dice.die(f"jitter {way}")
        self._losses = dice.die(f"loss {way}")
        self.last_ns = -1
        self.epoch = 0
        self.refresh()

    def refresh(self) -> None:
        """Look again at hosts and lane, after a change of either."""
        lane, source, target = self._lane, self._source, self._target
        self.closed = lane.cut or not (source.up and target.up)
        epoch = max(lane.epoch, source.epoch, target.epoch)
        if epoch > self.epoch:
            self.epoch = epoch
            if lane.epoch == epoch:
                lane.doubt_ns = max(lane.doubt_ns, self.last_ns)
            self.last_ns = -1  # what was under way is lost; nothing has to wait for it
        self.delay_ns = lane.fixed_ns
        self.lossy = lane.loss_ppm > 0
        self.varies = bool(lane.shapes or lane.jitter_ns or lane.bandwidth_bps or self.lossy)

    def due_ns(self, now_ns: int, size_bytes: int) -> int:
        """When a message sent now gets there, if it is not lost on the way."""
        lane = self._lane
        due_ns = now_ns + self.delay_ns
        if lane.jitter_ns:
            die = self._jitter
            due_ns += (die.words or die.refill()).pop() * (lane.jitter_ns + 1) >> _WORD_BITS
        if lane.shapes:
            for shape in lane.shapes:
                due_ns += shape.delay_ns(self._delays.word())
        if lane.bandwidth_bps:
            due_ns += lane.queued_ns(now_ns, size_bytes, lane.bandwidth_bps)
        return due_ns

    def resent_ns(self) -> tuple[int, bool]:
        """How long a message is held up by being lost and sent again, and whether it gets through at last."""
        waited_ns, wait_ns = 0, FIRST_RESEND_NS
        for _ in range(MOST_SENDS):
            if self._losses.word() * MILLION >> _WORD_BITS >= self._lane.loss_ppm:
                return waited_ns, True
            waited_ns += wait_ns
            wait_ns *= 2
        return waited_ns, False
