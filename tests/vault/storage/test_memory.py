"""The two stores behave alike: a model of a dict, folders, transactions and terms."""

from __future__ import annotations

from contextlib import ExitStack, closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labkit.vault.storage.fencing import StaleTerm
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.storage.sqlite import SqliteStorage

PARTS = st.sampled_from(["a", "b", "ab", "a b", "é", "0", "zz", "a-b", "\U0001f512"])
KEYS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
WRITES = st.lists(st.dictionaries(KEYS, st.one_of(st.none(), st.binary(max_size=4)), max_size=4), max_size=12)


@pytest.fixture(params=["memory", "sqlite"])
def new_storage(request):
    """A maker of empty stores of one kind; they are closed when the test is over."""
    if request.param == "memory":
        yield MemoryStorage
        return
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(SqliteStorage(":memory:")))


def children(model, prefix):
    """What a listing must say, worked out from the flat keys."""
    rests = (key[len(prefix) :] for key in model if key.startswith(prefix))
    return sorted({rest[: rest.find("/") + 1] or rest for rest in rests})


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(WRITES)
def test_any_sequence_of_transactions_agrees_with_a_dict(new_storage, steps):
    """get, keys and list of every folder agree with a plain dict after every transaction."""
    storage = new_storage()
    model: dict[str, bytes] = {}
    for writes in steps:
        storage.apply(writes, 0)
        for key, value in writes.items():
            model.pop(key, None)
            if value is not None:
                model[key] = value
        assert storage.keys() == sorted(model)
        for key in model:
            assert storage.get(key) == model[key]
            for cut in range(len(key) + 1):
                if cut == 0 or key[cut - 1] == "/":
                    assert storage.list(key[:cut]) == children(model, key[:cut])


def test_get_returns_the_same_object_until_the_key_is_written_again(new_storage):
    """Caches of decoded records rest on this identity."""
    storage = new_storage()
    storage.apply({"a": b"one", "b": b"two"}, 0)
    first = storage.get("a")
    assert storage.get("a") is first
    storage.apply({"b": b"three"}, 0)
    assert storage.get("a") is first
    storage.apply({"a": bytes(bytearray(b"one"))}, 0)
    assert storage.get("a") is not first


def test_a_stale_term_changes_nothing(new_storage):
    """A commit under an older term than the newest claimed one is refused whole."""
    storage = new_storage()
    storage.apply({"a": b"1"}, 0)
    storage.claim(5)
    storage.apply({"a": b"2"}, 5)
    with pytest.raises(StaleTerm, match="term 4 is over"):
        storage.apply({"a": b"3", "b": b"3"}, 4)
    with pytest.raises(StaleTerm):
        storage.claim(4)
    assert (storage.get("a"), storage.get("b")) == (b"2", None)


def test_listing_hands_out_no_inner_list(new_storage):
    """Changing what a listing returned changes nothing."""
    storage = new_storage()
    storage.apply({"f/a": b"1"}, 0)
    storage.list("f/").append("b")
    assert storage.list("f/") == ["a"]
