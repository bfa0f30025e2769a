"""Measured marks: the faults, new roles and broken rules that stand as marks in every chart over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.views.contents.timeline_contents import Records, marks_of
from labkit.views.layout.timeline_layout import label_of

if TYPE_CHECKING:
    from labkit.lab.queries import Queries

SHOWN = ("fault", "undoing", "role", "rule")


def measured_marks(queries: Queries) -> tuple[tuple[int, str], ...]:
    """Return when what happened that a reader of a chart should know, in order; nothing in a lab without a trace."""
    parts = queries.parts
    clusters = {plan.name: plan.node_names for plan in queries.blueprint.clusters}
    marks = sorted(marks_of(Records(parts.trace, parts.ledger, clusters, queries.lags)))
    return tuple([(mark.at_ns, label_of(mark)) for mark in marks if mark.what in SHOWN])
