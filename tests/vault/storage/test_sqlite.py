"""The SQLite store: what was applied survives a killed process, a failed transaction leaves nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from labkit.vault.storage.sqlite import SqliteStorage

CHILD = """
import os, sys
from labkit.vault.storage.sqlite import SqliteStorage
storage = SqliteStorage(sys.argv[1])
for number in range(50):
    storage.apply({f"k/{number}": b"v" * 100, "last": str(number).encode()}, 0)
    print(number, flush=True)
os.kill(os.getpid(), 9)
"""


def test_what_was_applied_survives_a_killed_process(tmp_path):
    """A process that is killed right after an apply leaves all of its transactions behind."""
    path = tmp_path / "lab.db"
    run = subprocess.run([sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == -9, run.stderr
    last = int(run.stdout.split()[-1])
    storage = SqliteStorage(path)
    assert storage.get("last") == str(last).encode()
    assert len(storage.list("k/")) == last + 1
    storage.close()


def test_a_failed_transaction_leaves_nothing(tmp_path):
    """A value that cannot be stored undoes the writes before it."""
    storage = SqliteStorage(tmp_path / "lab.db")
    with pytest.raises(Exception, match=r"type|bind"):
        storage.apply({"a": b"1", "b": object()}, 0)  # type: ignore[dict-item]  # what cannot be stored
    assert storage.keys() == []
    storage.apply({"a": b"1"}, 0)
    assert storage.get("a") == b"1"
    storage.close()


def test_facts_are_no_entries(tmp_path):
    """What is kept about the store does not show among its keys."""
    storage = SqliteStorage(tmp_path / "lab.db")
    storage.set_fact("term", b"3")
    assert storage.fact("term") == b"3"
    assert storage.fact("other") is None
    assert storage.keys() == []
    storage.close()
