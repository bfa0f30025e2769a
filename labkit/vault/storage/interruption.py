"""Interruption: a commit is cut short, as a process that ends in the middle of it would leave it.

It meets the first commit of two keys or more under a term.  A commit is one transaction: cut short before or between
its keys, the store keeps none of them; cut short after them, all, though nobody is answered.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from labkit.vault.storage import Leaves, Writes

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
    """The process of a node ended inside a commit; ``kept`` is what the store has of it.

    ``writes`` is all that it was to write, ``before`` what the store had under these keys.
    """

    def __init__(self, node: str, kept: Writes, writes: Writes, before: Writes) -> None:
        super().__init__(f"{node} ended inside a commit")
        self.node, self.kept, self.writes, self.before = node, kept, writes, before


class Interruptible(Protocol):
    """What an interruption needs of a store."""

    def apply(self, writes: Writes, term: int, leaves: Leaves | None = None) -> None:
        """Carry out all writes at once."""

    def interrupt(self, interruption: CommitInterruption) -> None:
        """Cut a commit short that comes later."""

    def state(self) -> dict[str, Any]:
        """Return what it holds."""

    def put_back(self, state: dict[str, Any]) -> None:
        """Hold that again."""


def apply_interrupted(
    store: Interruptible, interruption: CommitInterruption, writes: Writes, term: int, leaves: Leaves | None
) -> None:
    """Carry writes out, or as far as they come before the process ends; only a whole commit is kept."""
    if term != interruption.term or len(writes) < 2:
        store.apply(writes, term, leaves)
        if term == interruption.term:
            store.interrupt(interruption)
        return
    before, count = store.state(), interruption.keys_written(len(writes))
    store.apply(dict(list(writes.items())[:count]), term, leaves)
    kept = writes
    if count < len(writes):
        store.put_back(before)
        kept = {}
    had = {key: before["items"].get(key) for key in writes}
    raise CommitInterruptedError(interruption.node, kept, writes, had)
