"""Observations: how often nodes observed each kind of thing, counted as it is reported, with the trace on or off."""

from __future__ import annotations

from typing import Any

from labkit.lab.wire.reports import Observed

FETCHING = "merkle_sync"
"""What a node observes whose comparison is over; it says how many keys it fetches."""


class Observations:
    """How often each kind was observed, and how many keys comparisons have fetched, those of new secondaries too."""

    __slots__ = ("fetched", "kinds")

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.kinds: dict[str, int] = dict(state.get("kinds", {}))
        self.fetched: int = state.get("fetched", 0)

    def __repr__(self) -> str:
        return f"Observations({sum(self.kinds.values())} of {len(self.kinds)} kinds)"

    def take(self, report: Observed) -> None:
        """Count an observation."""
        kind = report.kind
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if kind == FETCHING:
            self.fetched += dict(report.fields)["fetch"]

    def state(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {"kinds": dict(self.kinds), "fetched": self.fetched}
