"""What every store promises, over memory and SQLite: a model of a dict, folders, transactions that fail, terms."""

from __future__ import annotations

import pickle
from contextlib import ExitStack, closing
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from labkit.lab.nodes.election import KEY as LEASE
from labkit.service.errors import ServiceError
from labkit.vault.cors import CONFIG
from labkit.vault.mounts import AUDIT_DEVICES, MANAGED_KEYS, MOUNTS, QUOTAS, new_mount
from labkit.vault.policies.store import TEXTS
from labkit.vault.replication import MODE_KEY
from labkit.vault.replication.tree.journal import WAL_KEY
from labkit.vault.replication.tree.kept_index import TAIL
from labkit.vault.replication.unindexed_writes import MARK
from labkit.vault.sealing.seal import SEAL_CONFIG
from labkit.vault.storage import TOKENS, UNDECIDING, StaleTerm, Storage, StoreError, check_term
from labkit.vault.storage.barrier import KEYRING
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.storage.sqlite import SqliteStorage
from labkit.vault.token_record import IDS, OLD_ACCESSORS, OLD_CHILDREN
from labkit.vault.wrapping import WRAPPED
from tests.examples import examples

PARTS = st.sampled_from(["a", "b", "ab", "a b", "é", "0", "zz", "a-b", "\U0001f512"])
KEYS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
WRITES = st.dictionaries(KEYS, st.one_of(st.none(), st.binary(max_size=4)), max_size=4)


@pytest.fixture(params=["memory", "sqlite"])
def new_storage(request):
    """A maker of empty stores of one kind; they are closed when the test is over."""
    if request.param == "memory":
        yield MemoryStorage
        return
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(SqliteStorage(":memory:")))


@pytest.mark.parametrize("kind", [MemoryStorage, SqliteStorage])
def test_a_store_offers_the_whole_interface(kind):
    wanted = {name for name in vars(Storage) if not name.startswith("_")}

    assert wanted == {"get", "list", "keys", "values_below", "leaf", "leaves", "apply", "claim", "belongs_to"}
    assert wanted <= set(dir(kind))
    assert kind.flush_entries > 0


def test_the_values_of_a_folder_are_read_at_once_as_one_by_one(new_storage):
    storage = new_storage()
    written = {f"f/{name}": name.encode() for name in ("b", "a", "\U0001f512", "é")}
    storage.apply({**written, "f": b"-", "g/a": b"-", "e": b"-"}, 0)

    found = storage.values_below("f/")
    assert [*found.items()] == [(key, storage.get(key)) for key in sorted(written)]
    storage.apply({"f/a": None}, 0)
    assert (sorted(storage.values_below("f/")), storage.values_below("h/")) == (sorted({*written} - {"f/a"}), {})


def test_a_stale_term_is_no_value_error_that_a_handler_would_swallow():
    assert issubclass(StaleTerm, RuntimeError)
    assert not issubclass(StaleTerm, ValueError)


def test_a_stale_term_is_the_same_in_another_process():
    error = pickle.loads(pickle.dumps(StaleTerm(6, 7)))

    assert (str(error), error.newest) == ("term 6 is over: a newer leader claimed term 7", 7)


def test_a_store_that_fails_is_a_real_fault_of_the_server():
    assert issubclass(StoreError, ServiceError)
    assert StoreError.status == 500


def children(model, prefix):
    """What a listing must say, worked out from the flat keys."""
    rests = (key[len(prefix) :] for key in model if key.startswith(prefix))
    return sorted({rest[: rest.find("/") + 1] or rest for rest in rests})


class StoreMachine(RuleBasedStateMachine):
    """A store beside a dict: both get the same transactions, those that fail too, and say the same after each."""

    def __init__(self) -> None:
        super().__init__()
        self.storage: Any = self.new()
        self.model: dict[str, bytes] = {}
        self.leaves: dict[str, bytes] = {}
        self.objects: dict[str, bytes] = {}
        self.term = 0

    def new(self) -> Storage:
        """Return an empty store of the kind that is examined."""
        return MemoryStorage()

    @rule(writes=WRITES, leaves=WRITES, ahead=st.integers(0, 2))
    def apply(self, writes, leaves, ahead):
        """A transaction under the newest term, or one that is newer still; leaves are kept beside the values."""
        self.storage.apply(writes, self.term + ahead, leaves)
        self.leaves = {key: leaf for key, leaf in {**self.leaves, **leaves}.items() if leaf is not None}
        for key, value in writes.items():
            self.model.pop(key, None)
            self.objects.pop(key, None)
            if value is not None:
                self.model[key] = value

    @rule(writes=WRITES, behind=st.integers(1, 3))
    def apply_too_late(self, writes, behind):
        """A transaction of a leader that was replaced."""
        with pytest.raises(StaleTerm, match=f"claimed term {self.term}"):
            self.storage.apply(writes, self.term - behind, writes)

    @rule(ahead=st.integers(-2, 2))
    def claim(self, ahead):
        """A term becomes the newest, unless a newer one was claimed."""
        if ahead < 0:
            with pytest.raises(StaleTerm):
                self.storage.claim(self.term + ahead)
        else:
            self.storage.claim(self.term + ahead)
            self.term += ahead

    @rule(key=KEYS)
    def change_what_was_listed(self, key):
        """A caller's copy of a listing is the caller's."""
        folder = key[: key.rfind("/") + 1]
        self.storage.list(folder).append("no such name")
        self.storage.keys().append("no such key")

    @invariant()
    def agrees(self):
        """Values, keys and every folder are those of the dict, and a value is the same object until it is written."""
        assert self.storage.keys() == sorted(self.model)
        assert self.storage.get("no such key") is None
        assert self.storage.leaf("no such key") is None
        assert self.storage.leaves() == self.leaves
        assert {key: self.storage.leaf(key) for key in self.leaves} == self.leaves
        for key, value in self.model.items():
            stored = self.storage.get(key)
            assert stored == value
            assert self.objects.setdefault(key, stored) is stored
            for cut in range(len(key) + 1):
                if cut == 0 or key[cut - 1] == "/":
                    assert self.storage.list(key[:cut]) == children(self.model, key[:cut])


