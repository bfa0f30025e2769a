"""Measured tokens: how many of the tokens that were valid before a promotion are valid after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.lab.records.surviving_tokens import TokenSurvival
from labkit.service.durations import SECOND_NS, in_seconds
from labkit.views.charts.bar_chart import draw
from labkit.views.charts.measure import FLAG, REAL, TEXT, WHOLE, Measure, MeasuredColumn
from labkit.views.layout.bar_chart_layout import Bar, BarChart, BarPart

if TYPE_CHECKING:
    from labkit.lab.queries import Queries

COLUMNS = (
    MeasuredColumn("promotion", WHOLE, "the number of the promotion, from 1 on", True),
    MeasuredColumn("at_s", REAL, "when it was, in seconds since the lab was built"),
    MeasuredColumn("survivor", TEXT, "the cluster that took over"),
    MeasuredColumn("old_primary", TEXT, "the cluster that it had followed"),
    MeasuredColumn("planned", FLAG, "whether the old primary had been demoted before"),
    MeasuredColumn("valid_before", WHOLE, "tokens that the old primary's store held then, not expired, with uses left"),
    MeasuredColumn("survived", WHOLE, "those of them that were valid at the survivor"),
    MeasuredColumn("lost", WHOLE, "those of them that were not"),
    MeasuredColumn("valid_again", WHOLE, "tokens valid at the survivor that the old primary had ended already"),
    MeasuredColumn("leases_before", WHOLE, "those valid before that had an end, and so a lease"),
    MeasuredColumn("leases_survived", WHOLE, "those of them that were valid at the survivor"),
)


def measured_tokens(queries: Queries) -> Measure:
    """Measure what became of tokens at each promotion up to now."""
    found = tuple(queries.parts.ledger.tokens)
    rows = tuple([(number, one.at_ns / SECOND_NS, *one[1:]) for number, one in enumerate(found, 1)])
    title = f"Tokens that survived promotions until {in_seconds(queries.now)} s"
    chart = BarChart(title, _finding(found), tuple(map(_bar, found)))
    return Measure("survivors", chart.finding, COLUMNS, rows, (draw(chart),))


def _bar(one: TokenSurvival) -> Bar:
    words = f"{one.survived:,} of {one.valid_before:,} survived"
    parts = (
        BarPart("survived", one.survived, words),
        BarPart("lost", one.lost, f"{one.lost:,} lost" if one.lost else ""),
        BarPart("valid again", one.valid_again, f"{one.valid_again:,} valid again" if one.valid_again else ""),
    )
    how = "planned" if one.planned else "not planned"
    return Bar("", f"{in_seconds(one.at_ns)} s, {how}: {one.survivor}", parts)


def _finding(found: tuple[TokenSurvival, ...]) -> str:
    if not found:
        return "No cluster took over from another."
    last = found[-1]
    words = f"{last.survived:,} of {_tokens(last.valid_before)} valid at {last.old_primary} survived at {last.survivor}"
    again = f"; {_tokens(last.valid_again)} ended before became valid again" if last.valid_again else ""
    leases = f"; {last.leases_survived:,} of {last.leases_before:,} leases did" if last.leases_before else ""
    return f"{words}{leases}{again}."


def _tokens(count: int) -> str:
    return f"{count:,} token{'' if count == 1 else 's'}"
