"""Generations: what was, from the leaves that were kept (test_journal compares every generation with a built tree)."""

from __future__ import annotations

from labkit.vault.replication.tree.generation import Entry, Generation, earlier
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.replication.tree.merkle import REPLICATED, UNSETTLED, bucket, leaf_digest
from labkit.vault.storage.memory import MemoryStorage

KEY = "logical/a"


def rotten_then_overwritten() -> tuple[Journal, Generation]:
    """A journal whose stored value was altered and then written over, and its generation in between."""
    journal = Journal(MemoryStorage())
    journal.switch_on()
    journal.commit({KEY: b"good", "logical/b": b"b"}, 0)
    journal.flush(0)
    journal.storage.apply({KEY: b"rotten"}, 0)
    journal.commit({KEY: b"new"}, 0)
    generation = journal.as_of(1)
    assert generation is not None
    return journal, generation


def test_a_value_that_is_not_what_its_leaf_stands_for_is_damaged() -> None:
    journal = Journal(MemoryStorage())
    journal.switch_on()
    journal.commit({KEY: b"good", "logical/b": b"b"}, 0)
    journal.flush(0)
    journal.storage.apply({KEY: b"rotten", "logical/b": None}, 0)
    generation = journal.as_of(1)
    assert generation is not None

    assert generation.is_damaged(KEY, b"rotten")
    assert generation.is_damaged(KEY, None)
    assert not generation.is_damaged(KEY, b"good")
    assert generation.is_damaged("logical/b", generation.value("logical/b"))
    assert not generation.is_damaged("logical/none", None)


def test_damage_stays_known_after_it_was_written_over() -> None:
    journal, generation = rotten_then_overwritten()

    assert generation.value(KEY) == b"rotten"
    assert generation.is_damaged(KEY, b"rotten")
    assert generation.leaves(REPLICATED, {bucket(KEY)})[KEY] == leaf_digest(KEY, b"good")
    newest = journal.as_of(2)
    assert newest is not None
    assert not newest.is_damaged(KEY, newest.value(KEY))


def test_the_guard_of_a_sound_state_is_found_behind_damage_that_was_written_over() -> None:
    journal, _ = rotten_then_overwritten()
    sound = Journal(MemoryStorage({KEY: b"good", "logical/b": b"b"}))
    sound.switch_on()
    assert sound.tree is not None

    assert journal.find(sound.tree.guard()) == 1


def test_what_was_before_an_entry_is_computed_only_where_it_was_not_known() -> None:
    changes = (("a", b"1", b"2"), ("b", None, b"2"), ("c", None, b"2"), ("d", b"1", None))
    entry = Entry(1, changes, 9, (UNSETTLED, UNSETTLED, None, b"kept"))

    assert list(earlier(entry)) == [
        ("a", b"1", leaf_digest("a", b"1")),
        ("b", None, None),
        ("c", None, None),
        ("d", b"1", b"kept"),
    ]
