"""Trace lines: the last events, one compact line of text per event.

The usual is left out: messages that arrive and operations that are answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab.wire.reports import UNKNOWN
from labkit.service.durations import in_seconds
from labkit.trace import VIEWS, Trace

LEFT_OUT = {"message": ("fate", "delivered"), "outcome": ("outcome", "answered")}


def last_lines(trace: Trace, count: int = 12) -> list[str]:
    """Return the lines of the last events that are not left out, oldest first; reads only the end of the trace."""
    found: list[str] = []
    for chunk in reversed(trace.state()[1]):
        for row in reversed(chunk):
            event = VIEWS[row[0]]._make(row)
            if _is_shown(event):
                found.append(line_of(event))
                if len(found) == count:
                    return found[::-1]
    return found[::-1]


def line_of(event: Any) -> str:
    """Return one event as a line: when, and what in words."""
    return f"{in_seconds(event.at_ns):>9} s  {TEXTS[event.kind](event)}"


def _is_shown(event: Any) -> bool:
    field, usual = LEFT_OUT.get(event.kind, ("kind", ""))
    return bool(getattr(event, field) != usual)


def _observed(event: Any) -> str:
    fields = ", ".join(f"{name} {value}" for name, value in event.fields)
    return f"{event.node}: {event.what.replace('_', ' ')}{f' ({fields})' if fields else ''}"


def _outcome(event: Any) -> str:
    status = f" {event.status}" if event.status else ""
    outcome = "in doubt" if event.outcome == UNKNOWN else event.outcome
    return f"{event.client}: {event.operation} {event.path} {outcome}{status}, tries: {event.attempts}"


TEXTS: dict[str, Callable[[Any], str]] = {
    "message": lambda event: f"{event.source} to {event.target}: {event.what} {event.fate}",
    "fault": lambda event: " ".join(filter(None, ("fault:", event.verb, event.target, event.detail))),
    "observed": _observed,
    "leader": lambda event: f"{event.node} leads {event.cluster}, term {event.term}",
    "mode": lambda event: f"{event.cluster} is {' · '.join(filter(None, (event.mode, event.state)))}",
    "outcome": _outcome,
    "step": lambda event: f"step {event.number}: {event.text} {event.status}",
    "invariant": lambda event: f"rule {event.verdict}: {event.name}: {event.detail}",
    "note": lambda event: event.text,
}
