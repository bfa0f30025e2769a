"""Measured reads: which readings were stale, as a table and as a chart over time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from labkit.lab.measures.stale_reads import JudgedReads, StaleRead, stale_reads
from labkit.service.durations import SECOND_NS, in_seconds
from labkit.views.charts.measure import REAL, TEXT, WHOLE, Measure, MeasuredColumn
from labkit.views.charts.measured_marks import measured_marks
from labkit.views.charts.time_chart import draw
from labkit.views.layout.time_chart_layout import TimeChart, TimeColumn, TimePanel
from labkit.views.time_axis import round_slice_ns

if TYPE_CHECKING:
    from labkit.lab.queries import Queries

COLUMNS = (
    MeasuredColumn("at_s", REAL, "when it was answered, in seconds since the lab was built", True),
    MeasuredColumn("started_s", REAL, "when it was first sent"),
    MeasuredColumn("client", TEXT, "who read: a client, or an operator's host"),
    MeasuredColumn("cluster", TEXT, "the cluster, or load balancer, that answered"),
    MeasuredColumn("path", TEXT, "the secret that was read"),
    MeasuredColumn("version", WHOLE, "the version that was shown; 0: nothing"),
    MeasuredColumn("newest_version", WHOLE, "the newest version whose write had been acknowledged before; 0: its end"),
    MeasuredColumn("behind_s", REAL, "for how many seconds a newer version than the shown one had been acknowledged"),
)
SLICES = 80


def measured_reads(queries: Queries) -> Measure:
    """Measure which readings were stale up to now."""
    judged = stale_reads(queries.parts.ledger)
    rows = tuple(
        [
            (read.at_ns / SECOND_NS, read.started_ns / SECOND_NS, *read[2:7], read.behind_ns / SECOND_NS)
            for read in judged.stale
        ]
    )
    title = f"Stale reads until {in_seconds(queries.now)} s"
    panels = tuple(_panels(judged, queries.now))
    chart = TimeChart(title, _finding(judged), queries.now, panels, measured_marks(queries))
    return Measure("stale_reads", chart.finding, COLUMNS, rows, (draw(chart),))


def _panels(judged: JudgedReads, now_ns: int) -> Iterable[TimePanel]:
    """Return a panel of how many readings there were, and where any was stale one of how far behind they were."""
    if not judged.times_ns:
        return
    every_ns = round_slice_ns(now_ns, SLICES)
    all_reads, stale = _counted(judged.times_ns, every_ns), _counted([read.at_ns for read in judged.stale], every_ns)
    columns = tuple(
        [
            _column(
                number, every_ns, now_ns, (("stale", stale.get(number, 0)), ("current", count - stale.get(number, 0)))
            )
            for number, count in sorted(all_reads.items())
        ]
    )
    words = f"{len(judged.times_ns):,}, {len(judged.stale):,} of them stale; most in {every_ns / SECOND_NS:g} s: "
    yield TimePanel("reads", f"{words}{max(all_reads.values()):,}", columns)
    if judged.stale:
        yield _behind(judged.stale, every_ns, now_ns)


def _behind(stale: tuple[StaleRead, ...], every_ns: int, now_ns: int) -> TimePanel:
    furthest: dict[int, int] = {}
    for read in stale:
        number = read.at_ns // every_ns
        furthest[number] = max(furthest.get(number, 0), read.behind_ns)
    columns = tuple(
        [
            _column(number, every_ns, now_ns, (("stale", behind_ns / SECOND_NS),))
            for number, behind_ns in sorted(furthest.items())
        ]
    )
    return TimePanel("how far behind", f"up to {in_seconds(max(furthest.values()))} s", columns, unit="s")


def _counted(times_ns: Iterable[int], every_ns: int) -> dict[int, int]:
    counts: dict[int, int] = {}
    for at_ns in times_ns:
        counts[at_ns // every_ns] = counts.get(at_ns // every_ns, 0) + 1
    return counts


def _column(number: int, every_ns: int, now_ns: int, parts: tuple[tuple[str, float], ...]) -> TimeColumn:
    return TimeColumn(number * every_ns, min((number + 1) * every_ns, max(now_ns, number * every_ns)), parts)


def _finding(judged: JudgedReads) -> str:
    count, stale = len(judged.times_ns), len(judged.stale)
    if not count:
        return "No reading of a secret was answered."
    if not stale:
        return f"None of {count:,} reads was stale."
    furthest_s = max(read.behind_ns for read in judged.stale) / SECOND_NS
    verb = "was" if stale == 1 else "were"
    return f"{stale:,} of {count:,} reads {verb} stale, the furthest {furthest_s:.3f} s behind."
