"""A commit that is cut short: the store keeps all of it or nothing, whichever key it was at."""

from __future__ import annotations

import pytest

from labkit.vault.storage.interruption import (
    AFTER,
    BEFORE,
    BETWEEN,
    MOMENTS,
    CommitInterruptedError,
    CommitInterruption,
)
from labkit.vault.storage.memory import MemoryStorage

WRITES = {"a/1": b"new", "b": None, "c": b"new", "d/e/f": b"new"}
LEAVES = {"a/1": b"leaf", "b": None}


def store() -> MemoryStorage:
    made = MemoryStorage({"a/1": b"old", "b": b"old"}, 3)
    made.apply({}, 3, {"a/1": b"was", "b": b"was"})
    return made


def contents(made: MemoryStorage) -> tuple[object, ...]:
    folders = [made.list(prefix) for prefix in ("", "a/", "d/", "d/e/")]
    keys = made.keys()
    return {key: made.get(key) for key in keys}, folders, dict(made.leaves())


def test_so_many_keys_are_written_before_the_end() -> None:
    assert [CommitInterruption("paris-1", 3, moment).keys_written(4) for moment in MOMENTS] == [0, 2, 4]
    assert MOMENTS == (BEFORE, BETWEEN, AFTER)


@pytest.mark.parametrize("moment", MOMENTS)
def test_all_of_a_commit_is_kept_or_nothing(moment: str) -> None:
    made, whole, untouched = store(), store(), contents(store())
    whole.apply(WRITES, 3, LEAVES)
    saved = made.state()
    made.interrupt(CommitInterruption("paris-1", 3, moment))
    with pytest.raises(CommitInterruptedError, match="paris-1 ended inside a commit") as caught:
        made.apply(WRITES, 3, LEAVES)

    assert contents(made) == (contents(whole) if moment == AFTER else untouched)
    assert caught.value.kept == (WRITES if moment == AFTER else {})
    made.apply(WRITES, 3, LEAVES)
    assert contents(made) == contents(whole), "only one commit is cut short"
    assert contents(MemoryStorage.from_state(saved)) == untouched, "what was saved before stays what it was"


def test_one_key_and_another_leader_are_not_met() -> None:
    made = store()
    made.interrupt(CommitInterruption("paris-1", 3, BEFORE))
    made.apply({"lease": b"x"}, 3)
    again = MemoryStorage.from_state(made.state())
    for each in (made, again):
        with pytest.raises(CommitInterruptedError):
            each.apply(WRITES, 3)
    made.interrupt(CommitInterruption("paris-1", 3, BEFORE))
    made.claim(4)
    made.apply(WRITES, 4)
    assert made.get("c") == b"new"
    assert "interruption" not in made.state(), "its leader will not commit any more"
