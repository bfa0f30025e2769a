"""Measured lag: how far each secondary was behind over time, as a table and as a chart."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING

from labkit.lab.measures.lag_over_time import LagPoint, lag_over_time, largest
from labkit.service.durations import SECOND_NS, in_seconds
from labkit.views.charts.measure import REAL, TEXT, Measure, MeasuredColumn
from labkit.views.charts.measured_marks import measured_marks
from labkit.views.charts.time_chart import draw
from labkit.views.layout.time_chart_layout import TimeChart, TimeColumn, TimePanel
from labkit.views.time_axis import round_slice_ns

if TYPE_CHECKING:
    from labkit.lab.queries import Queries

COLUMNS = (
    MeasuredColumn("secondary", TEXT, "the cluster that follows another", True),
    MeasuredColumn("at_s", REAL, "the end of a stretch of time, in seconds since the lab was built", True),
    MeasuredColumn("upstream", TEXT, "the cluster that it follows then"),
    MeasuredColumn(
        "entries",
        REAL,
        "journal entries not applied then, or when it ceased to follow; infinite: no state yet",
    ),
    MeasuredColumn("behind_s", REAL, "for how many seconds the oldest of them has waited then; infinite likewise"),
    MeasuredColumn("max_entries", REAL, "the most entries not applied at any instant of the stretch"),
    MeasuredColumn("max_behind_s", REAL, "the longest wait at any instant of the stretch"),
)
SLICES = 120
BEHIND, UNKNOWN = "behind", "no complete state"


def measured_lag(queries: Queries, every_ns: int = 0) -> Measure:
    """Measure the lag of every secondary up to now, by stretches of a length (0: one that suits the chart)."""
    now_ns = queries.now
    drawn_ns = max(every_ns, round_slice_ns(now_ns, SLICES))
    points = lag_over_time(queries.progress, now_ns, drawn_ns) if now_ns else ()
    listed = lag_over_time(queries.progress, now_ns, every_ns) if every_ns and now_ns else points
    rows = tuple([(name, at_ns / SECOND_NS, *rest) for name, at_ns, *rest in listed])
    title = f"Lag of secondaries until {in_seconds(now_ns)} s"
    panels = tuple(_panels(queries, points, drawn_ns))
    chart = TimeChart(title, _finding(points), now_ns, panels, measured_marks(queries))
    return Measure("lag", chart.finding, COLUMNS, rows, (draw(chart),))


def _panels(queries: Queries, points: tuple[LagPoint, ...], every_ns: int) -> Iterable[TimePanel]:
    """Return two panels for each secondary, the time that it was behind and the entries."""
    for name in dict.fromkeys(point.secondary for point in points):
        own = [point for point in points if point.secondary == name]
        last = own[-1]
        seconds = [point.max_seconds for point in own]
        hatched = f"; hatched: {UNKNOWN}" if inf in seconds else ""
        words = f"up to {_most(seconds):.3f} s, last {_now(last.seconds, '.3f', ' s')}{hatched}"
        yield TimePanel(f"{name}: seconds behind", words, _columns(own, seconds, every_ns), unit="s")
        entries = [point.max_entries for point in own]
        backlog = queries.blueprint.cluster(last.upstream).backlog_entries
        limit = f"backlog of {last.upstream}: {backlog:,} entries"
        words = f"up to {_most(entries):,.0f}, last {_now(last.entries, ',.0f')}; {limit}"
        yield TimePanel(f"{name}: entries behind", words, _columns(own, entries, every_ns), (backlog, limit))


def _columns(points: list[LagPoint], values: list[float], every_ns: int) -> tuple[TimeColumn, ...]:
    found = []
    for point, value in zip(points, values, strict=True):
        what = UNKNOWN if value == inf else BEHIND
        found.append(TimeColumn((point.at_ns - 1) // every_ns * every_ns, point.at_ns, ((what, value),)))
    return tuple(found)


def _most(values: list[float]) -> float:
    return max((value for value in values if value < inf), default=0)


def _now(value: float, form: str, unit: str = "") -> str:
    return UNKNOWN if value == inf else f"{value:{form}}{unit}"


def _finding(points: tuple[LagPoint, ...]) -> str:
    if not points:
        return "No cluster followed another."
    furthest = largest(points)
    if furthest is None or not furthest.max_seconds:
        return "No secondary was seen behind after it had reached a complete state."
    name, entries = furthest.secondary, max(p.max_entries for p in points if p.max_entries < inf)
    when = f"by {in_seconds(furthest.at_ns)} s"
    return f"{name} was furthest behind, {furthest.max_seconds:.3f} s {when}; the most entries were {entries:,.0f}."
