"""Ledger: what clients were answered: every acknowledged write, and how many operations ended otherwise.

A write is an operation whose commit made a journal entry; ``sys/`` calls and deliberate wipes are not counted.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple


class Write(NamedTuple):
    """One acknowledged write: when, by whom, where it was committed, in which history, and as which entry.

    A cluster's history is a count of its promotions: after each, entry numbers belong to another history.
    """

    at_ns: int
    client: str
    path: str
    cluster: str
    history: int
    entry: int


class Ledger:
    """What clients were answered, kept apart from what servers stored."""

    __slots__ = ("answered", "committed", "refused", "unknown", "writes")

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.writes: list[Write] = [Write(*row) for row in state.get("writes", ())]
        self.committed: dict[Hashable, tuple[str, int, int]] = dict(state.get("committed", {}))
        self.answered, self.refused, self.unknown = state.get("counts", (0, 0, 0))

    def __repr__(self) -> str:
        return f"Ledger({len(self.writes)} writes acknowledged, {self.unknown} unknown)"

    def commit(self, correlation: Hashable, cluster: str, history: int, entry_number: int) -> None:
        """Note that a request wrote, as which journal entry; its answer is not sent yet."""
        self.committed[correlation] = (cluster, history, entry_number)

    def acknowledge(self, at_ns: int, client: str, path: str, correlation: Hashable) -> bool:
        """Note that a client was answered with success; return whether that was a write."""
        self.answered += 1
        commit = self.committed.pop(correlation, None)
        if commit is None or path.startswith("sys/"):
            return False
        self.writes.append(Write(at_ns, client, path, *commit))
        return True

    def note_refused(self) -> None:
        """Note that an operation was refused: it certainly had no effect."""
        self.refused += 1

    def note_unknown(self) -> None:
        """Note that an operation stayed without an answer: it may have happened."""
        self.unknown += 1

    def state(self) -> dict[str, Any]:
        """Return the ledger as plain values."""
        return {
            "writes": tuple(self.writes),
            "committed": dict(self.committed),
            "counts": (self.answered, self.refused, self.unknown),
        }
