"""The store on SQLite: what was acknowledged survives a killed process.

1. The file belongs to one store, from its opening until it is closed or its process ends: another that opens it is
   refused (C18).  So what is cached is what is stored, until this store writes the key again.
2. A table of keys and ciphertexts, and one of leaf digests, in write-ahead mode; a step is one SQL transaction.  One
   that fails is rolled back, and neither cache nor term changes.
3. It goes on for the process that opened it only, and while the file is the one that was opened: what is written to a
   file that was replaced or deleted would be acknowledged and lost.  A forked child has nothing of what is cached.
4. An error of SQLite leaves this module as a StoreError that names the file.
5. A file that was closed says what keys it has.  One that has others when it is opened is damaged: a value that was
   altered is noticed when it is read, one whose key was altered would be missing without a word.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import ref

from labkit.vault.identifiers import sha256
from labkit.vault.storage import UNDECIDING, Leaves, Names, StoreError, Writes, check_term
from labkit.vault.storage.sqlite_problems import ERRORS, FOREIGN, FORKED, PROBLEMS, REPLACED, problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAX_CACHED_VALUES = 65_536
MAX_ABSENT = 4_096
LOCK_TIMEOUT_S = 0.1  # of openers at the same instant one gets the file, the others wait so long for it

IN_MEMORY = ":memory:"
FORMAT = b"1"
"""The fact ``format`` of an open file; in one that was closed a digest of its keys follows (rule 5)."""

TABLES = {
    "entries": "CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    "facts": "CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    "leaves": "CREATE TABLE leaves (key TEXT PRIMARY KEY, digest BLOB NOT NULL) WITHOUT ROWID",
}
BETWEEN = "SELECT key, value FROM entries WHERE key >= ? AND key < ? ORDER BY key"
KEYS_BETWEEN = "SELECT key FROM entries WHERE key >= ? AND key < ? ORDER BY key"
KEYS_FROM = "SELECT key FROM entries WHERE length(value) >= ?"
LATER = ("leaves",)
"""Tables that files from before have not; they are added."""


class SqliteStorage:
    """Keys and ciphertexts in one SQLite file."""

    __slots__ = (
        "__weakref__",
        "_absent",
        "_cached",
        "_cached_leaves",
        "_connection",
        "_identity",
        "_opened",
        "_path",
        "_process",
        "_real_path",
        "_term",
        "deciding_writes",
    )

    kind = "sqlite"
    flush_entries = 4_096

    def __init__(self, path: str | Path) -> None:
        self._path = str(path)
        self._cached: dict[str, bytes] = {}
        self._absent: set[str] = set()  # keys that have no value: a write of a new key asks for it several times
        self._cached_leaves: dict[str, bytes | None] = {}
        self.deciding_writes = 0
        self._real_path = self._path if self._path == IN_MEMORY else os.path.realpath(self._path)
        self._process, self._opened = os.getpid(), False
        self._connection = _connect(self._path)
        self._identity = _identity(self._real_path)
        _follow_forks(self)
        try:
            self._open()
            self._term = self._stored_term()
            self._opened = True
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"SqliteStorage({self._path})"

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, or None."""
        cached = self._cached.get(key)
        if cached is not None:
            return cached
        if key in self._absent:
            return None
        row = self._row("SELECT value FROM entries WHERE key = ?", (key,))
        if row is None:
            if len(self._absent) >= MAX_ABSENT:
                self._absent.clear()
            self._absent.add(key)
            return None
        value: bytes = row[0]
        if type(value) is not bytes:
            raise self.damaged()
        self._keep(key, value)
        return value

    def list(self, prefix: str) -> Names:
        """Return the names directly under a prefix, sorted; folders end in ``/``; one query, one more per folder."""
        self._refuse_forked()
        names, start = Names(), prefix
        try:
            while True:
                for (key,) in self._connection.execute(KEYS_BETWEEN, (start, _after(prefix))):
                    cut = key.find("/", len(prefix)) + 1
                    names.append(key[len(prefix) : cut or None])
                    if cut:  # what is inside is passed over
                        start = _after(key[:cut])
                        break
                else:
                    return sorted(names)
        except ERRORS as error:
            raise problem(self._path, error) from None

    def keys(self, least_bytes: int = 0) -> Names:
        """Return all keys, or those of values of so many bytes and more, sorted."""
        try:
            return sorted(row[0] for row in self._connection.execute(KEYS_FROM, (least_bytes,)))
        except ERRORS as error:
            raise problem(self._path, error) from None

    def values_below(self, prefix: str) -> Mapping[str, bytes]:
        """Return the values of a folder without sub-folders by key, sorted, in one query; none of them is kept."""
        self._refuse_forked()
        try:
            found = dict(self._connection.execute(BETWEEN, (prefix, _after(prefix))))
        except ERRORS as error:
            raise problem(self._path, error) from None
        if not {*map(type, found.values())} <= {bytes}:
            raise self.damaged()
        return found

    def leaf(self, key: str) -> bytes | None:
        """Return the kept leaf digest of a key, or None."""
        cached = self._cached_leaves
        if key not in cached:
            row = self._row("SELECT digest FROM leaves WHERE key = ?", (key,))
            if row is not None and type(row[0]) is not bytes:
                raise self.damaged()
            if len(cached) >= MAX_CACHED_VALUES:
                cached.clear()
            cached[key] = None if row is None else row[0]
        return cached[key]

    def leaves(self) -> Mapping[str, bytes]:
        """Return all kept leaf digests by key, in any order, to be read and not changed."""
        self._refuse_forked()
        try:
            return dict(self._connection.execute("SELECT key, digest FROM leaves"))
        except ERRORS as error:
            raise problem(self._path, error) from None

    def belongs_to(self, term: int) -> bool:
        """Whether only the leader of this term writes here: no newer one claimed the store."""
        return term >= self._term

    def claim(self, term: int) -> None:
        """Make a leadership term the newest one."""
        check_term(term, self._term)
        self._transact({}, {"term": str(term).encode()})
        self._term = term

    def apply(self, writes: Writes, term: int, leaves: Leaves | None = None) -> None:
        """Carry out all writes, and keep leaf digests, in one SQL transaction; None deletes."""
        check_term(term, self._term)
        self._transact(writes, {}, leaves)

    def set_up(self, writes: Writes, facts: Mapping[str, bytes]) -> None:
        """Carry out the first writes, and store facts about the store itself, in one SQL transaction."""
        self._transact(writes, facts)

    def fact(self, name: str) -> bytes | None:
        """Return something about the store itself; it is not an entry."""
        row = self._row("SELECT value FROM facts WHERE name = ?", (name,))
        if row is not None and type(row[0]) is not bytes:
            raise self.damaged()
        return None if row is None else row[0]

    def damaged(self) -> StoreError:
        """Return the error for a file whose contents cannot be what this store wrote."""
        return StoreError(f"{self._path} {PROBLEMS[sqlite3.SQLITE_CORRUPT]}")

    def forked(self) -> StoreError:
        """Return the error for a child process of the one that opened the file."""
        return StoreError(f"{self._path} {FORKED}")

    def close(self) -> None:
        """Close the file: it may be opened again.  In a child process it stays open: it is the parent's."""
        if os.getpid() == self._process:
            with suppress(StoreError, *ERRORS):  # one that cannot be written is opened without this check
                if self._opened and _identity(self._real_path) == self._identity:
                    self._transact({}, {"format": FORMAT + self._digest_of_keys()})
            self._connection.close()

    def _open(self) -> None:
        """Take the file for this store alone, make its tables when it is new, and check it when it is not."""
        execute = self._connection.execute
        try:
            execute("BEGIN EXCLUSIVE")
            self._set_up_tables()
            execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()  # what the transaction holds is not given back
            execute("COMMIT")
            execute("PRAGMA journal_mode = WAL").fetchall()
            execute("PRAGMA synchronous = NORMAL")
            execute("BEGIN IMMEDIATE")  # a file that was in write-ahead mode already is locked by this
            found = execute("PRAGMA quick_check(1)").fetchone()[0]
            if found == "ok":
                self._check_keys()
            execute("INSERT OR REPLACE INTO facts VALUES ('format', ?)", (FORMAT,))  # whether it can be written at all
            execute("COMMIT")
        except ERRORS as error:
            raise problem(self._path, error) from None
        if found != "ok":
            raise self.damaged()

    def _check_keys(self) -> None:
        row = self._row("SELECT value FROM facts WHERE name = ?", ("format",))
        stored = row[0] if row is not None and type(row[0]) is bytes else b""
        if stored[len(FORMAT) :] not in (b"", self._digest_of_keys()):
            raise self.damaged()

    def _digest_of_keys(self) -> bytes:
        """Return a digest of all keys, in the order in which they stand."""
        digest = sha256(b"")
        for (key,) in self._connection.execute("SELECT key FROM entries"):
            if type(key) is not str:
                raise self.damaged()
            digest.update(f"{key}\0".encode())
        return digest.digest()

    def _set_up_tables(self) -> None:
        stored = {row[0]: row[1] for row in self._connection.execute("SELECT name, sql FROM sqlite_master")}
        missing = [name for name in TABLES if name not in stored]
        if stored and {**{name: TABLES[name] for name in missing if name in LATER}, **stored} != TABLES:
            raise StoreError(f"{self._path} {FOREIGN}")
        for name in missing:
            self._connection.execute(TABLES[name])

    def _stored_term(self) -> int:
        stored = self.fact("term")
        try:
            return int(stored or b"0")
        except ValueError:
            raise self.damaged() from None

    def enter_child(self) -> None:
        """Begin in a child process: forget what is cached, which is the parent's, and keep the connection for good.

        Closing it there would delete the log that the parent writes to.
        """
        import ctypes  # where a process with an open file is forked, and nowhere else

        self._cached, self._absent, self._cached_leaves = {}, set(), {}
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))

    def _refuse_forked(self) -> None:
        """Raise StoreError in a child process: SQLite's connections and locks are its parent's."""
        if os.getpid() != self._process:
            raise self.forked()

    def _row(self, query: str, values: tuple[str, ...]) -> Any:
        self._refuse_forked()
        try:
            return self._connection.execute(query, values).fetchone()
        except ERRORS as error:
            raise problem(self._path, error) from None

    def _transact(self, writes: Writes, facts: Mapping[str, bytes], leaves: Leaves | None = None) -> None:
        """Write everything or nothing; what is cached changes after the commit."""
        self._refuse_forked()
        if _identity(self._real_path) != self._identity:
            raise StoreError(f"{self._path} {REPLACED}; nothing was changed")
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            for key, value in writes.items():
                if value is None:
                    connection.execute("DELETE FROM entries WHERE key = ?", (key,))
                else:
                    connection.execute("INSERT OR REPLACE INTO entries VALUES (?, ?)", (key, value))
            for name, value in facts.items():
                connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
            if leaves:
                gone = [(key,) for key, leaf in leaves.items() if leaf is None]
                connection.executemany("DELETE FROM leaves WHERE key = ?", gone)
                changed = [(key, leaf) for key, leaf in leaves.items() if leaf is not None]
                connection.executemany("INSERT OR REPLACE INTO leaves VALUES (?, ?)", changed)
            connection.execute("COMMIT")
        except BaseException as error:
            self._roll_back()
            if isinstance(error, ERRORS):
                raise problem(self._path, error, "; nothing was changed") from None
            raise
        if leaves:
            self._cached_leaves.clear()
        for key, value in writes.items():
            if not key.startswith(UNDECIDING):
                self.deciding_writes += 1
            if value is None:
                self._cached.pop(key, None)
            else:
                self._absent.discard(key)
                self._keep(key, value)

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except ERRORS:
            self._cached.clear()
            self._absent.clear()

    def _keep(self, key: str, value: bytes) -> None:
        if len(self._cached) >= MAX_CACHED_VALUES:
            self._cached.clear()
        self._cached[key] = value


