"""The store without fencing takes what others refuse, and nothing else is different."""

from __future__ import annotations

import pytest

from labkit.vault.storage import StaleTerm
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.storage.unfenced import UnfencedStorage


def test_a_commit_under_a_term_that_is_over_is_taken():
    fenced, store = MemoryStorage(), UnfencedStorage()
    for each in (fenced, store):
        each.claim(5)
        each.apply({"a": b"1"}, 5)
    with pytest.raises(StaleTerm):
        fenced.apply({"a": b"2"}, 4)
    store.apply({"a": b"2"}, 4, {"a": b"leaf"})

    assert (store.get("a"), store.leaf("a")) == (b"2", b"leaf")
    assert store.is_overtaken(4)
    assert not store.is_overtaken(5)


def test_leadership_is_claimed_as_usual_and_the_state_is_the_same():
    store = UnfencedStorage()
    store.claim(5)
    with pytest.raises(StaleTerm):
        store.claim(4)
    restored = UnfencedStorage.from_state(store.state())
    assert isinstance(restored, UnfencedStorage)
    assert restored.is_overtaken(4)
    assert not restored.belongs_to(5), "an overtaken leader writes to it too"
