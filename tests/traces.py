"""Traces of given events, for tests of what is read from a trace."""

from __future__ import annotations

from typing import Any

from labkit.trace import Trace


def recorded(*events: tuple[Any, ...]) -> Trace:
    """Return a trace of these events, in this order."""
    trace = Trace()
    for event in events:
        trace.record(event)
    return trace
