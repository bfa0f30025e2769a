"""Caches: what a node keeps in memory of what it read and decided; any of it may be dropped at any time (R3).

1. A decoded record is valid while the stored bytes that it came from are the same object (R22).
2. Access lists, callers and clearances are valid while the store counts no write that may decide about requests;
   access lists also after one, and routes, while the stored bytes that they came from are the same objects (R21).
3. What is deleted leaves memory with the step that deletes it; sealing drops everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.vault.storage.storage_view import CachedRecords

Clearance = tuple[Any, Any, int, str, bool, bool]
"""What a request is given: its route, its caller, when the token expires (0: never), what policies put in front of the
path, whether they permit it whatever it sends, and whether there is neither an audit device nor a managed key."""


class Clearances(dict[tuple[str, str, str], Clearance]):
    """A node's clearances, by method, path and token, and what they were given under."""

    __slots__ = ("deciding_writes", "keyring", "leadership")

    def __init__(self) -> None:
        self.deciding_writes = -1
        self.leadership: Any = None
        self.keyring: Any = None

    def __repr__(self) -> str:
        return f"Clearances({len(self)})"  # never the tokens


class Routes(dict[Any, Any]):
    """A node's routes, by what was asked for, each with the stored mount tables that it was found in (request_route).

    ``tables``: those tables, by where they are stored; there is one of each.
    """

    __slots__ = ("tables",)

    def __init__(self) -> None:
        self.tables: dict[str, bytes | None] = {}

    def clear(self) -> None:
        """Drop all of them, and the tables."""
        super().clear()
        self.tables.clear()


class Caches:
    """Records and decisions, valid while what they came from is the same; live generators."""

    __slots__ = (
        "access_lists",
        "apart",
        "by_mount",
        "callers",
        "clearances",
        "followed_keyring",
        "generators",
        "keyring_as_of",
        "leases",
        "records",
        "routes",
        "tokens",
    )

    def __init__(self) -> None:
        self.records = CachedRecords()
        self.by_mount: dict[str, tuple[str, CachedRecords]] = {}  # {uuid: prefix, where its records are (mount_caches)}
        self.apart: dict[str, tuple[str, CachedRecords]] = {}  # those of them that are not among all others
        self.routes = Routes()
        self.access_lists: dict[tuple[str, ...], Any] = {}
        self.callers: dict[str, tuple[int, Any]] = {}  # {hash of a token: count of deciding writes, caller}
        self.clearances = Clearances()
        self.generators: dict[int, Any] = {}
        self.leases: Any = None  # the index of leases, once something asked for it
        self.tokens: Any = None  # that of tokens by accessor and parent, likewise
        self.followed_keyring: bytes | None = None  # the stored keyring that the one in use was found to follow
        self.keyring_as_of = -1  # the store's count of deciding writes at which the keyring in use was the stored one

    def drop_deleted(self, writes: Mapping[str, bytes | None]) -> None:
        """Drop the decoded records of what a step deleted: nobody asks for them again."""
        common = self.records
        for key, value in writes.items():
            if value is None:
                common.pop(key, None)
                if self.apart:
                    for prefix, records in self.apart.values():
                        if key.startswith(prefix):
                            records.pop(key, None)

    def clear(self) -> None:
        """Drop every decoded record, memo, index and live generator."""
        self.leases, self.tokens, self.followed_keyring, self.keyring_as_of = None, None, None, -1
        for cache in (self.records, self.by_mount, self.apart, self.routes, self.access_lists, self.callers):
            cache.clear()
        self.clearances.clear()
        self.generators.clear()
