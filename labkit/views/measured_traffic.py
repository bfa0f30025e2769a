"""Measured traffic: bytes on the wire by mechanism, as a table and as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.lab.measures.traffic import Flow, flows
from labkit.service.durations import SECOND_NS
from labkit.views.bar_chart import draw
from labkit.views.bar_chart_layout import Bar, BarChart, BarPart
from labkit.views.measure import TEXT, WHOLE, Measure, MeasuredColumn, needs_trace

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


def measured_traffic(queries: Queries) -> Measure:
    """Measure the bytes that each mechanism sent up to now."""
    trace = needs_trace(queries.parts.trace, "bytes")
    found = flows(trace, queries.blueprint)
    title = f"Bytes on the wire until {queries.now / SECOND_NS:.3f} s"
    chart = BarChart(title, _finding(found), tuple(_bar(name, found) for name in _by_size(found)))
    return Measure("bytes", chart.finding, COLUMNS, tuple(map(tuple, found)), (draw(chart),))


def _by_size(found: tuple[Flow, ...]) -> list[str]:
    """Return the mechanisms, the one with the most bytes first."""
    totals: dict[str, int] = {}
    for flow in found:
        totals[flow.mechanism] = totals.get(flow.mechanism, 0) + flow.size_bytes
    return sorted(totals, key=lambda name: (-totals[name], name))


def _bar(name: str, found: tuple[Flow, ...]) -> Bar:
    own = [flow for flow in found if flow.mechanism == name]
    size_bytes, lost_bytes = sum(flow.size_bytes for flow in own), sum(flow.lost_bytes for flow in own)
    messages, lost = sum(flow.messages for flow in own), sum(flow.lost_messages for flow in own)
    parts = (
        BarPart("arrived", size_bytes - lost_bytes, f"{size_bytes:,} bytes in {_count(messages)}"),
        BarPart("lost", lost_bytes, f"{lost_bytes:,} of them lost in {_count(lost)}" if lost else ""),
    )
    return Bar("", name, parts)


def _finding(found: tuple[Flow, ...]) -> str:
    if not found:
        return "No message was sent."
    total, first = sum(flow.size_bytes for flow in found), _by_size(found)[0]
    own = sum(flow.size_bytes for flow in found if flow.mechanism == first)
    messages = sum(flow.messages for flow in found)
    return f"{total:,} bytes in {_count(messages)}; most of it, {own * 100 // total} %, is {first}."


def _count(number: int) -> str:
    return f"{number:,} message{'' if number == 1 else 's'}"
