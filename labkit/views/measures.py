"""Measures: the front of all that is counted of a lab; each is a data frame and a picture, made when it is asked for.

They come from the trace, the ledger and what is recorded of replication, which a lab that is restored or branched
has as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from labkit.views.measure import Measure
from labkit.views.measured_states import measured_states
from labkit.views.measured_traffic import measured_traffic

if TYPE_CHECKING:
    from labkit.lab.queries import Queries


class Measures:
    """What is counted of one lab, up to now."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {finding}" for name, finding in self._findings())

    def bytes(self) -> Measure:
        """Return how many bytes each mechanism sent, and between whom: streaming, comparison, fetch of keys and so on.

        One row for each mechanism and pair of parties: messages, their bytes with headers, and those that were lost.
        A message counts once its flight has ended.  ValueError in a lab without a trace.
        """
        return measured_traffic(self._queries)

    def states(self) -> Measure:
        """Return how long each cluster, secondary and node was in each state; all times of one add up to the run.

        Of clusters the mode, of secondaries also the state of sync and connection, of nodes whether they lead,
        stand by, are sealed, down or paused.  ValueError in a lab without a trace.
        """
        return measured_states(self._queries)

    def _findings(self) -> Iterator[tuple[str, str]]:
        """Return the name of each measure with what it found, or why it cannot be made."""
        for make in (self.bytes, self.states):
            try:
                yield make.__name__, make().finding
            except ValueError as refused:
                yield make.__name__, str(refused)

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><code>lab.measures.{name}()</code>: {escape(finding)}</li>" for name, finding in self._findings()
        )
        return f"<ul>{items}</ul>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}
