"""Clusters apart: what two clusters hold that is not the same, by mounts, as bars and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.lab.differences import Difference, Differences
from labkit.views.charts.bar_chart import draw
from labkit.views.charts.measure import TEXT, Measure, MeasuredColumn
from labkit.views.layout.bar_chart_layout import Bar, BarChart, BarPart

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pandas import DataFrame

STORE = "the store"


class ClustersApart(Differences):
    """Differences of two clusters that can be shown: ``measure`` has their picture and table."""

    measure: Measure

    def to_frame(self) -> DataFrame:
        """Return the rows: name, mount, and the leaf digests in both; empty for none."""
        return self.measure.to_frame()

    def save(self, path: str | Path) -> None:
        """Write it to a file: ``.svg``, ``.png`` (needs the extra ``png``), ``.html`` with its table, or ``.json``."""
        self.measure.save(path)

    def _repr_html_(self) -> str:
        return self.measure._repr_html_()


def of(found: Differences, first: str, second: str) -> ClustersApart:
    """Return differences that can be shown, as bars: by mounts, what only one of the two has, and what differs."""
    apart = ClustersApart(found)
    title = f"What {first} and {second} hold that is not the same"
    chart = BarChart(title, _finding(found), tuple(_bars(found, first, second)))
    columns = (
        MeasuredColumn("name", TEXT, "the name in its mount, or in the store", True),
        MeasuredColumn("mount", TEXT, "the mount; empty for the store itself"),
        MeasuredColumn(first, TEXT, f"the leaf digest in {first}; empty for none"),
        MeasuredColumn(second, TEXT, f"the leaf digest in {second}; empty for none"),
    )
    apart.measure = Measure("diff", chart.finding, columns, tuple([tuple(row) for row in found]), (draw(chart),))
    return apart


def _bars(found: Differences, first: str, second: str) -> Iterable[Bar]:
    for mount in sorted({row.mount for row in found}):
        rows = [row for row in found if row.mount == mount]
        counts = (
            ("only in the first", f"only in {first}", sum(not row.second for row in rows)),
            ("only in the second", f"only in {second}", sum(not row.first for row in rows)),
            ("not the same", "in both, not the same", sum(_in_both(row) for row in rows)),
        )
        parts = [BarPart(what, count, f"{count} {words}") for what, words, count in counts if count]
        yield Bar("", mount or STORE, tuple(parts))


def _in_both(row: Difference) -> bool:
    return bool(row.first) and bool(row.second)


def _finding(found: Differences) -> str:
    if not found:
        return "Both hold the same."
    return f"{len(found)} {'name is' if len(found) == 1 else 'names are'} not the same in both."
