"""Interruption: the plan to cut a commit short, and the error of the process that ended; a store carries it out.

It meets the first commit of two keys or more under a term.  A commit is one transaction: cut short before or between
its keys, the store keeps none of them; cut short after them, all, though nobody is answered.
"""

from __future__ import annotations

from typing import NamedTuple

from labkit.vault.storage import Writes

BEFORE, BETWEEN, AFTER = "before", "between", "after"
MOMENTS = (BEFORE, BETWEEN, AFTER)


class CommitInterruption(NamedTuple):
    """A commit that is to be cut short: of which node, under which term, and at which moment of it."""

    node: str
    term: int
    moment: str

    def keys_written(self, count: int) -> int:
        """Return after how many of a commit's keys it is cut short."""
        return {BEFORE: 0, BETWEEN: count // 2, AFTER: count}[self.moment]


class CommitInterruptedError(RuntimeError):
    """The process of a node ended inside a commit; ``kept`` is what the store has of it."""

    def __init__(self, node: str, kept: Writes) -> None:
        super().__init__(f"{node} ended inside a commit")
        self.node, self.kept = node, kept
