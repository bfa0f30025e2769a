"""The store in memory: its state is plain values, and a store made of it is another (test_storage has the rest)."""

from __future__ import annotations

import pytest

from labkit.vault.storage import StaleTerm
from labkit.vault.storage.memory import MemoryStorage


def test_a_store_made_of_a_state_is_the_same_and_is_another():
    storage = MemoryStorage({"f/a": b"1", "b": b"2"}, 3)
    storage.apply({}, 3, {"b": b"leaf"})
    state = storage.state()
    again = MemoryStorage.from_state(state)
    storage.apply({"f/a": None, "c": b"3"}, 4, {"b": None, "c": b"another leaf"})

    folders = {"": {"f/": None, "b": None}, "f/": {"a": None}}
    whole = {"items": {"f/a": b"1", "b": b"2"}, "folders": folders, "leaves": {"b": b"leaf"}, "term": 3}
    assert again.state() == state == whole
    assert (again.list("f/"), again.list("")) == (["a"], ["b", "f/"])
    assert again.get("b") is storage.get("b")


def test_a_folder_is_there_as_long_as_something_is_in_it():
    storage = MemoryStorage()
    storage.apply({"a/b/1": b"1", "a/b/2": b"2", "a/c": b"3", "d": b"4"}, 0)
    assert (storage.list(""), storage.list("a/"), storage.list("a/b/")) == (["a/", "d"], ["b/", "c"], ["1", "2"])
    assert storage.keys() == ["a/b/1", "a/b/2", "a/c", "d"]
    storage.apply({"a/b/1": None, "a/b/none": None}, 0)
    assert (storage.list("a/"), storage.list("a/b/")) == (["b/", "c"], ["2"])
    storage.apply({"a/b/2": None}, 0)
    assert (storage.list(""), storage.list("a/"), storage.list("a/b/")) == (["a/", "d"], ["c"], [])
    storage.apply({"a/c": None, "d": None}, 0)
    assert storage.state() == {"items": {}, "folders": {}, "leaves": {}, "term": 0}


def test_a_listing_is_the_callers():
    storage = MemoryStorage({"a": b"1"})
    storage.list("").append("b")
    assert storage.list("") == ["a"]


def test_a_listing_is_sorted_after_every_change():
    storage = MemoryStorage({"f/b": b"1", "f/a": b"1"})
    assert storage.list("f/") == ["a", "b"]
    again = MemoryStorage.from_state(storage.state())
    for store, name in ((storage, "0"), (again, "c")):
        store.apply({f"f/{name}": b"1"}, 0)
    assert (storage.list("f/"), again.list("f/")) == (["0", "a", "b"], ["a", "b", "c"])
    storage.apply({"f/a": None}, 0)
    assert storage.list("f/") == ["0", "b"]
    storage.put_back(again.state())
    assert storage.list("f/") == ["a", "b", "c"]
    storage.apply({"f/g/x": b"1"}, 0)
    assert (storage.list("f/"), storage.list("f/g/")) == (["a", "b", "c", "g/"], ["x"])
    storage.apply({"f/g/x": None}, 0)
    assert (storage.list("f/"), storage.list("f/g/")) == (["a", "b", "c"], [])


def test_a_folder_that_changed_much_since_it_was_listed_is_sorted_again():
    storage = MemoryStorage({f"f/{number:05}": b"" for number in range(100)})
    assert len(storage.list("f/")) == 100
    for number in range(3_000):
        storage.apply({f"f/{number * 7 % 3_001:05}": b"" if number % 3 else None}, 0)
        if number % 1_700 == 0:
            assert storage.list("f/") == [key[2:] for key in sorted(storage.values)]
    assert storage.list("f/") == [key[2:] for key in sorted(storage.values)]


def test_a_value_that_is_written_again_is_listed_once():
    storage = MemoryStorage({"f/a": b"1"})
    storage.apply({"f/a": b"2"}, 0)
    assert (storage.get("f/a"), storage.list("f/")) == (b"2", ["a"])


def test_an_older_term_than_the_newest_is_refused():
    storage = MemoryStorage({"a": b"1"}, 2)
    storage.claim(3)
    for late in (lambda: storage.claim(2), lambda: storage.apply({"a": None}, 2)):
        with pytest.raises(StaleTerm):
            late()
    storage.apply({"a": b"2"}, 3)
    assert (storage.get("a"), storage.state()["term"]) == (b"2", 3)


def test_both_stores_of_a_state_go_their_own_way_folder_by_folder():
    storage = MemoryStorage({"f/a": b"1", "g/a": b"1"})
    again = MemoryStorage.from_state(storage.state())
    for store, name in ((storage, "mine"), (again, "yours"), (storage, "more")):
        store.apply({f"f/{name}": b"2", f"new/{name}": b"3"}, 0)
    again.apply({"g/a": None}, 0)

    assert (storage.list("f/"), storage.list("g/"), storage.list("new/")) == (
        ["a", "mine", "more"],
        ["a"],
        ["mine", "more"],
    )
    assert (again.list(""), again.list("f/"), again.list("new/")) == (["f/", "new/"], ["a", "yours"], ["yours"])


def test_both_stores_of_a_state_keep_leaves_of_their_own():
    storage = MemoryStorage({"a": b"1"})
    storage.apply({}, 0, {"a": b"leaf"})
    again = MemoryStorage.from_state(storage.state())
    again.apply({}, 0, {"a": b"other"})
    storage.apply({}, 0, {"b": b"leaf of b"})

    assert again.leaves() == {"a": b"other"}
    assert storage.leaves() == {"a": b"leaf", "b": b"leaf of b"}
    assert (again.leaf("a"), again.leaf("b"), again.get("a")) == (b"other", None, b"1")


def test_a_kept_leaf_stays_when_its_value_is_written_or_deleted():
    storage = MemoryStorage({"a": b"1", "b": b"1"})
    storage.apply({}, 0, {"a": b"leaf", "b": b"leaf"})
    storage.apply({"a": b"2", "b": None}, 0)

    assert (storage.leaf("a"), storage.leaf("b")) == (b"leaf", b"leaf")
