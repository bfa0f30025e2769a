"""Bounds of a search of replication: how often each thing happens that does not happen by itself."""

from __future__ import annotations

from typing import NamedTuple


class Bounds(NamedTuple):
    """How many writes, faults of the network, changes of the active node on either side; the network; the backlog.

    ``cuts`` are faults of the network, whatever its kind does.  After each, and after a takeover, the secondary may
    once miss the answers of its heartbeats for so long that it gives the connection up.
    """

    writes: int = 2
    cuts: int = 1
    restarts: int = 0
    takeovers: int = 0
    network: str = "destroying"
    backlog: int = 1

    def __str__(self) -> str:
        counted = [
            _count(self.writes, "write"),
            _count(self.cuts, "cut"),
            _count(self.restarts, "restart of the secondary"),
            _count(self.takeovers, "takeover at the primary"),
        ]
        entries = _count(self.backlog, "entry").replace("entrys", "entries")
        return f"{', '.join(counted)}; a backlog of {entries}; network: {self.network}"


def _count(number: int, what: str) -> str:
    if number == 1:
        return f"1 {what}"
    noun, *rest = what.split(" ", 1)
    return " ".join([f"{number} {noun}s", *rest])
