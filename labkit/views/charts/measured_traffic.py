"""Measured traffic: bytes on the wire by mechanism, as a table and as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.lab.measures.traffic import Flow, Slice, flows, slices
from labkit.service.durations import SECOND_NS, in_seconds
from labkit.views.charts.measure import REAL, TEXT, WHOLE, Measure, MeasuredColumn, needs_trace
from labkit.views.charts.measured_marks import measured_marks
from labkit.views.charts.row_chart import draw
from labkit.views.charts.time_chart import draw as draw_over_time
from labkit.views.layout.bar_chart_layout import BarPart
from labkit.views.layout.row_chart_layout import FigureRow, RowChart
from labkit.views.layout.time_chart_layout import TimeChart, TimeColumn, TimePanel
from labkit.views.time_axis import round_slice_ns

if TYPE_CHECKING:
    from labkit.lab.queries import Queries

COLUMNS = (
    MeasuredColumn("mechanism", TEXT, "what the messages are part of", True),
    MeasuredColumn("source", TEXT, "the cluster, group of clients or load balancer that sent them", True),
    MeasuredColumn("target", TEXT, "the one that they were sent to", True),
    MeasuredColumn("messages", WHOLE, "how many, lost ones included"),
    MeasuredColumn("size_bytes", WHOLE, "their bytes on the wire, headers and lost ones included"),
    MeasuredColumn("lost_messages", WHOLE, "how many of them were lost"),
    MeasuredColumn("lost_bytes", WHOLE, "the bytes of those"),
)


COLUMNS_OVER_TIME = (
    COLUMNS[0],
    MeasuredColumn("from_s", REAL, "the beginning of a stretch of time, in seconds since the lab was built", True),
    MeasuredColumn("messages", WHOLE, "how many were sent in it, lost ones included"),
    MeasuredColumn("size_bytes", WHOLE, "their bytes on the wire, headers and lost ones included"),
)
SLICES = 120
HEADINGS, KEY = ("bytes", "messages", "bytes lost", "lost"), "crossed: lost"


def measured_traffic(queries: Queries) -> Measure:
    """Measure the bytes that each mechanism sent up to now."""
    trace = needs_trace(queries.parts.trace, "bytes")
    found = flows(trace, queries.blueprint)
    title = f"Bytes on the wire until {in_seconds(queries.now)} s"
    rows = tuple([_row(name, found) for name in _by_size(found)])
    chart = RowChart(title, _finding(found), HEADINGS, rows, KEY if any(flow.lost_messages for flow in found) else "")
    return Measure("bytes", chart.finding, COLUMNS, tuple(map(tuple, found)), (draw(chart),))


def measured_traffic_over_time(queries: Queries, every_ns: int) -> Measure:
    """Measure the bytes that each mechanism sent in each stretch of time up to now."""
    trace, now_ns = needs_trace(queries.parts.trace, "bytes"), queries.now
    listed = slices(trace, queries.blueprint, every_ns)
    rows = tuple([(name, from_ns / SECOND_NS, *counts) for name, from_ns, *counts in listed])
    drawn_ns = max(every_ns, round_slice_ns(now_ns, SLICES))
    found = flows(trace, queries.blueprint)
    shown = slices(trace, queries.blueprint, drawn_ns) if now_ns else ()
    panels = tuple([_panel(name, shown, drawn_ns, now_ns) for name in _by_size(found)])
    title = f"Bytes on the wire over time until {in_seconds(now_ns)} s"
    chart = TimeChart(title, _finding(found), now_ns, panels, measured_marks(queries))
    return Measure("bytes", chart.finding, COLUMNS_OVER_TIME, rows, (draw_over_time(chart),))


def _panel(name: str, shown: tuple[Slice, ...], every_ns: int, end_ns: int) -> TimePanel:
    own = [one for one in shown if one.mechanism == name]
    ends = [min(one.from_ns + every_ns, end_ns) for one in own]
    columns = tuple(
        [TimeColumn(one.from_ns, to_ns, (("arrived", one.size_bytes),)) for one, to_ns in zip(own, ends, strict=True)]
    )
    most = max(own, key=lambda one: one.size_bytes)
    words = f"{sum(one.size_bytes for one in own):,} bytes; most in {every_ns / SECOND_NS:g} s: {most.size_bytes:,}"
    return TimePanel(name, words, columns, unit="B")


def _by_size(found: tuple[Flow, ...]) -> list[str]:
    """Return the mechanisms, the one with the most bytes first."""
    totals: dict[str, int] = {}
    for flow in found:
        totals[flow.mechanism] = totals.get(flow.mechanism, 0) + flow.size_bytes
    return sorted(totals, key=lambda name: (-totals[name], name))


def _row(name: str, found: tuple[Flow, ...]) -> FigureRow:
    own = [flow for flow in found if flow.mechanism == name]
    size_bytes, lost_bytes = sum(flow.size_bytes for flow in own), sum(flow.lost_bytes for flow in own)
    messages, lost = sum(flow.messages for flow in own), sum(flow.lost_messages for flow in own)
    parts = (
        BarPart("arrived", size_bytes - lost_bytes, f"{size_bytes:,} bytes in {_count(messages)}"),
        BarPart("lost", lost_bytes, f"{lost_bytes:,} of them lost in {_count(lost)}" if lost else ""),
    )
    return FigureRow("", name, (f"{size_bytes:,}", f"{messages:,}", f"{lost_bytes:,}", f"{lost:,}"), parts)


def _finding(found: tuple[Flow, ...]) -> str:
    if not found:
        return "No message was sent."
    total, first = sum(flow.size_bytes for flow in found), _by_size(found)[0]
    own = sum(flow.size_bytes for flow in found if flow.mechanism == first)
    messages = sum(flow.messages for flow in found)
    return f"{total:,} bytes in {_count(messages)}; most of it, {own * 100 // total} %, is {first}."


def _count(number: int) -> str:
    return f"{number:,} message{'' if number == 1 else 's'}"
