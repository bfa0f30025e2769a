"""The store on SQLite: what was acknowledged survives a killed process.

One table of keys and ciphertexts in write-ahead mode; a step is one SQL transaction.  Values that were read or written
lately are cached, so that ``get`` returns the same object until the key is written again (rule 3 of storage).
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from labkit.vault.storage import Names, Writes
from labkit.vault.storage.fencing import check_term

if TYPE_CHECKING:
    from pathlib import Path

MAX_CACHED_VALUES = 65_536

SCHEMA = """
    CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
"""


class SqliteStorage:
    """Keys and ciphertexts in one SQLite file, opened by one process at a time."""

    __slots__ = ("_cached", "_connection")

    kind = "sqlite"

    def __init__(self, path: str | Path) -> None:
        # a server calls from a thread of its own, one call at a time: it holds the Vault's lock
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.executescript(SCHEMA)
        self._cached: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, or None."""
        cached = self._cached.get(key)
        if cached is not None:
            return cached
        row = self._connection.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        value: bytes = row[0]
        self._keep(key, value)
        return value

    def list(self, prefix: str) -> Names:
        """Return the names directly under a prefix, sorted; folders end in ``/``; one seek per name."""
        names = []
        seek = "SELECT key FROM entries WHERE key >= ? AND key < ? ORDER BY key LIMIT 1"
        start, end = prefix, _after(prefix)
        while (row := self._connection.execute(seek, (start, end)).fetchone()) is not None:
            rest = row[0][len(prefix) :]
            cut = rest.find("/") + 1
            names.append(rest[:cut] if cut else rest)
            start = _after(prefix + rest[:cut]) if cut else row[0] + "\x00"
        return sorted(names)

    def keys(self) -> Names:
        """Return all keys, sorted."""
        return sorted(row[0] for row in self._connection.execute("SELECT key FROM entries"))

    def claim(self, term: int) -> None:
        """Make a leadership term the newest one."""
        self._check_term(term)
        self.set_fact("term", str(term).encode())

    def apply(self, writes: Writes, term: int) -> None:
        """Carry out all writes in one SQL transaction; None deletes."""
        self._check_term(term)
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            for key, value in writes.items():
                if value is None:
                    connection.execute("DELETE FROM entries WHERE key = ?", (key,))
                else:
                    connection.execute("INSERT OR REPLACE INTO entries VALUES (?, ?)", (key, value))
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
        for key, value in writes.items():
            if value is None:
                self._cached.pop(key, None)
            else:
                self._keep(key, value)

    def fact(self, name: str) -> bytes | None:
        """Return something about the store itself; it is not an entry."""
        row = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    def set_fact(self, name: str, value: bytes) -> None:
        """Store something about the store itself."""
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _check_term(self, term: int) -> None:
        check_term(term, int(self.fact("term") or b"0"))

    def _keep(self, key: str, value: bytes) -> None:
        if len(self._cached) >= MAX_CACHED_VALUES:
            self._cached.clear()
        self._cached[key] = value


def _after(prefix: str) -> str:
    """Return the first text that sorts after everything with a prefix."""
    return prefix + "\U0010ffff" if not prefix else prefix[:-1] + chr(ord(prefix[-1]) + 1)
