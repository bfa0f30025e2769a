"""Outcome counts: how the operations of each group of clients ended, how long they took, and how logins ended.

1. They are counted as they end, with the trace on or off; a client is called as its group, with its number.
2. How long is from the beginning of an operation to its answer, all attempts included: the longest is kept.
3. A login is an operation at ``auth/cloud/login``, or at that of another mount, of a client or of an operator.
"""

from __future__ import annotations

import re
from typing import Any

from labkit.lab.wire.reports import ANSWERED, REFUSED, UNKNOWN, OperationEnded

ACKNOWLEDGED = "acknowledged"
COUNTED = (ANSWERED, ACKNOWLEDGED, REFUSED, UNKNOWN)

LOGIN = re.compile(r"auth/[^/?]+/login(?:/[^/?]+)?/?(?:\?.*)?")


class GroupCounts:
    """How the operations of one group ended: ``counts`` by outcome, and the longest time that an answer took."""

    __slots__ = ("counts", "longest_ns")

    def __init__(self, counts: dict[str, int] | None = None, longest_ns: int = 0) -> None:
        self.counts = {**dict.fromkeys(COUNTED, 0), **(counts or {})}
        self.longest_ns = longest_ns

    def __repr__(self) -> str:
        return f"GroupCounts({self.counts[ANSWERED]} answered)"


class OutcomeCounts:
    """The counts of all groups of clients, and of logins."""

    __slots__ = ("groups", "logins")

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.groups = {name: GroupCounts(*row) for name, row in state.get("groups", ())}
        self.logins: dict[str, int] = {**dict.fromkeys((ANSWERED, REFUSED, UNKNOWN), 0), **state.get("logins", {})}

    def __repr__(self) -> str:
        return f"OutcomeCounts({len(self.groups)} groups, {sum(self.logins.values())} logins)"

    def of(self, group: str) -> GroupCounts:
        """Return the counts of a group; of one that has done nothing yet, none."""
        return self.groups.get(group) or GroupCounts()

    def end(self, path: str, outcome: str) -> None:
        """Count an operation of whomever, where it is a login."""
        if "login" in path and LOGIN.fullmatch(path):
            self.logins[outcome] += 1

    def end_of_client(self, report: OperationEnded, *, acknowledged: bool) -> None:
        """Count an operation of a client; ``acknowledged``: it was a write, and answered."""
        group = report.client.rpartition("-")[0]
        counts = self.groups.get(group)
        if counts is None:
            counts = self.groups[group] = GroupCounts()
        counts.counts[report.outcome] += 1
        counts.counts[ACKNOWLEDGED] += acknowledged
        if report.outcome == ANSWERED:
            counts.longest_ns = max(counts.longest_ns, report.at_ns - report.started_ns)

    def state(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        groups = [(name, (dict(row.counts), row.longest_ns)) for name, row in self.groups.items()]
        return {"groups": tuple(groups), "logins": dict(self.logins)}
