"""Unindexed writes: the first change of a key of a tree ends what the mark says, in its own transaction."""

from __future__ import annotations

import pytest

from labkit.vault.replication.unindexed_writes import MARK, UnindexedWrites
from labkit.vault.storage import StaleTerm, Writes
from labkit.vault.storage.memory import MemoryStorage


class Counted(MemoryStorage):
    """A store that notes the names of each transaction."""

    def __init__(self) -> None:
        super().__init__()
        self.applied: list[list[str]] = []

    def apply(self, writes: Writes, term: int, *rest: object) -> None:
        super().apply(writes, term, *rest)  # type: ignore[arg-type]  # as it is given
        self.applied.append(sorted(writes))


@pytest.fixture
def store() -> Counted:
    store = Counted()
    store.apply({MARK: b"stands"}, 0)
    store.applied.clear()
    return store


def test_what_is_in_no_tree_leaves_the_mark(store: Counted) -> None:
    writes = UnindexedWrites(store)
    writes.apply({"node/a": b"1"}, 0)

    assert store.get(MARK) == b"stands"
    assert repr(writes) == "UnindexedWrites(a mark may be stored)"


def test_the_first_change_of_a_tree_takes_the_mark_away_with_it(store: Counted) -> None:
    writes = UnindexedWrites(store)
    for number in (1, 2):
        writes.apply({"logical/a": b"%d" % number, "node/a": b"1"}, 0)

    assert store.applied == [sorted(["logical/a", "node/a", MARK]), ["logical/a", "node/a"]]
    assert store.get(MARK) is None
    assert repr(writes) == "UnindexedWrites(no mark is stored)"


def test_a_mark_that_was_stored_meanwhile_is_looked_for_again(store: Counted) -> None:
    writes = UnindexedWrites(store)
    writes.apply({"logical/a": b"1"}, 0)
    store.apply({MARK: b"stands again"}, 0)
    writes.unmarked = False
    writes.apply({"logical/a": b"2"}, 0)

    assert store.get(MARK) is None


def test_a_write_that_is_refused_leaves_the_mark(store: Counted) -> None:
    writes = UnindexedWrites(store)
    store.claim(9)
    with pytest.raises(StaleTerm):
        writes.apply({"logical/a": b"1"}, 0)
    writes.apply({"logical/a": b"2"}, 9)

    assert store.applied == [sorted(["logical/a", MARK])]