class SqliteMachine(StoreMachine):
    """The same over SQLite, whose transactions can also fail half-way."""

    def new(self) -> Storage:
        """Return an empty store of the kind that is examined."""
        return SqliteStorage(":memory:")

    @rule(writes=WRITES)
    def apply_and_fail(self, writes):
        """A transaction whose last value cannot be stored."""
        with pytest.raises(StoreError, match="nothing was changed"):
            self.storage.apply({**writes, "a/last": object()}, self.term)

    @rule(leaves=WRITES)
    def keep_and_fail(self, leaves):
        """A transaction whose last leaf cannot be stored."""
        with pytest.raises(StoreError, match="nothing was changed"):
            self.storage.apply(leaves, self.term, {**leaves, "a/last": object()})

    def teardown(self):
        """Close the store."""
        self.storage.close()


TestMemory = StoreMachine.TestCase
TestSqlite = SqliteMachine.TestCase
TestMemory.settings = TestSqlite.settings = settings(max_examples=examples(60), stateful_step_count=12, deadline=None)


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


def test_what_was_read_and_then_deleted_is_gone(new_storage):
    """A token that was looked up, and is revoked then, must not be found again."""
    storage = new_storage()
    storage.apply({"f/a": b"1", "f/b": b"2"}, 0)
    assert (storage.get("f/a"), storage.list("f/")) == (b"1", ["a", "b"])
    storage.apply({"f/a": None}, 0)

    assert (storage.get("f/a"), storage.list("f/"), storage.keys()) == (None, ["b"], ["f/b"])
    storage.apply({"f/a": None, "none": None}, 0)
    assert storage.keys() == ["f/b"]


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
    assert [storage.belongs_to(term) for term in (4, 5)] == [False, True]


def test_listing_hands_out_no_inner_list(new_storage):
    """Changing what a listing returned changes nothing."""
    storage = new_storage()
    storage.apply({"f/a": b"1"}, 0)
    storage.list("f/").append("b")
    assert storage.list("f/") == ["a"]


@pytest.mark.parametrize("end", [".x", "/x"])
def test_a_store_counts_the_writes_that_may_decide_about_requests(new_storage, end):
    store = new_storage()
    counted = [store.deciding_writes]
    for writes in (
        {"core/mounts": b"1", "token/id/a": b"2"},
        {"token/id/a": b"3"},
        {"token/id/a": None},
        {f"{begin}{end}": b"3" for begin in UNDECIDING},
        {"logical" + end[0]: b"4", "node/mode": b"5", "local/uuid/a": b"6", "namespace/a/core/mounts": b"7"},
        {},
    ):
        store.apply(writes, 0)
        counted.append(store.deciding_writes)
    steps = [after - before for before, after in pairwise(counted)]

    assert steps[0] == (1 if isinstance(store, MemoryStorage) else 2)  # a new token decides nothing, where it is seen
    assert steps[1:4] == [1, 1, 0]
    assert (steps[4] >= 3, steps[5]) == (True, 0)


def test_what_decides_about_no_request_is_data_and_what_journal_and_election_keep():
    mount = new_mount("kv/", "kv", lambda count: b"1" * count)

    assert {WAL_KEY, LEASE, "node/index/", "logical/", WRAPPED, OLD_ACCESSORS, OLD_CHILDREN} == {*UNDECIDING}
    assert TOKENS == IDS
    assert all(key.startswith(UNDECIDING) for key in (mount.prefix, MARK, TAIL))
    for key in (
        MOUNTS,
        QUOTAS,
        AUDIT_DEVICES,
        KEYRING,
        MODE_KEY,
        MANAGED_KEYS,
        TEXTS,
        IDS,
        CONFIG,
        SEAL_CONFIG,
        mount.own_prefix,
    ):
        assert not key.startswith(UNDECIDING), key


@pytest.mark.parametrize("term", [7, 8])
def test_the_newest_term_and_later_ones_pass(term):
    check_term(term, 7)


def test_an_older_term_is_stopped():
    with pytest.raises(StaleTerm, match="term 6 is over: a newer leader claimed term 7"):
        check_term(6, 7)
