"""What goes wrong between and on hosts, and is put right again: verbs in pairs, each in effect at once.

    partition, cut, isolate   heal         no messages pass: both ways, one way, to and from everywhere
    slow, lose                restore      messages take longer, or have to be sent again
    crash                     restart      a host is down

Rules kept here:

1. Each verb is one `fault` event of the trace; it returns whether it changed anything, and the event says so.
2. Links are named by two sites, whichever hosts stand there; a fault hits every route that passes there.
3. What a cut or a crash overtakes is lost; what is under way on a slower line keeps its time.
"""

from __future__ import annotations

from collections.abc import Iterable

from labkit.sim.clock import Clock
from labkit.sim.dice import checked_ppm
from labkit.sim.lane import Damage
from labkit.sim.latency import Latency
from labkit.sim.network import Network
from labkit.sim.topology import Pair
from labkit.trace import Trace


class Faults:
    """The fault verbs of one network.  What they did is the network's state; there is none here."""

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
        """Undo cuts: between two sites, around one, or all of them."""
        changes = {pair: old._replace(cut=False) for pair, old in self._worn(a, b) if old.cut}
        return self._wear("heal", changes, _where(a, b), "")

    def slow(self, a: str, b: str, *, latency: Latency | None = None, factor: int | None = None) -> bool:
        """Give the line between two sites (or inside one) another latency, or make it so many times as slow.

        It stands in for what an earlier `slow` did there.
        """
        if (latency is None) == (factor is None):
            raise ValueError("slow takes a latency or a factor, one of them")
        if factor is not None and (type(factor) is not int or factor < 1):
            raise ValueError(f"slow takes a whole factor from 1 up, not {factor!r}")
        if latency is not None and not isinstance(latency, Latency):
            raise TypeError(f"slow takes a Latency such as Latency.constant(ns), not {latency!r}")
        changes = {pair: old._replace(latency=latency, factor=factor or 1) for pair, old in self._old(_both(a, b))}
        return self._wear("slow", changes, _between(a, b), f"{latency or f'factor {factor}'}")

    def lose(self, a: str, b: str, loss_ppm: int) -> bool:
        """Lose so many of a million messages between two sites (or inside one), on top of what links lose."""
        checked_ppm("a loss", loss_ppm)
        changes = {pair: old._replace(loss_ppm=loss_ppm) for pair, old in self._old(_both(a, b))}
        return self._wear("lose", changes, _between(a, b), f"{loss_ppm} ppm")

    def restore(self, a: str | None = None, b: str | None = None) -> bool:
        """Undo `slow` and `lose`: between two sites, around one, or everywhere."""
        changes = {pair: Damage(cut=old.cut) for pair, old in self._worn(a, b)}
        return self._wear("restore", changes, _where(a, b), "")

    def crash(self, host: str) -> bool:
        """Take a host down: what is under way to or from it is lost, and nothing more gets through."""
        return self._tell("crash", host, "", self._network.set_up(host, up=False))

    def restart(self, host: str) -> bool:
        """Take a host up again."""
        return self._tell("restart", host, "", self._network.set_up(host, up=True))

    def _cut(self, verb: str, pairs: Iterable[Pair], where: str) -> bool:
        pairs = list(pairs)
        for a, b in pairs:
            if a == b:
                raise ValueError(f"{verb} needs two different sites, not {a} twice; crash its hosts instead")
        return self._wear(verb, {pair: old._replace(cut=True) for pair, old in self._old(pairs)}, where, "")

    def _old(self, pairs: Iterable[Pair]) -> list[tuple[Pair, Damage]]:
        return [(pair, self._network.damage(*pair)) for pair in pairs]

    def _worn(self, a: str | None, b: str | None) -> list[tuple[Pair, Damage]]:
        """Directions that bear damage, all or those at a site or between two."""
        if a is None and b is not None:
            a, b = b, None
        sites = {self._network.topology.site(site) for site in (a, b) if site is not None}
        return self._old(pair for pair in self._network.damaged() if sites <= set(pair))

    def _wear(self, verb: str, changes: dict[Pair, Damage], where: str, detail: str) -> bool:
        changed = any(self._network.damage(*pair) != damage for pair, damage in changes.items())
        if changed:
            self._network.wear(changes)
        return self._tell(verb, where, detail, changed)

    def _tell(self, verb: str, target: str, detail: str, changed: bool) -> bool:
        said = detail if changed else f"{detail}, no change" if detail else "no change"
        self._trace.record(("fault", self._clock.now, verb, target, said))
        return changed


def _both(a: str, b: str) -> list[Pair]:
    return [(a, b), (b, a)] if a != b else [(a, a)]


def _between(a: str, b: str) -> str:
    return " <> ".join(sorted({a, b}))


def _where(a: str | None, b: str | None) -> str:
    named = [site for site in (a, b) if site is not None]
    return _between(named[0], named[-1]) if named else "all"
