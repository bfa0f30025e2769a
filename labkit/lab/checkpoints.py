"""Checkpoints: snapshots that a lab keeps on its way, so that any instant between can be gone back to.

1. One is kept whenever time begins to pass after something was done by hand, for that cannot be repeated; and one each
   interval while time passes, so that little has to be run again.
2. Between two of them the lab is a function of the first: what follows is run again, not stored.
3. There is a limit.  Every other one of an interval goes first, then the oldest: what is left reaches back so far.
4. What was done by hand shows in a mark of the lab's state: the length of its trace, what waits in the clock, the
   console's serial, the faults of the network.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from labkit.lab.parts import Parts
from labkit.lab.snapshot import Snapshot

Mark = tuple[Any, ...]
MAX_CHECKPOINTS = 256


class Checkpoint(NamedTuple):
    """A snapshot with the rules of one's own that were watched then; ``after_act``: something was done by hand."""

    snapshot: Snapshot
    watched: tuple[tuple[str, Callable[[Any], Any]], ...]
    after_act: bool

    @property
    def at_ns(self) -> int:
        """The instant of the lab."""
        return self.snapshot.at_ns


class Checkpoints:
    """The checkpoints of one lab, oldest first; ``take`` makes one of the lab as it is."""

    __slots__ = ("_due_ns", "_mark", "_parts", "_take", "every_ns", "kept", "limit")

    def __init__(self, parts: Parts, take: Callable[[bool], Checkpoint], every_ns: int, limit: int) -> None:
        self._parts, self._take = parts, take
        self.every_ns, self.limit = every_ns, limit
        self.kept: list[Checkpoint] = []
        self._mark: Mark | None = None
        self._due_ns = 0

    def __repr__(self) -> str:
        return f"Checkpoints({len(self.kept)}, from {self.kept[0].at_ns} ns on)" if self.kept else "Checkpoints(0)"

    def begin(self) -> None:
        """Time begins to pass: keep a checkpoint when something was done since it stopped."""
        if self._mark != mark_of(self._parts):
            self.keep(after_act=True)

    def between(self) -> None:
        """Something has happened: keep a checkpoint when it is time for the next."""
        if self._parts.clock.now >= self._due_ns:
            self.keep(after_act=False)

    def end(self) -> None:
        """Time has ceased to pass."""
        self._mark = mark_of(self._parts)

    def before(self, at_ns: int) -> Checkpoint | None:
        """Return the last checkpoint up to an instant; None where none reaches back so far."""
        place = bisect_right(self.kept, at_ns, key=_instant)
        return self.kept[place - 1] if place else None

    def take_over(self, earlier: Sequence[Checkpoint]) -> None:
        """Begin with checkpoints that were kept already, of those up to now."""
        self.kept = list(earlier[: bisect_right(earlier, self._parts.clock.now, key=_instant)])
        self.end()

    def keep(self, *, after_act: bool) -> None:
        """Keep one of the lab as it is now."""
        found = self._take(after_act)
        if self.kept and self.kept[-1].at_ns == found.at_ns:  # nobody can ask for the state before the later one
            found = found._replace(after_act=after_act or self.kept.pop().after_act)
        self.kept.append(found)
        self._due_ns = found.at_ns + self.every_ns
        if len(self.kept) > self.limit:
            self._thin()

    def _thin(self) -> None:
        dropped = False
        thinned: list[Checkpoint] = []
        for checkpoint in self.kept[:-1]:
            dropped = not checkpoint.after_act and not dropped and bool(thinned)
            if not dropped:
                thinned.append(checkpoint)
        self.kept = [*thinned, self.kept[-1]][-self.limit :]


def mark_of(parts: Parts) -> Mark:
    """Return what tells a lab from the same lab after something was done to it by hand."""
    clock, console = parts.clock, parts.console
    files = tuple([(len(one.blocked), *map(len, one.lines.values())) for one in parts.files.values()])
    waiting = (clock.waiting, console.serial, len(console.asks), len(console.answers), len(console.finished))
    return clock.now, len(parts.trace), parts.network.epoch, parts.branches, files, *waiting


def _instant(checkpoint: Checkpoint) -> int:
    return checkpoint.at_ns
