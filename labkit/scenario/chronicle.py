"""Chronicle: what happened in a lab, as one line an event that a reader can follow, taken from the trace.

Messages, single operations and what a service let be seen of its inside are left out; so are the faults that a step
caused, since the step says them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from labkit.scenario.kinds import write_duration
from labkit.trace import (
    Event,
    FaultEvent,
    InvariantEvent,
    LeaderEvent,
    ModeEvent,
    NoteEvent,
    OutcomeEvent,
    StepEvent,
    Trace,
)

MILLISECOND_NS = 1_000_000


class Line(NamedTuple):
    """One thing that happened: when, what sort of thing, and what."""

    at_ns: int
    sort: str
    text: str

    def __str__(self) -> str:
        milliseconds = (self.at_ns + MILLISECOND_NS // 2) // MILLISECOND_NS
        return f"{milliseconds // 1_000:>6}.{milliseconds % 1_000:03d} s  {self.sort:<9}  {self.text}"


def chronicle(trace: Trace | Iterable[Event]) -> list[Line]:
    """Return what happened, in order."""
    teller = _Teller()
    return [line for event in trace for line in teller.tell(event)]


class _Teller:
    """Goes through a trace once, and knows which step is under way and who has answered clients."""

    def __init__(self) -> None:
        self.began: dict[int, int] = {}
        self.answering: set[str] = set()

    def tell(self, event: Event) -> Iterator[Line]:
        if isinstance(event, StepEvent):
            yield from self._step(event)
        elif isinstance(event, FaultEvent):
            yield from self._fault(event)
        elif isinstance(event, OutcomeEvent):
            yield from self._outcome(event)
        elif isinstance(event, LeaderEvent):
            yield Line(event.at_ns, "leader", f"{event.node} leads {event.cluster} (term {event.term})")
        elif isinstance(event, ModeEvent):
            yield Line(event.at_ns, "mode", f"{event.cluster} is {event.mode}, {event.state}")
        elif isinstance(event, InvariantEvent):
            yield Line(event.at_ns, "invariant", f"{event.name}: {event.verdict}: {event.detail}")
        elif isinstance(event, NoteEvent):
            yield Line(event.at_ns, "note", event.text)

    def _step(self, event: StepEvent) -> Iterator[Line]:
        if event.status == "begins":
            self.began[event.number] = event.at_ns
            yield Line(event.at_ns, f"step {event.number}", event.text)
            return
        took_ns = event.at_ns - self.began.pop(event.number, event.at_ns)
        if event.status != "done" or took_ns:
            told = f"{event.status} after {write_duration(took_ns)}: {event.text}"
            yield Line(event.at_ns, f"step {event.number}", told)

    def _fault(self, event: FaultEvent) -> Iterator[Line]:
        if event.at_ns not in self.began.values():
            detail = f" ({event.detail})" if event.detail else ""
            yield Line(event.at_ns, "fault", f"{event.verb} {event.target}{detail}")

    def _outcome(self, event: OutcomeEvent) -> Iterator[Line]:
        if event.outcome == "answered" and event.cluster not in self.answering:
            self.answering.add(event.cluster)
            yield Line(event.at_ns, "clients", f"{event.client} is the first to be answered by {event.cluster}")
