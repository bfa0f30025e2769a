"""Journal search: the newest entry that left a guard, and how often a leaf is hashed to find it."""

from __future__ import annotations

import pytest

from labkit.vault.replication.tree import merkle
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.storage.memory import MemoryStorage


def running(limit_entries: int) -> Journal:
    journal = Journal(MemoryStorage(), limit_entries)
    journal.switch_on()
    return journal


def test_of_several_entries_that_left_the_same_state_the_newest_counts() -> None:
    journal = running(16)
    guards = []
    for value in (b"1", b"2", b"1", b"3"):
        journal.commit({"logical/a": value}, 0)
        assert journal.tree is not None
        guards.append(journal.tree.guard())

    assert [journal.find(guard) for guard in guards] == [3, 2, 3, 4]
    assert journal.find(bytes(20)) == 0, "before the first entry there was nothing"


def test_guards_once_found_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    journal = running(limit_entries=50)
    for n in range(60):
        journal.commit({f"logical/{n}": b"%d" % n}, 0)
    hashed: list[str] = []
    original = merkle.leaf_digest

    def counted(key: str, stored: bytes) -> bytes:
        hashed.append(key)
        return original(key, stored)

    for module in ("journal_search", "generation"):
        monkeypatch.setattr(f"labkit.vault.replication.tree.{module}.leaf_digest", counted)
    assert journal.find(b"\xff" * 20) is None
    assert len(hashed) == 50, "one new leaf in each entry of the backlog"
    hashed.clear()
    journal.commit({"logical/0": b"again"}, 0)
    journal.commit({"logical/0": b"and again"}, 0)
    assert journal.find(b"\xff" * 20) is None
    assert len(hashed) == 2, "the newest entry was taken out, one leaf before and one after; the rest was cached"
    assert len(journal._guards) <= 51, "guards before the backlog are dropped"
