"""Event log: what happened in a lab, one line per event, taken from the trace.

Messages, single operations and observations of services are left out; so are the faults that a step caused, since the
line of the step says them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from labkit.scenario.value_types import write_duration
from labkit.service.durations import MILLISECOND_NS
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


class LogLine(NamedTuple):
    """One event: when, its kind, and its text."""

    at_ns: int
    kind: str
    text: str

    def __str__(self) -> str:
        milliseconds = (self.at_ns + MILLISECOND_NS // 2) // MILLISECOND_NS
        return f"{milliseconds // 1_000:>6}.{milliseconds % 1_000:03d} s  {self.kind:<9}  {self.text}"


def event_log(trace: Trace | Iterable[Event]) -> list[LogLine]:
    """Return what happened, in order."""
    writer = _Writer()
    return [line for event in trace for line in writer.lines_of(event)]


class _Writer:
    """Goes through a trace once; remembers the steps in progress and the clusters that have answered clients."""

    def __init__(self) -> None:
        self.began: dict[int, int] = {}
        self.answering: set[str] = set()

    def lines_of(self, event: Event) -> Iterator[LogLine]:
        if isinstance(event, StepEvent):
            yield from self._step(event)
        elif isinstance(event, FaultEvent):
            yield from self._fault(event)
        elif isinstance(event, OutcomeEvent):
            yield from self._outcome(event)
        elif isinstance(event, LeaderEvent):
            yield LogLine(event.at_ns, "leader", f"{event.node} leads {event.cluster} (term {event.term})")
        elif isinstance(event, ModeEvent):
            yield LogLine(
                event.at_ns, "mode", f"{event.cluster} is {', '.join(filter(None, (event.mode, event.state)))}"
            )
        elif isinstance(event, InvariantEvent):
            yield LogLine(event.at_ns, "invariant", f"{event.name}: {event.verdict}: {event.detail}")
        elif isinstance(event, NoteEvent):
            yield LogLine(event.at_ns, "note", event.text)

    def _step(self, event: StepEvent) -> Iterator[LogLine]:
        if event.status == "begins":
            self.began[event.number] = event.at_ns
            yield LogLine(event.at_ns, f"step {event.number}", event.text)
            return
        if event.status == "skipped":
            yield LogLine(event.at_ns, f"step {event.number}", f"skipped: {event.text}")
            return
        took_ns = event.at_ns - self.began.pop(event.number, event.at_ns)
        if event.status != "done" or took_ns:
            text = f"{event.status} after {write_duration(took_ns)}: {event.text}"
            yield LogLine(event.at_ns, f"step {event.number}", text)

    def _fault(self, event: FaultEvent) -> Iterator[LogLine]:
        if event.at_ns not in self.began.values():
            detail = f" ({event.detail})" if event.detail else ""
            yield LogLine(event.at_ns, "fault", f"{event.verb} {event.target}{detail}")

    def _outcome(self, event: OutcomeEvent) -> Iterator[LogLine]:
        if event.outcome == "answered" and event.cluster not in self.answering:
            self.answering.add(event.cluster)
            yield LogLine(event.at_ns, "clients", f"{event.client} is the first to be answered by {event.cluster}")
