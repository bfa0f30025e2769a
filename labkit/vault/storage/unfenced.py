"""The store without fencing: it takes the commits of a leader that was overtaken, to show why others refuse them.

Leadership itself is claimed as usual: only the check of a commit's term is left out.
"""

from __future__ import annotations

from labkit.vault.storage import Leaves, Writes
from labkit.vault.storage.memory import MemoryStorage


class UnfencedStorage(MemoryStorage):
    """A store in memory that judges no commit by its term."""

    __slots__ = ()

    def apply(self, writes: Writes, term: int, leaves: Leaves | None = None) -> None:
        """Carry out all writes, whichever leader they come from."""
        super().apply(writes, max(term, self._term), leaves)

    def belongs_to(self, term: int) -> bool:
        """Whether only the leader of this term writes here: one that was overtaken may, so nobody knows that."""
        return False

    def is_overtaken(self, term: int) -> bool:
        """Whether a newer leader than that of a term claimed the store."""
        return term < self._term
