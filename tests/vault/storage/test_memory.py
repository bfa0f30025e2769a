"""The store in memory: its state is plain values, and a store made of it is another (test_storage has the rest)."""

from __future__ import annotations

from labkit.vault.storage.memory import MemoryStorage


def test_a_store_made_of_a_state_is_the_same_and_is_another():
    storage = MemoryStorage({"f/a": b"1", "b": b"2"}, 3)
    state = storage.state()
    again = MemoryStorage.from_state(state)
    storage.apply({"f/a": None, "c": b"3"}, 4)

    folders = {"": ["b", "f/"], "f/": ["a"]}
    assert again.state() == state == {"items": {"f/a": b"1", "b": b"2"}, "folders": folders, "term": 3}
    assert (again.list("f/"), again.list("")) == (["a"], ["b", "f/"])
    assert again.get("b") is storage.get("b")
