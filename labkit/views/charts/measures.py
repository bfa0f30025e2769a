"""Measures: the front of all that is counted of a lab; each is a data frame and a picture, made when it is asked for.

They come from the trace, the ledger and what is recorded of replication, which a lab that is restored or branched
has as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from labkit.service.arguments import duration_ns, wrong
from labkit.service.durations import format_duration
from labkit.views.charts.measure import Measure
from labkit.views.charts.measured_lag import measured_lag
from labkit.views.charts.measured_reads import measured_reads
from labkit.views.charts.measured_states import measured_states
from labkit.views.charts.measured_tokens import measured_tokens
from labkit.views.charts.measured_traffic import measured_traffic, measured_traffic_over_time

if TYPE_CHECKING:
    from labkit.lab.queries import Queries

MAX_STRETCHES = 100_000


class Measures:
    """What is counted of one lab, up to now."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {finding}" for name, finding in self._findings())

    def bytes(self, every: str | float | None = None) -> Measure:
        """Return how many bytes each mechanism sent, and between whom: streaming, comparison, fetch of keys and so on.

        One row for each mechanism and pair of parties: messages, their bytes with headers, and those that were lost.
        With ``every``, such as ``1s``, one row for each mechanism and stretch of that length, by when they were sent.
        A message counts once its flight has ended.  ValueError in a lab without a trace.
        """
        if every is None:
            return measured_traffic(self._queries)
        return measured_traffic_over_time(self._queries, self._stretch_ns(every))

    def lag(self, every: str | float | None = None) -> Measure:
        """Return how far each secondary was behind over time, in journal entries and in seconds.

        One row for each secondary and stretch of time: the lag at its end, and the most within it.  The stretches are
        ``every`` long, such as ``1s``; by default so that there are about a hundred.
        """
        return measured_lag(self._queries, 0 if every is None else self._stretch_ns(every))

    def stale_reads(self) -> Measure:
        """Return the readings that showed an older version of a secret than one acknowledged before they were sent.

        One row for each: when, who, where, what was shown, and what had been acknowledged by any cluster of the
        replication set, even if it is lost by now.  Older is meant by the order of commits.
        """
        return measured_reads(self._queries)

    def survivors(self) -> Measure:
        """Return how many tokens that were valid at the old primary are valid at the cluster that took over.

        One row for each promotion, judged at that instant by the survivor's clock and keys.  Only tokens have leases.
        Batch tokens are stored nowhere, and not counted.
        """
        return measured_tokens(self._queries)

    def states(self) -> Measure:
        """Return how long each cluster, secondary and node was in each state; all times of one add up to the run.

        Of clusters the mode, of secondaries also the state of sync and connection, of nodes whether they lead,
        stand by, are sealed, down or paused.  ValueError in a lab without a trace.
        """
        return measured_states(self._queries)

    def _stretch_ns(self, every: str | float) -> int:
        every_ns = duration_ns("every", every, seconds=True)
        least_ns = -(-self._queries.now // MAX_STRETCHES)
        if every_ns < max(1, least_ns):
            raise wrong("every", f"a duration of {format_duration(max(1, least_ns))} or more", every)
        return every_ns

    def _findings(self) -> Iterator[tuple[str, str]]:
        """Return the name of each measure with what it found, or why it cannot be made."""
        for make in (self.bytes, self.lag, self.stale_reads, self.survivors, self.states):
            try:
                yield make.__name__, make().finding
            except ValueError as refused:
                yield make.__name__, str(refused)

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><code>lab.measures.{name}()</code>: {escape(finding)}</li>" for name, finding in self._findings()
        )
        return f"<ul>{items}</ul>"
