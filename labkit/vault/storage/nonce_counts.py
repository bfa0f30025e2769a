"""Nonce counts: how many random nonces each key version has had, as this node counts them in memory.

1. A count is part of the node's state.  It is stored with the next write of its key, and by a node that lets another
   lead (seal, step-down).  What was not stored is missing where another node goes on: after a crash, and where another
   cluster was promoted, until this node serves again.
2. After a change of leadership, seal or mode a count is looked up again: what others stored meanwhile is added.
3. A count belongs to key material, which it names by a digest: another key of the same name begins at 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.vault.storage.records import decode_record, encode_record


class NonceCount:
    """How many random nonces one version had, how many of them are stored, and from how many on answers warn.

    It is not ``live`` while it has to be looked up again.
    """

    __slots__ = ("key_digest", "limit", "live", "stored", "used")

    def __init__(self, key_digest: str, used: int = 0, stored: int = 0) -> None:
        self.key_digest, self.used, self.stored, self.limit, self.live = key_digest, used, stored, 0, False

    def __repr__(self) -> str:
        return f"NonceCount({self.used})"

    def go_on(self, stored: int, limit: int) -> None:
        """Count from now on; where more is stored than this node stored, other nodes used the rest, which is added."""
        if stored > self.stored:
            self.used, self.stored = stored + self.used - self.stored, stored
        self.limit, self.live = limit, True


VersionCounts = dict[int, NonceCount]


class NonceCounts:
    """The counts of a node: by the storage key at which those of one keyring are stored, by version."""

    __slots__ = ("_by_key",)

    def __init__(self, state: Mapping[str, Mapping[int, tuple[str, int, int]]] | None = None) -> None:
        self._by_key: dict[str, VersionCounts] = {
            key: {version: NonceCount(*row) for version, row in rows.items()} for key, rows in (state or {}).items()
        }

    def __repr__(self) -> str:
        return f"NonceCounts(of {len(self._by_key)} keys)"

    def known(self, key: str) -> VersionCounts:
        """Return what was counted of a keyring, to be read only."""
        return self._by_key.get(key, {})

    def find(self, key: str, version: int, key_digest: str, stored: bytes | None, limit: int) -> NonceCount:
        """Return the count of a version, looked up again."""
        counts = self._by_key.setdefault(key, {})
        if stored is not None:
            for number, row in decode_record(stored).items():
                counts.setdefault(int(number), NonceCount(row[0], row[1], row[1]))
            digest, used = decode_record(stored).get(str(version), ("", 0))
        else:
            digest, used = "", 0
        count = counts.get(version)
        if count is None or count.key_digest != key_digest:
            count = counts[version] = NonceCount(key_digest)
        count.go_on(used if digest == key_digest else 0, limit)
        return count

    def forget(self, key: str) -> None:
        """Forget what was counted of a keyring."""
        for count in self._by_key.pop(key, {}).values():
            count.live = False

    def look_up_again(self) -> None:
        """Let each count be looked up before it goes on."""
        for counts in self._by_key.values():
            for count in counts.values():
                count.live = False

    def encoded(self, key: str, oldest_version: int = 0) -> bytes | None:
        """Return what was counted of a keyring as it is stored, from a version on; None when nothing was."""
        counts = self._by_key.get(key)
        if not counts:
            return None
        rows = {}
        for version in sorted(counts):
            count = counts[version]
            if version >= oldest_version:
                count.stored = count.used
                rows[str(version)] = (count.key_digest, count.used)
        return encode_record(rows)

    def changed(self) -> list[str]:
        """Return the storage keys of the counts that went on since they were stored."""
        return sorted(key for key, counts in self._by_key.items() if any(map(_is_changed, counts.values())))

    def state(self) -> dict[str, dict[int, tuple[str, int, int]]]:
        """Return what the constructor takes, as plain values (R3)."""
        return {
            key: {version: (count.key_digest, count.used, count.stored) for version, count in counts.items()}
            for key, counts in self._by_key.items()
        }


def _is_changed(count: Any) -> bool:
    return bool(count.used != count.stored)
