"""Lab views: what a lab shows of itself, as its methods: map, timeline and measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.lab.queries import Queries
from labkit.lab.wire.turns import EachInTurn, Turns

if TYPE_CHECKING:
    from labkit.views.charts.measures import Measures
    from labkit.views.picture import Picture


class LabViews(EachInTurn):
    """Gives a lab its pictures."""

    queries: Queries

    @property
    def _turns(self) -> Turns:
        return self.queries.parts.turns

    @property
    def measures(self) -> Measures:
        """Bytes on the wire, lag, stale reads, surviving tokens, time in states: as data frames and pictures."""
        from labkit.views.charts.measures import Measures

        return Measures(self.queries)

    def map(self) -> Picture:
        """Draw sites, links, clusters and nodes as they are now."""
        from labkit.views import map as maps

        return maps.of(self.queries)

    def timeline(self, start: str | float | None = None, end: str | float | None = None) -> Picture:
        """Draw what became of each cluster and node, and what clients were answered, up to now or between two instants.

        ``start`` and ``end`` are durations since the lab was built, such as ``30s`` or a number of seconds.
        """
        from labkit.views import timeline

        parts = self.queries.parts
        nodes = {plan.name: plan.node_names for plan in parts.blueprint.clusters}
        window = timeline.window_of(parts.now, start, end)
        return timeline.of((parts.trace, parts.ledger, nodes, self.queries.lags), window)
