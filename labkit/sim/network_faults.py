"""Faults of links and hosts, and their undoing: verbs in pairs, each in effect at once.

    partition, cut, isolate   heal         no messages pass: both ways, one way, to and from everywhere
    go_down                   come_up      no messages pass over a line that flaps
    slow, lose, duplicate     restore      messages take longer, are sent again (datagrams are lost), or come twice
    crash                     restart      a host is down

Rules kept here:

1. Each verb is one `fault` event of the trace; it returns whether it changed anything, and the event says so too.
2. Links are named by two sites, whichever hosts are there; a fault affects every route over that link.
3. A cut belongs to the fault that made it, and ends with what undoes that: a line is open when no cut is left.
4. Messages in flight are lost at a cut or a crash; on a line that becomes slower they keep their time.
"""

from __future__ import annotations

from collections.abc import Iterable

from labkit.sim.clock import Clock
from labkit.sim.delivery import Impairment
from labkit.sim.latency import Latency
from labkit.sim.network import Network
from labkit.sim.random_streams import checked_ppm
from labkit.sim.topology import Pair
from labkit.trace import Trace

FLAPPING = "flapping"
"""What the trace says of a cut, and of its end, that belong to a line that flaps."""


class Faults:
    """The fault verbs of one network.  What they did is state of the network, not of this object."""

    __slots__ = ("_clock", "_network", "_trace")

    def __init__(self, network: Network, clock: Clock, trace: Trace) -> None:
        self._network = network
        self._clock = clock
        self._trace = trace

    def partition(self, a: str, b: str) -> bool:
        """Cut both ways between two sites."""
        return self._cut("partition", _both(a, b), _between(a, b))

    def cut(self, source: str, target: str) -> bool:
        """Cut one way: from a site to another."""
        return self._cut("cut", [(source, target)], f"{source} > {target}")

    def isolate(self, site: str) -> bool:
        """Cut both ways between a site and every other."""
        self._network.topology.site(site)
        others = (other for other in self._network.topology.sites if other != site)
        return self._cut("isolate", [pair for other in others for pair in _both(site, other)], site)

    def heal(self, a: str | None = None, b: str | None = None) -> bool:
        """Undo partition, cut and isolate: between two sites, around one, or all of them."""
        changes = {pair: old._replace(cut=False) for pair, old in self._impaired(a, b) if old.cut}
        return self._impair("heal", changes, _where(a, b), "")

    def go_down(self, a: str, b: str) -> bool:
        """Take the line between two sites down because it flaps."""
        changes = {pair: old._replace(down=True) for pair, old in self._current(_both(a, b))}
        return self._impair("partition", changes, _between(a, b), FLAPPING)

    def come_up(self, a: str, b: str) -> bool:
        """Undo `go_down`; what cuts made stays."""
        changes = {pair: old._replace(down=False) for pair, old in self._current(_both(a, b))}
        return self._impair("heal", changes, _between(a, b), FLAPPING)

    def slow(
        self, a: str, b: str, *, latency: Latency | None = None, factor: int | None = None, one_way: bool = False
    ) -> bool:
        """Give the line between two sites (or inside one) another latency, or multiply its latency.

        `one_way` leaves the direction from the second to the first as it is.  It replaces an earlier `slow` there.
        """
        if (latency is None) == (factor is None):
            raise ValueError("slow takes a latency or a factor, one of them")
        if factor is not None and (type(factor) is not int or factor < 1):
            raise ValueError(f"slow takes a whole factor from 1 up, not {factor!r}")
        if latency is not None and not isinstance(latency, Latency):
            raise TypeError(f"slow takes a Latency such as Latency.constant(ns), not {latency!r}")
        ends = [(a, b)] if one_way else _both(a, b)
        changes = {pair: old._replace(latency=latency, factor=factor or 1) for pair, old in self._current(ends)}
        where = f"{a} > {b}" if one_way else _between(a, b)
        return self._impair("slow", changes, where, f"{latency or f'factor {factor}'}")

    def lose(self, a: str, b: str, loss_ppm: int) -> bool:
        """Lose this share of the messages between two sites (or inside one), in addition to what links lose."""
        checked_ppm("a loss", loss_ppm)
        changes = {pair: old._replace(loss_ppm=loss_ppm) for pair, old in self._current(_both(a, b))}
        return self._impair("lose", changes, _between(a, b), f"{loss_ppm} ppm")

    def duplicate(self, a: str, b: str, twice_ppm: int) -> bool:
        """Deliver this share of the datagrams between two sites (or inside one) twice."""
        checked_ppm("a share of duplicates", twice_ppm)
        changes = {pair: old._replace(twice_ppm=twice_ppm) for pair, old in self._current(_both(a, b))}
        return self._impair("duplicate", changes, _between(a, b), f"{twice_ppm} ppm")

    def restore(self, a: str | None = None, b: str | None = None) -> bool:
        """Undo `slow`, `lose` and `duplicate`: between two sites, around one, or everywhere."""
        changes = {pair: Impairment(cut=old.cut, down=old.down) for pair, old in self._impaired(a, b)}
        return self._impair("restore", changes, _where(a, b), "")

    def crash(self, host: str) -> bool:
        """Take a host down: messages in flight to or from it are lost, and no more are delivered."""
        return self._record("crash", host, "", self._network.set_up(host, up=False))

    def restart(self, host: str) -> bool:
        """Take a host up again."""
        return self._record("restart", host, "", self._network.set_up(host, up=True))

    def _cut(self, verb: str, pairs: Iterable[Pair], where: str) -> bool:
        pairs = list(pairs)
        for a, b in pairs:
            if a == b:
                raise ValueError(f"{verb} needs two different sites, not {a} twice; crash its hosts instead")
        return self._impair(verb, {pair: old._replace(cut=True) for pair, old in self._current(pairs)}, where, "")

    def _current(self, pairs: Iterable[Pair]) -> list[tuple[Pair, Impairment]]:
        return [(pair, self._network.impairment(*pair)) for pair in pairs]

    def _impaired(self, a: str | None, b: str | None) -> list[tuple[Pair, Impairment]]:
        """Directions that have an impairment, all or those at a site or between two."""
        if a is None and b is not None:
            a, b = b, None
        sites = {self._network.topology.site(site) for site in (a, b) if site is not None}
        return self._current(pair for pair in self._network.impaired() if sites <= set(pair))

    def _impair(self, verb: str, changes: dict[Pair, Impairment], where: str, detail: str) -> bool:
        changed = any(self._network.impairment(*pair) != new for pair, new in changes.items())
        if changed:
            self._network.impair(changes)
        return self._record(verb, where, detail, changed)

    def _record(self, verb: str, target: str, detail: str, changed: bool) -> bool:
        text = detail if changed else f"{detail}, no change" if detail else "no change"
        self._trace.record(("fault", self._clock.now, verb, target, text))
        self._network.effects.changes += changed
        return changed


def _both(a: str, b: str) -> list[Pair]:
    return [(a, b), (b, a)] if a != b else [(a, a)]


def _between(a: str, b: str) -> str:
    return " <> ".join(sorted({a, b}))


def _where(a: str | None, b: str | None) -> str:
    named = [site for site in (a, b) if site is not None]
    return _between(named[0], named[-1]) if named else "all"
