"""Fault meters: what each fault of a lab met: of lines the network counts it, of hosts it is read where they count.

A fault has a number (``labkit.sim.fault_effects``); what hosts are under is named by the place, as directions are.
"""

from __future__ import annotations

from collections.abc import Iterable

from labkit.lab.parts import Parts
from labkit.lab.wire.addresses import CLOUD_HOST
from labkit.sim.fault_effects import DOWN, Place

PAUSED, IMPOSTOR, COMMIT, WRONG_CLOCK = "paused", "impostor", "commit", "wrong clock"
CLOUD_DOWN, CLOUD_UP, CLOUD_SLOW, CLOUD_FAST, KEYS = "cloud down", "cloud up", "cloud slow", "cloud fast", "keys"
"""What a host is under; of the cloud each endpoint, by the last that was done to it."""


class FaultMeters:
    """Begins and ends the faults of hosts, and reads what each fault met so far."""

    __slots__ = ("_effects", "_parts")

    def __init__(self, parts: Parts) -> None:
        self._parts, self._effects = parts, parts.network.effects

    def __repr__(self) -> str:
        return f"FaultMeters({self._effects!r})"

    @property
    def last(self) -> int:
        """The number of the newest fault."""
        return self._effects.last

    @property
    def changes(self) -> int:
        """How often a fault, or its undoing, changed anything so far."""
        return self._effects.changes

    def change(self, changed: bool = True) -> None:
        """Count that a fault, or its undoing, changed something."""
        self._effects.changes += changed

    def begin(self, what: str, names: Iterable[str]) -> None:
        """Begin one fault of hosts or endpoints; without any there is none."""
        places: list[Place] = [(what, name) for name in names]
        if places:
            self._effects.begin(*places, meters=[self._meter(place) for place in places])

    def end(self, what: str, names: Iterable[str]) -> None:
        """End the faults of hosts or endpoints."""
        for name in names:
            self._effects.end((what, name), self._meter((what, name)))

    def begin_flapping(self, pair: tuple[str, ...]) -> None:
        """Begin the fault of a line that flaps."""
        self._effects.begin((DOWN, *pair), (DOWN, *pair[::-1]))

    def end_flapping(self, pair: tuple[str, ...]) -> None:
        """End the fault of a line that flaps."""
        for place in ((DOWN, *pair), (DOWN, *pair[::-1])):
            self._effects.end(place)

    def meet(self, what: str, name: str) -> None:
        """Count once for what a host is under, and end that."""
        self._effects.end((what, name), 1)

    def met(self, number: int) -> int:
        """How much a fault met so far."""
        effects = self._effects
        return effects.counts[number] + sum(self._meter(place) for place in effects.places_of(number))

    def _meter(self, place: Place) -> int:
        what, name = place[:2]
        if what == PAUSED:
            process = self._parts.processes[name]
            return len(process.held) + len(process.late)
        if what == WRONG_CLOCK:
            return int(self._parts.nodes[name].clock.decided)
        if what == IMPOSTOR:
            impostor = self._parts.impostors.get(name)
            return impostor.seen if impostor is not None else 0
        if what in (CLOUD_DOWN, CLOUD_UP, CLOUD_SLOW, CLOUD_FAST, KEYS):
            return self._parts.clouds[CLOUD_HOST].cloud.failures.asked.get(name, 0)
        return 0
