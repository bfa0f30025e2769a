"""Measured states: how long each cluster, secondary and node was in each state, as a table and as bars."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from labkit.lab.measures.time_in_states import CLUSTER, CONNECTION, NODE, SYNC, Stay, time_in_states
from labkit.service.durations import SECOND_NS
from labkit.views.charts.bar_chart import draw
from labkit.views.charts.measure import REAL, TEXT, WHOLE, Measure, MeasuredColumn, needs_trace
from labkit.views.layout.bar_chart_layout import Bar, BarChart, BarPart

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
    CLUSTER: "Clusters",
    SYNC: "Sync of secondaries",
    CONNECTION: "Connection of secondaries to their upstream",
    NODE: "Nodes",
}


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
    title = f"Time in each state, in sum, until {now_ns / SECOND_NS:.3f} s"
    chart = BarChart(title, _finding(stays), tuple(_bars(stays)))
    return Measure("states", chart.finding, COLUMNS, rows, (draw(chart),))


def _bars(stays: tuple[Stay, ...]) -> Iterable[Bar]:
    for kind, name in dict.fromkeys((stay.kind, stay.name) for stay in stays):
        own = [stay for stay in stays if (stay.kind, stay.name) == (kind, name)]
        yield Bar(HEADINGS[kind], name, tuple([BarPart(stay.state, stay.total_ns, _words(stay)) for stay in own]))


def _words(stay: Stay) -> str:
    times = f" in {stay.stretches} stretches" if stay.stretches > 1 else ""
    return f"{stay.state} {stay.total_ns / SECOND_NS:.3f} s{times}"


def _finding(stays: tuple[Stay, ...]) -> str:
    if not stays:
        return "No time has passed."
    words = []
    for name in dict.fromkeys(stay.name for stay in stays if stay.kind == CLUSTER):
        own = {stay.state: stay.total_ns for stay in stays if (stay.kind, stay.name) == (CLUSTER, name)}
        out_ns = own.get("down", 0) + own.get("sealed", 0)
        words += [f"{name} served nobody for {out_ns / SECOND_NS:.3f} s"] if out_ns else []
    return f"{'; '.join(words)}." if words else "Each cluster had an active node all the time."
