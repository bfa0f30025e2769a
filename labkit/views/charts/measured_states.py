"""Measured states: how long each cluster, secondary and node was in each state, as a table and as bars.

1. Each state has a bar of its own, from the same edge: sums that stand in a row would look like time.
2. Words and picture name states as every picture does, the table as the API does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.lab.measures.time_in_states import CLUSTER, CONNECTION, NODE, SYNC, Stay, time_in_states
from labkit.service.durations import SECOND_NS, in_seconds
from labkit.views.charts.measure import REAL, TEXT, WHOLE, Measure, MeasuredColumn, needs_trace
from labkit.views.charts.row_chart import draw
from labkit.views.layout.bar_chart_layout import BarPart
from labkit.views.layout.row_chart_layout import FigureRow, RowChart
from labkit.views.state_words import MODES, STATES

if TYPE_CHECKING:
    from labkit.lab.queries import Queries

COLUMNS = (
    MeasuredColumn("kind", TEXT, "what is looked at: cluster, sync or connection of a secondary, node", True),
    MeasuredColumn("name", TEXT, "the cluster or node", True),
    MeasuredColumn("state", TEXT, "the state that it was in; none: while it was no secondary", True),
    MeasuredColumn("total_s", REAL, "seconds in that state, in sum"),
    MeasuredColumn("share", REAL, "the same as a share of the time since the lab was built, 0 to 1"),
    MeasuredColumn("stretches", WHOLE, "how often it came into that state"),
    MeasuredColumn("longest_s", REAL, "seconds of the longest stretch"),
)
HEADINGS = {
    CLUSTER: "Cluster {}",
    SYNC: "Sync of {}",
    CONNECTION: "Connection of {} to its upstream",
    NODE: "Node {}",
}
WORDS = {**STATES, **MODES, "none": "no secondary", "transient_failure": "failed for now"}
"""What states are called in words that the API calls otherwise."""


def measured_states(queries: Queries) -> Measure:
    """Measure the time that everything spent in each of its states up to now."""
    trace, now_ns = needs_trace(queries.parts.trace, "states"), queries.now
    clusters = {plan.name: plan.node_names for plan in queries.blueprint.clusters}
    stays = time_in_states(trace, clusters, queries.progress.connections, now_ns)
    rows = tuple(
        [
            (kind, name, state, total_ns / SECOND_NS, total_ns / now_ns, stretches, longest_ns / SECOND_NS)
            for kind, name, state, total_ns, stretches, longest_ns in stays
        ]
    )
    title = f"Time in each state, in sum, until {in_seconds(now_ns)} s"
    chart = RowChart(title, _finding(stays), ("seconds", "stretches"), tuple(map(_row, stays)))
    return Measure("states", chart.finding, COLUMNS, rows, (draw(chart),))


def _row(stay: Stay) -> FigureRow:
    state, total_s = WORDS.get(stay.state, stay.state), stay.total_ns / SECOND_NS
    times = f" in {stay.stretches} stretches" if stay.stretches > 1 else ""
    part = BarPart(stay.state, stay.total_ns, f"{total_s:.3f} s{times}")
    return FigureRow(HEADINGS[stay.kind].format(stay.name), state, (f"{total_s:.3f}", f"{stay.stretches:,}"), (part,))


def _finding(stays: tuple[Stay, ...]) -> str:
    if not stays:
        return "No time has passed."
    words = []
    for name in dict.fromkeys(stay.name for stay in stays if stay.kind == CLUSTER):
        own = {stay.state: stay.total_ns for stay in stays if (stay.kind, stay.name) == (CLUSTER, name)}
        out_ns = own.get("down", 0) + own.get("sealed", 0)
        words += [f"{name} served nobody for {in_seconds(out_ns)} s"] if out_ns else []
    return f"{'; '.join(words)}." if words else "Each cluster had an active node all the time."
