"""SQLite's problems: what is wrong with a file, and what to do, in words that name it."""

from __future__ import annotations

import os
import sqlite3

from labkit.vault.storage import StoreError

ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite's module raises; the second where a message quotes damaged text."""

PROBLEMS = {
    sqlite3.SQLITE_BUSY: "is open already, in this process or another: close it there first",
    sqlite3.SQLITE_READONLY: "cannot be written: give this user the right to write the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: name a file in a folder that exists and can be written",
    sqlite3.SQLITE_PERM: "cannot be opened: give this user the right to read and write it",
    sqlite3.SQLITE_FULL: "has no space left to be written: free some space on its disk",
    sqlite3.SQLITE_IOERR: "cannot be read or written by this machine: check its disk",
    sqlite3.SQLITE_NOTADB: "is not a labkit file, or its first bytes are damaged: name another, or restore it",
    sqlite3.SQLITE_CORRUPT: "is damaged: restore it from a copy, or name another file",
}
"""{SQLite's primary result code: what is wrong with the file, and what to do}."""

FORKED = "was opened before this process was forked: use it there, or close it before the fork and open it here"
REPLACED = "was moved, deleted or replaced since it was opened: put it back, or open it again"
FOREIGN = "is the database of another program: name another file"


def problem(path: str, error: Exception, rest: str = "") -> StoreError:
    """Return the error that names the file and says what is wrong with it."""
    unreadable = isinstance(error, UnicodeDecodeError)
    code = sqlite3.SQLITE_CORRUPT if unreadable else getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_IOERR and _is_full(path):
        code = sqlite3.SQLITE_FULL
    return StoreError(f"{path} {PROBLEMS.get(code, f'cannot be used: {error}')}{rest}")


def _is_full(path: str) -> bool:
    """Whether the disk of a file has no space left, which SQLite does not always say."""
    try:
        return os.statvfs(os.path.dirname(os.path.realpath(path))).f_bavail == 0
    except OSError:
        return False
