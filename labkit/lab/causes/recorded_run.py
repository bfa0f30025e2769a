"""Recorded run: a lab's trace by row number, with what a search for causes looks up in it; it changes nothing.

1. The clock handles one item at a time: what a row follows at its own instant, back to a message that arrived or a
   fault, belongs to that item.  What follows neither is the work of a timer, or of a request that had waited; to a
   fault that changes nothing belongs nothing.
2. Rows stand in the order of their instants, so an instant is found by halving.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import chain
from typing import Any

from labkit.lab.causes.fault_history import NO_CHANGE, FaultHistory
from labkit.lab.causes.waiting_messages import QUEUED, taken_messages
from labkit.lab.queries import Queries
from labkit.lab.records.loss_and_outage import RecoveryLedger
from labkit.sim.network import Message
from labkit.trace import EVENTS, SECOND_NS, VIEWS, Trace

MAX_FETCH_NS = 15 * SECOND_NS  # longer than any fetch waits
AT = {kind: fields.index("at_ns") + 1 for kind, fields in EVENTS.items()}


class RecordedRun:
    """What a lab's trace and ledger say, by row number."""

    def __init__(self, trace: Trace, ledger: RecoveryLedger, queries: Queries) -> None:
        self.rows: list[tuple[Any, ...]] = list(chain.from_iterable(trace.state()[1]))
        self.ledger, self.queries = ledger, queries
        blueprint = queries.blueprint
        self.facts = [number for number, row in enumerate(self.rows) if row[0] != "message"]
        faults = [(number, self.rows[number]) for number in self.facts if self.rows[number][0] == "fault"]
        self.faults = FaultHistory(faults, queries.parts.network.topology)
        self.operators = {plan.operator_host: plan.name for plan in blueprint.clusters}
        self.nodes = {node: plan.name for plan in blueprint.clusters for node in plan.node_names}
        self.balancers = {plan.name: plan for plan in blueprint.balancers}
        processes = queries.parts.processes
        self._service_ns = {node: processes[node].service_ns for node in self.nodes}
        self._taken_messages: dict[str, dict[int, list[int]]] | None = None
        self.clients = {name: group for group in blueprint.clients for name in group.names}

    def at_ns(self, number: int) -> int:
        """The instant of a row."""
        return _instant(self.rows[number])

    def event(self, number: int) -> Any:
        """A row as the trace gives it."""
        row = self.rows[number]
        return VIEWS[row[0]]._make(row)

    def between(self, start_ns: int, end_ns: int) -> range:
        """The rows from one instant to another, both included."""
        first = bisect_left(self.rows, start_ns, key=_instant)
        return range(first, bisect_right(self.rows, end_ns, first, key=_instant))

    def site_of(self, host: str) -> str:
        """The site of a host, an operator's too."""
        return self.queries.parts.network.site_of(host)

    def cluster_of(self, host: str) -> str:
        """The cluster of a node or of an operator's host; empty for any other."""
        return self.nodes.get(host) or self.operators.get(host, "")

    def nodes_of(self, cluster: str) -> tuple[str, ...]:
        """The names of a cluster's nodes."""
        return self.queries.blueprint.cluster(cluster).node_names

    def facts_before(self, number: int) -> Iterator[int]:
        """The rows before one that are not messages, the last first."""
        for place in range(bisect_left(self.facts, number) - 1, -1, -1):
            yield self.facts[place]

    def last(self, kind: str, before: int, **fields: Any) -> int | None:
        """The last row of a kind before another, each named field equal to a value or among those of a tuple."""
        names = EVENTS[kind]
        tests = [(names.index(name) + 1, value) for name, value in fields.items()]
        for number in self.facts_before(before):
            row = self.rows[number]
            if row[0] == kind and all(
                row[place] in value if isinstance(value, tuple) else row[place] == value for place, value in tests
            ):
                return number
        return None

    def trigger(self, number: int, hosts: tuple[str, ...]) -> int | None:
        """The message to one of the hosts, or the fault, that a row belongs to; None when that was a timer."""
        at_ns = self.at_ns(number)
        for before in range(number - 1, -1, -1):
            row = self.rows[before]
            if self.at_ns(before) != at_ns:
                break
            if row[0] == "fault" and row[4].endswith(NO_CHANGE):
                break
            if row[0] == "fault":
                return before
            if (
                row[0] == "message" and not self._is_queued(row) and not (row[1] == at_ns and row[7] == "lost")
            ):  # lost at once: not an item of its own
                return before if row[7] == "delivered" and row[4] in hosts else None
        taken = [row for host in hosts for row in self._taken.get(host, {}).get(at_ns, ()) if row < number]
        return taken[-1] if taken else None

    @property
    def _taken(self) -> dict[str, dict[int, list[int]]]:
        """What each node took that had waited; nothing where no message of this run could wait."""
        if self._taken_messages is None:
            waited = any(self._service_ns.values()) or any(self.rows[row][2:3] == ("pause",) for row in self.facts)
            self._taken_messages = taken_messages(self.rows, self._service_ns, self.queries.now) if waited else {}
        return self._taken_messages

    def _is_queued(self, row: tuple[Any, ...]) -> bool:
        """Whether a message that arrived waits until its receiver has worked on those before it."""
        return row[5] in QUEUED and self._service_ns.get(row[4], 0) > 0

    def taken_ns(self, number: int) -> int | None:
        """When the receiver of a row's message took it: as it arrived, or after it had waited; None while it waits."""
        row = self.rows[number]
        taken = self._taken.get(row[4], {})
        arrived_ns: int | None = None if self._is_queued(row) else row[2]
        return next((at_ns for at_ns, rows in taken.items() if number in rows), arrived_ns)

    def waits(self, number: int, until_ns: int) -> bool:
        """Whether what arrived by a row still waits at an instant, as its receiver works on others."""
        taken_ns = self.taken_ns(number)
        return self._is_queued(self.rows[number]) and (taken_ns is None or taken_ns > until_ns)

    def sent_for(self, number: int) -> int | None:
        """The message whose arrival made its receiver send the message of this row; None when that was a timer."""
        _, sent_ns, _, source, target, what, *_ = self.rows[number]
        rows = [
            before
            for before in self.between(sent_ns, sent_ns)
            if before < number
            and self.rows[before][0] == "message"
            and (self.rows[before][4], self.rows[before][7]) == (source, "delivered")
            and not self._is_queued(self.rows[before])
        ]
        taken = [row for row in self._taken.get(source, {}).get(sent_ns, ()) if row < number]
        several = taken or (rows if what == "response" else [])  # of what it takes at once, the asker's is answered
        found = [row for row in several if self.rows[row][3] == target] or taken or rows
        if what == "response" and len(found) > 1:  # answers are sent in the order of their requests
            return found[min(self._answers_before(number), len(found) - 1)]
        return found[-1] if found else None

    def _answers_before(self, number: int) -> int:
        """How many answers a host sent at the same instant to the same asker before that of a row."""
        _, sent_ns, at_ns, source, target, what, *_ = self.rows[number]
        rows = range(self.between(sent_ns, at_ns).start, number)
        return sum(self.rows[row][1] == sent_ns for row in self.messages(rows, source=source, target=target, what=what))

    def earlier_try(self, number: int) -> int | None:
        """The fetch that a node made, without an answer, before it tried the next address; None without one."""
        _, sent_ns, _, source, _, what, *_ = self.rows[number]
        rows = self.between(sent_ns - MAX_FETCH_NS, sent_ns)
        tries = [row for row in self.messages(rows, source=source, what=what) if self.rows[row][1] < sent_ns]
        return max(tries, key=lambda row: self.rows[row][1], default=None)

    def messages(self, rows: range, **fields: Any) -> Iterator[int]:
        """The messages among rows with these fields."""
        names = EVENTS["message"]
        tests = [(names.index(name) + 1, value) for name, value in fields.items()]
        for number in rows:
            row = self.rows[number]
            if row[0] == "message" and all(row[place] == value for place, value in tests):
                yield number

    def under_way(self, source: str, what: str, sent_ns: int) -> Message | None:
        """The message that a host sent at an instant and that has not arrived up to now; None without one."""
        try:
            pending = self.queries.parts.clock.pending()
        except RuntimeError:  # a bug closed the clock; the trace can be read all the same
            return None
        for _, (verb, _, message) in pending:
            if verb == "deliver" and (message.source, message.what, message.sent_ns) == (source, what, sent_ns):
                found: Message = message
                return found
        return None

    def step_at(self, number: int) -> int | None:
        """The step of a scenario that was in progress at a row: where it began; None without one."""
        ended: set[int] = set()
        for before in self.facts_before(number):
            row = self.rows[before]
            if row[0] == "step" and row[4] == "begins":
                if row[2] not in ended:
                    return before
            elif row[0] == "step":
                ended.add(row[2])
        return None


def _instant(row: tuple[Any, ...]) -> int:
    at_ns: int = row[AT[row[0]]]
    return at_ns
