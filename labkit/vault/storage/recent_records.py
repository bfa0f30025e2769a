"""Recent records: the decoded records of one folder, no more than a number of them, and how often they served."""

from __future__ import annotations

from typing import Any

from labkit.vault.storage.storage_view import CachedRecords


class RecentRecords(CachedRecords):
    """Keeps decoded records of a folder, at most ``size`` (0: all): the least recently used one makes room.

    ``others`` keeps what is not in the folder, and is not counted.
    """

    __slots__ = ("evictions", "folder", "lookups", "misses", "others", "size")

    def __init__(self, folder: str, size: int, others: CachedRecords) -> None:
        super().__init__()
        self.folder, self.size, self.others = folder, size, others
        self.lookups = self.misses = self.evictions = 0

    def get(self, key: str, default: Any = None, /) -> Any:
        """Return what is kept of a key, which is the most recently used one then."""
        if not key.startswith(self.folder):
            return self.others.get(key, default)
        self.lookups += 1
        found = self.pop(key, None)
        if found is None:
            return default
        self[key] = found  # behind all others: a dict goes in the order in which keys came
        return found

    def keep(self, key: str, stored: bytes, record: Any) -> None:
        """Keep what a key's stored bytes mean; where it is full, the least recently used key goes."""
        if not key.startswith(self.folder):
            self.others.keep(key, stored, record)
            return
        self.misses += 1
        self.pop(key, None)
        if self.size and len(self) >= self.size:
            del self[next(iter(self))]
            self.evictions += 1
        super().keep(key, stored, record)
