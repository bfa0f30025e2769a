"""Unindexed writes: a step's way into the store while no journal is on (D19).

The first change of a key of a tree takes the mark away by which the stored nodes of the index are believed: what
switches a journal on later builds the index from the contents.
"""

from __future__ import annotations

from labkit.vault.replication import OUTSIDE
from labkit.vault.storage import Storage, Writes

MARK = "node/index/mark"
"""Where the store says at which entry the stored nodes stand."""


class UnindexedWrites:
    """The writes to one store while no journal is on.

    ``unmarked``: whether it is known that no mark is stored; to be set False where a journal was on meanwhile, or
    another node may have led.
    """

    __slots__ = ("_storage", "unmarked")

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.unmarked = False

    def __repr__(self) -> str:
        return f"UnindexedWrites({'no mark is stored' if self.unmarked else 'a mark may be stored'})"

    def apply(self, writes: Writes, term: int) -> None:
        """Write one step in one transaction; StaleTerm, or any other error of the store, changes nothing."""
        if not self.unmarked and not all(key.startswith(OUTSIDE) for key in writes):
            if self._storage.get(MARK) is not None:
                writes = {**writes, MARK: None}
            self._storage.apply(writes, term)
            self.unmarked = True
        else:
            self._storage.apply(writes, term)
