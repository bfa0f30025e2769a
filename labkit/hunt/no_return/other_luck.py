"""Other luck: how often a run breaks that goes on from an instant with other keys, nonces and draws of the network.

1. First some instants, evenly over the run.  Then, of the intervals whose two ends have bounds that do not meet, the
   one with the largest change is halved, as long as there is one and branches are left.
2. Branches at one instant have the luck 0, 1, 2 …; what is done, and when, is the same in all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from labkit.hunt.no_return.breaking_runs import WrittenRun, breaks
from labkit.hunt.world import World, world_of
from labkit.lab.snapshot import Snapshot
from labkit.scenario.many.many_runs import rate_bounds
from labkit.service.durations import MILLISECOND_NS

INSTANTS, BRANCHES, BRANCHES_BETWEEN = 8, 20, 40
MAX_BRANCHES = INSTANTS * BRANCHES + BRANCHES_BETWEEN
MIN_INTERVAL_NS = MILLISECOND_NS


class Branched(NamedTuple):
    """An instant from which branches went on, how many, and how many of them break."""

    at_ns: int
    runs: int
    broken: int

    @property
    def rate(self) -> float:
        """The share that breaks."""
        return self.broken / self.runs

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which it is with 95 % certainty."""
        return rate_bounds(self.broken, self.runs)


class Curve(NamedTuple):
    """The instants in order, and the interval in which the rate changes most; None where its ends do not differ."""

    instants: tuple[Branched, ...]
    change: tuple[Branched, Branched] | None

    @property
    def branches(self) -> int:
        """How many branches were played."""
        return sum(instant.runs for instant in self.instants)


def curve_of(run: WrittenRun, key: str, limit: int = MAX_BRANCHES, done: Callable[[], object] = lambda: None) -> Curve:
    """Play branches at instants of a run; ``done`` is called after each."""
    world = world_of(run.scenario)
    snapshots: dict[int, Snapshot] = {}
    found: dict[int, Branched] = {}
    for at_ns in dict.fromkeys([run.end_ns * place // INSTANTS for place in range(INSTANTS)]):
        snapshots[at_ns] = _snapshot(world, at_ns)
        found[at_ns] = _branched(snapshots[at_ns], key, min(BRANCHES, limit // INSTANTS), done)
    while (change := _change(found)) is not None:
        low, high = change
        at_ns = (low.at_ns + high.at_ns) // 2
        if high.at_ns - low.at_ns <= MIN_INTERVAL_NS or _runs(found) + BRANCHES_BETWEEN > limit:
            break
        snapshots[at_ns] = _snapshot(World.restore(snapshots[low.at_ns]), at_ns)
        found[at_ns] = _branched(snapshots[at_ns], key, BRANCHES_BETWEEN, done)
    return Curve(tuple([found[at_ns] for at_ns in sorted(found)]), change)


def _snapshot(world: World, at_ns: int) -> Snapshot:
    """Let a world come to an instant, after all that happens then."""
    if at_ns > world.now:
        world.run(until=f"{at_ns}ns")
    return world.snapshot()


def _branched(snapshot: Snapshot, key: str, runs: int, done: Callable[[], object]) -> Branched:
    trunk, broken = World.restore(snapshot), 0
    for luck in range(runs):
        branch = trunk.branch(f"luck {luck}", luck=luck)
        branch.run()
        broken += breaks(branch, key)
        done()
    return Branched(snapshot.at_ns, runs, broken)


def _runs(found: dict[int, Branched]) -> int:
    return sum(instant.runs for instant in found.values())


def _change(found: dict[int, Branched]) -> tuple[Branched, Branched] | None:
    """Return, of the neighbours whose bounds do not meet, those whose rates differ most; None without any."""
    ordered = [found[at_ns] for at_ns in sorted(found)]
    apart = [(low, high) for low, high in pairwise(ordered) if _are_apart(low.bounds, high.bounds)]
    return max(apart, key=lambda pair: abs(pair[1].rate - pair[0].rate), default=None)


def _are_apart(low: tuple[float, float], high: tuple[float, float]) -> bool:
    return low[1] < high[0] or high[1] < low[0]
