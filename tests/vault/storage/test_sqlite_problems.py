"""What is wrong with a file: in words that name it, and that say what to do; whatever SQLite says of a full disk."""

from __future__ import annotations

import os
import sqlite3
from types import SimpleNamespace

import pytest

from labkit.vault.storage.sqlite_problems import PROBLEMS, problem


def failed(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("what the library says")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize("code", PROBLEMS)
def test_each_problem_names_the_file_and_says_what_to_do(code: int) -> None:
    for found in (code, code | 5 << 8):  # an extended code has the primary one in its last byte
        text = str(problem("lab.db", failed(found), "; nothing was changed"))
        assert text == f"lab.db {PROBLEMS[code]}; nothing was changed"


def test_what_is_not_known_is_said_as_the_library_says_it() -> None:
    assert str(problem("lab.db", failed(sqlite3.SQLITE_MISUSE))) == "lab.db cannot be used: what the library says"
    assert str(problem("lab.db", ValueError("x"))) == "lab.db cannot be used: x"


def test_a_text_that_cannot_be_read_is_damage() -> None:
    error = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x")
    assert str(problem("lab.db", error)) == f"lab.db {PROBLEMS[sqlite3.SQLITE_CORRUPT]}"


def test_a_disk_without_space_is_full_whatever_the_library_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_bavail=0))
    assert str(problem("lab.db", failed(sqlite3.SQLITE_IOERR))) == f"lab.db {PROBLEMS[sqlite3.SQLITE_FULL]}"
    assert str(problem("lab.db", failed(sqlite3.SQLITE_BUSY))) == f"lab.db {PROBLEMS[sqlite3.SQLITE_BUSY]}"

    def gone(path: str) -> None:
        raise OSError

    monkeypatch.setattr(os, "statvfs", gone)
    assert str(problem("lab.db", failed(sqlite3.SQLITE_IOERR))) == f"lab.db {PROBLEMS[sqlite3.SQLITE_IOERR]}"