def _follow_forks(store: SqliteStorage) -> None:
    """Let a child process know that it is one, as long as there is the store."""
    living = ref(store)

    def in_child() -> None:
        found = living()
        if found is not None:
            found.enter_child()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=in_child)


def _identity(path: str) -> tuple[int, int] | None:
    """Return which file is at a path now; None for none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _connect(path: str) -> sqlite3.Connection:
    """Connect to a file, which is made readable by its owner only when it is new; links are followed."""
    if path != IN_MEMORY:
        from pathlib import Path

        try:
            # It never opens a file that is there: closing that again would drop the lock on it.
            Path(os.path.realpath(path)).touch(0o600, exist_ok=False)
        except FileExistsError:
            pass
        except OSError as error:
            raise StoreError(f"{path} {PROBLEMS[sqlite3.SQLITE_CANTOPEN]} ({error.strerror})") from None
    try:
        # a server calls from a thread of its own, one call at a time: it holds the Vault's lock
        return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=LOCK_TIMEOUT_S)
    except ERRORS as error:
        raise problem(path, error) from None


def _after(prefix: str) -> str:
    """Return the first text that sorts after everything with a prefix."""
    return prefix + "\U0010ffff" if not prefix else prefix[:-1] + chr(ord(prefix[-1]) + 1)
