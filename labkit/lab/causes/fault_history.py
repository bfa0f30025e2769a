"""Fault history: which fault was in force at a row of the trace, read from the fault verbs that it records.

1. A verb that changed nothing causes nothing.  What is undone is in force no more; what holds already keeps its cause.
2. A cut belongs to the flapping of a line or to the other verbs: what undoes the one leaves the other in force.
3. A cut, a slow line or a loss is looked up for a way from one site to another: that of the route, or of the two ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from labkit.lab.fault_table import CUT, DUPLICATE, FAULTS, LOSE, NAMED, SLOW
from labkit.sim.network_faults import FLAPPING
from labkit.sim.topology import NoRouteError, Pair, Topology

NO_CHANGE = "no change"
MAKING = {
    kind: tuple([fault.name for fault in FAULTS if fault.line_is == kind]) for kind in (CUT, SLOW, LOSE, DUPLICATE)
}
UNDOING = {kind: tuple([NAMED[name].undone_by for name in names]) for kind, names in MAKING.items()}
"""{what a line is under: the faults that make it so, and what undoes them}."""


class FaultHistory:
    """The faults of a run, as (row number, event) in order."""

    __slots__ = ("_faults", "_topology")

    def __init__(self, faults: Iterable[tuple[int, Sequence[Any]]], topology: Topology) -> None:
        self._faults: list[tuple[int, str, str, str]] = [
            (number, row[2], row[3], row[4]) for number, row in faults if not row[4].endswith(NO_CHANGE)
        ]
        self._topology = topology

    def on_node(self, verb: str, node: str, before: int) -> int | None:
        """Return the row of the crash, pause, impostor or skew that a node is under at a row; None without one."""
        found, ending = None, (NAMED[verb].undone_by, *NAMED[verb].ended_by)
        for number, its_verb, target, _ in self._faults:
            if number >= before:
                break
            if target == node and its_verb == verb:
                found = number if found is None else found
            elif target == node and its_verb in ending:
                found = None
        return found

    def on_line(self, kind: str, ends: Pair, before: int) -> int | None:
        """Return the row of the ``cut``, ``slow`` or ``lose`` that the way from one site to another is under."""
        in_force: dict[tuple[Pair, bool], int] = {}
        for number, verb, target, detail in self._faults:
            if number >= before:
                break
            self._apply(in_force, kind, (verb, target, detail == FLAPPING), number)
        on_the_way = set(self._on_the_way(ends))
        return min((number for (pair, _), number in in_force.items() if pair in on_the_way), default=None)

    def hit(self, hosts: tuple[str, str], ends: Pair, rows: range) -> int | None:
        """Return the first fault among rows that took what was on its way from one host to another."""
        for number, verb, target, _ in self._faults:
            if number not in rows:
                continue
            if verb == "crash" and target in hosts:
                return number
            if verb in MAKING[CUT] and set(self._on_the_way(ends)) & set(self._pairs(verb, target)):
                return number
        return None

    def last(self, verbs: Iterable[str], targets: Iterable[str], before: int) -> int | None:
        """Return the last fault with one of these verbs and targets before a row."""
        rows = self.every(verbs, targets, range(before))
        return rows[-1] if rows else None

    def every(self, verbs: Iterable[str], targets: Iterable[str], rows: range) -> list[int]:
        """Return the faults among rows with one of these verbs and targets."""
        wanted = set(product(verbs, targets))
        return [number for number, verb, target, _ in self._faults if number in rows and (verb, target) in wanted]

    def _apply(
        self, in_force: dict[tuple[Pair, bool], int], kind: str, what: tuple[str, str, bool], number: int
    ) -> None:
        verb, target, flapping = what
        if verb in MAKING[kind]:
            for pair in self._pairs(verb, target):
                in_force.setdefault((pair, flapping), number)
        elif verb in UNDOING[kind]:
            undone = set(target.split(" <> ")) - {"all"}
            for key in [key for key in in_force if key[1] == flapping and undone <= set(key[0])]:
                del in_force[key]

    def _pairs(self, verb: str, target: str) -> list[Pair]:
        if verb == "isolate":
            others = [site for site in self._topology.sites if site != target]
            return [pair for other in others for pair in ((target, other), (other, target))]
        if " > " in target:
            source, end = target.split(" > ")
            return [(source, end)]
        sites = target.split(" <> ")
        return [(a, b) for a, b in product(sites, sites) if a != b or len(sites) == 1]

    def _on_the_way(self, ends: Pair) -> tuple[Pair, ...]:
        try:
            return (*self._topology.route(*ends).hops, ends)
        except NoRouteError:
            return (ends,)
