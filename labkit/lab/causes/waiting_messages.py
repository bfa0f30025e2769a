"""Waiting messages: when each node's process took what had arrived and had to wait, recounted from the trace.

1. A process that takes time for requests works on one after another; one that is paused takes all when it goes on.
2. The recount keeps the rules of ``process``: so each row that a process took a message for leads to the row that sent
   it, and a run needs no further row for that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

QUEUED = ("request", "forwarded_request")
"""What takes time; all else passes."""


class WaitingMessages:
    """One node: what waits, and at which instants rows of the trace were taken."""

    __slots__ = ("_due_ns", "_held", "_paused", "_queue", "_service_ns", "taken")

    def __init__(self, service_ns: int) -> None:
        self._service_ns = service_ns
        self._queue: deque[int] = deque()
        self._held: list[tuple[int, bool]] = []
        self._due_ns, self._paused = 0, False
        self.taken: dict[int, list[int]] = {}

    def arrive(self, at_ns: int, number: int, what: str) -> None:
        """A message arrived at an instant, as a row says."""
        self._advance(at_ns)
        queued = what in QUEUED
        if self._paused:
            self._held.append((number, queued))
        elif self._service_ns and queued:
            self._put(at_ns, number)

    def crash(self, at_ns: int) -> None:
        """What waits is gone."""
        self._advance(at_ns)
        self._queue.clear()
        self._held, self._paused = [], False

    def pause(self, at_ns: int) -> None:
        """The process stands still."""
        self._advance(at_ns)
        self._paused = True

    def resume(self, at_ns: int) -> None:
        """The process goes on: it takes what was held, then works on."""
        held, self._held, self._paused = self._held, [], False
        for number, queued in held:
            if self._service_ns and queued:
                self._put(at_ns, number)
            else:
                self.taken.setdefault(at_ns, []).append(number)
        if self._queue and self._due_ns <= at_ns:
            self._serve(at_ns)

    def _put(self, at_ns: int, number: int) -> None:
        self._queue.append(number)
        if len(self._queue) == 1:
            self._due_ns = at_ns + self._service_ns

    def _advance(self, at_ns: int) -> None:
        """Take what was served up to an instant."""
        while not self._paused and self._queue and self._due_ns <= at_ns:
            self._serve(self._due_ns)

    def _serve(self, at_ns: int) -> None:
        self.taken.setdefault(at_ns, []).append(self._queue.popleft())
        self._due_ns = at_ns + self._service_ns

    def end(self, at_ns: int) -> dict[int, list[int]]:
        """Return what was taken up to an instant: {instant: rows}."""
        self._advance(at_ns)
        return self.taken


def taken_messages(
    rows: Iterable[tuple[Any, ...]], service_ns: Mapping[str, int], end_ns: int
) -> dict[str, dict[int, list[int]]]:
    """Return for each node the rows of what it took after they had waited, by the instant at which it did."""
    nodes = {node: WaitingMessages(its_ns) for node, its_ns in service_ns.items()}
    for number, row in enumerate(rows):
        if row[0] == "message" and row[7] == "delivered" and row[4] in nodes:
            nodes[row[4]].arrive(row[2], number, row[5])
        elif row[0] == "fault" and row[3] in nodes and not row[4].endswith("no change"):
            node, (_, at_ns, verb, *_) = nodes[row[3]], row
            if verb == "crash":
                node.crash(at_ns)
            elif verb == "pause":
                node.pause(at_ns)
            elif verb == "resume":
                node.resume(at_ns)
    return {name: node.end(end_ns) for name, node in nodes.items()}
