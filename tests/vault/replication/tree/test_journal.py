"""The journal: numbers and backlog follow the store, and earlier generations can be answered."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.vault.replication.tree import merkle
from labkit.vault.replication.tree.journal import Entry, Journal
from labkit.vault.replication.tree.merkle import FAN_OUT, TREES, MerkleTree
from labkit.vault.replication.tree.rebuild import Rebuild, ReindexOptions
from labkit.vault.replication.tree.tree_nodes import is_corrupted
from labkit.vault.storage import StaleTerm, StoreError
from labkit.vault.storage.memory import MemoryStorage
from tests.examples import examples


def running(limit_entries: int = 16_384, limit_bytes: int = 1 << 30, **items: bytes) -> Journal:
    """A journal that is on, over a store of some keys (folders spelled with __)."""
    journal = Journal(
        MemoryStorage({key.replace("__", "/"): value for key, value in items.items()}),
        limit_entries,
        limit_bytes,
    )
    journal.switch_on()
    return journal


def shipped(journal: Journal) -> dict[str, bytes]:
    """What the store holds of the two trees."""
    keys = [key for key in journal.storage.keys() if merkle.classify(key)]  # noqa: SIM118  # a store is not a dict
    return {key: journal.storage.get(key) or b"" for key in keys}


def test_while_off_writes_go_straight_through() -> None:
    journal = Journal(MemoryStorage())

    assert journal.commit({"logical/a": b"1"}, 0) is None
    assert journal.storage.keys() == ["logical/a"]
    assert not journal.on
    assert journal.since(0) == ()
    assert journal.find(bytes(20)) is None
    assert journal.as_of(0) is None


def test_an_entry_holds_what_was_and_what_is_in_order_of_keys() -> None:
    journal = running(logical__b=b"old", logical__c=b"gone")

    before = (merkle.leaf_digest("logical/b", b"old"), merkle.leaf_digest("logical/c", b"gone"), None)
    assert journal.commit({"logical/c": None, "node/mode": b"m", "logical/b": b"new", "token/a": b"t"}, 0) == 1
    assert journal.since(0) == (
        Entry(1, (("logical/b", b"old", b"new"), ("logical/c", b"gone", None), ("token/a", None, b"t")), 36, before),
    )
    assert journal.size_bytes == len("logical/boldnewlogical/cgonetoken/at")
    assert journal.storage.get("node/wal") == b"\0\0\0\0\0\0\0\1"
    assert journal.storage.get("node/mode") == b"m"


def test_a_write_is_only_noted_in_the_tree() -> None:
    journal = running()
    journal.commit({"logical/a": b"1"}, 0)

    assert journal.tree is not None
    assert journal.tree.state()["noted"] == {"logical/a": b"1"}


@pytest.mark.parametrize("spoilt", [b"", b"spoilt"])
@pytest.mark.parametrize("second", [None, b"2"])
@pytest.mark.parametrize("first", [None, b"1"])
@pytest.mark.parametrize("is_settled", [False, True])
def test_what_is_damaged_before_it_is_settled_is_undone_as_it_was_written(
    is_settled: bool, first: bytes | None, second: bytes | None, spoilt: bytes
) -> None:
    """Else a guard that is found again by going back is another than the one that the state had."""
    journal = running(logical__a=b"0")
    assert journal.tree is not None
    guards = [guard_of(journal)]
    journal.commit({"logical/a": first}, 0)
    guards.append(guard_of(journal))
    journal.storage.apply({"logical/a": spoilt}, 0)
    if is_settled:
        journal.tree.guard()
    journal.commit({"logical/a": second}, 0)
    journal.commit({"logical/b": b"3"}, 0)

    newest = 2 if first is second is None else 1  # the same state twice
    assert [journal.find(guard) for guard in guards] == [0, newest]


def guard_of(journal: Journal) -> bytes:
    """The guard of what is stored."""
    return merkle.MerkleTree.build(shipped(journal).items()).guard()


def test_a_step_of_keys_of_no_tree_makes_no_entry() -> None:
    journal = running()

    assert journal.commit({"node/mode": b"m"}, 0) is None
    assert journal.commit({}, 0) is None
    assert journal.last == 0
    assert (shipped(journal), journal.storage.get("node/mode")) == ({}, b"m")
    assert journal.storage.list("node/index/tail/") == []


@pytest.mark.parametrize("damaged", [b"", b"\1", b"\xff" * 8, b"\x80" + bytes(7), bytes(8) + b"\1"])
def test_a_stored_number_that_cannot_be_one_counts_from_the_beginning(damaged: bytes) -> None:
    journal = running(node__wal=damaged, logical__a=b"1")

    assert journal.last == 0
    assert journal.commit({"logical/a": b"2"}, 0) == 1
    assert running(node__wal=b"\x7f" + b"\xff" * 6 + b"\xfe").commit({"logical/a": b"2"}, 0) == 2**63 - 1


def test_the_store_gets_everything_in_one_transaction() -> None:
    applied: list[dict[str, bytes | None]] = []

    class Watched(MemoryStorage):
        def apply(
            self, writes: Mapping[str, bytes | None], term: int, leaves: Mapping[str, bytes | None] | None = None
        ) -> None:
            applied.append(dict(writes))
            super().apply(writes, term, leaves)

    journal = Journal(Watched())
    journal.switch_on()
    applied.clear()
    journal.commit({"logical/a": b"1", "node/mode": b"m"}, 0)
    journal.apply([("logical/b", b"2")], {"node/mode": b"n"}, 0)
    one, two = ((number).to_bytes(8, "big") for number in (1, 2))

    assert applied == [
        {"logical/a": b"1", "node/mode": b"m", "node/wal": one, "node/index/tail/1": one + b"logical/a"},
        {"logical/b": b"2", "node/mode": b"n", "node/wal": two, "node/index/tail/2": two + b"logical/b"},
    ]


def test_a_stale_term_changes_nothing() -> None:
    journal = running()
    journal.commit({"logical/a": b"1"}, 0)
    journal.storage.claim(2)
    before = pickle.dumps(journal.state())

    with pytest.raises(StaleTerm):
        journal.commit({"logical/a": b"2"}, 1)
    assert pickle.dumps(journal.state()) == before
    assert journal.storage.get("logical/a") == b"1"


def test_numbers_go_on_at_a_takeover() -> None:
    journal = running()
    for n in range(5):
        journal.commit({"logical/a": b"%d" % n}, 0)
    successor = Journal(journal.storage)
    successor.switch_on()

    assert (successor.last, successor.oldest, len(successor)) == (5, 5, 0)
    assert successor.tree is not None
    assert journal.tree is not None
    assert successor.tree.root() == journal.tree.root()
    assert successor.commit({"logical/a": b"x"}, 0) == 6


def test_the_backlog_is_bounded_by_count() -> None:
    journal = running(limit_entries=3)
    for n in range(10):
        journal.commit({"logical/a": b"%d" % n}, 0)

    assert (journal.oldest, len(journal)) == (7, 3)
    assert journal.since(6) is None
    assert [entry.number for entry in journal.since(7) or ()] == [8, 9, 10]
    assert journal.since(10) == ()
    assert journal.since(11) is None


def test_the_backlog_is_bounded_by_bytes_and_earlier_values_count() -> None:
    journal = running(limit_bytes=3_000)
    for n in range(10):
        journal.commit({"logical/a": b"%d" % n * 500}, 0)

    assert (len(journal), journal.size_bytes) == (2, 2 * (500 + 500 + 9))


def test_the_newest_entry_stays_whatever_its_size() -> None:
    journal = running(limit_bytes=10)
    journal.commit({"logical/a": b"x" * 500}, 0)

    assert len(journal.since(0) or ()) == 1


def test_a_received_key_of_no_tree_is_refused() -> None:
    journal = running()

    with pytest.raises(ValueError, match="the primary sent node/mode"):
        journal.apply([("logical/a", b"1"), ("node/mode", b"theirs")], {}, 0)
    assert shipped(journal) == {}


def test_switched_off_it_forgets() -> None:
    journal = running()
    journal.commit({"logical/a": b"1"}, 0)
    journal.switch_off()

    assert (journal.on, len(journal), journal.size_bytes) == (False, 0, 0)
    assert journal.commit({"logical/a": b"2"}, 0) is None


def built_again(journal: Journal) -> merkle.MerkleTree:
    """The index of what the journal's store holds."""
    leaves = {key: merkle.leaf_digest(key, stored) for key, stored in shipped(journal).items()}
    return merkle.tree_of(leaves, journal.storage)


@pytest.mark.parametrize("stored", [True, False])
def test_an_index_of_other_leaves_in_the_place_of_this_one_drops_the_backlog(stored: bool) -> None:
    journal = running(logical__b=b"1")
    journal.commit({"logical/a": b"1"}, 0)
    guard = journal.tree.guard() if journal.tree else b""
    journal.flush(0)
    journal.storage.apply({"logical/a": b"rotten", "logical/b": None}, 0)

    assert journal.replace(built_again(journal), {}, 0, whole=False, stored=stored)
    assert journal.find(guard) is None
    rotten = {"logical/a": merkle.leaf_digest("logical/a", b"rotten")}
    assert (journal.storage.leaves() == rotten) == stored
    assert (journal.last, journal.oldest) == (1, 1)
    assert journal.commit({"logical/b": b"2"}, 0) == 2
    journal.flush(0)
    assert {*journal.storage.leaves()} == {"logical/a", "logical/b"}


@pytest.mark.parametrize("whole", [True, False])
def test_an_index_of_the_same_leaves_in_the_place_of_this_one_keeps_the_backlog_and_ends_damage(whole: bool) -> None:
    journal = running()
    journal.commit({"logical/a": b"1"}, 0)
    journal.corrupt("subpage", "logical/a", 0)

    assert not journal.replace(built_again(journal), {"node/done": b"1"}, 0, whole=whole, stored=True)
    assert (len(journal), journal.storage.get("node/done")) == (1, b"1")
    successor = Journal(journal.storage)
    successor.switch_on()
    for tree in (journal.tree, successor.tree):
        assert tree is not None
        assert not is_corrupted(tree.check(""))


def test_an_index_that_the_store_refuses_is_not_used() -> None:
    journal = running(logical__b=b"1")
    before = journal.state()
    journal.storage.apply({"logical/b": b"rotten"}, 0)
    journal.storage.claim(7)

    with pytest.raises(StaleTerm):
        journal.replace(built_again(journal), {"node/done": b"1"}, 0, whole=False, stored=True)
    assert journal.state() == before
    assert journal.storage.get("node/done") is None


def test_only_differing_pages_are_stored_again_unless_all_are_asked_for() -> None:
    written = []
    for whole in (False, True):
        journal = running(logical__a=b"1", logical__b=b"1", token__c=b"2")
        journal.flush(0)
        journal.storage.apply({"logical/a": b"rotten"}, 0)
        new = built_again(journal)
        journal.replace(new, {}, 0, whole=whole, stored=False)
        assert journal.tree is not None
        written.append(len(journal.tree.nodes.changed))
    assert written == [1, 512]


def test_a_rebuild_is_given_the_names_of_what_changes_and_ends_with_the_journal() -> None:
    journal = running()
    journal.rebuild = rebuild = Rebuild(ReindexOptions(), 0)
    journal.commit({"logical/a": b"1", "node/x": b"1"}, 0)
    journal.apply([("token/b", b"1")], {"node/position": b"1"}, 0)

    assert rebuild.state()["touched"] == ("logical/a", "token/b")
    restored = Journal.from_state(journal.storage, pickle.loads(pickle.dumps(journal.state())))
    assert restored.state() == journal.state()
    journal.switch_off()
    assert journal.rebuild is None


# ---- what was ---------------------------------------------------------------------------------------------

KEYS = [f"logical/u/{n}" for n in range(6)] + ["token/a", "lease/b"]
STEPS = st.lists(
    st.dictionaries(st.sampled_from([*KEYS, "node/x"]), st.none() | st.binary(max_size=2), max_size=3),
    max_size=14,
)


@settings(max_examples=examples(60))
@given(STEPS, st.integers(1, 8), st.data())
def test_every_generation_in_reach_is_found_and_answered_as_it_was(
    steps: list[dict[str, bytes | None]], limit: int, data: st.DataObject
) -> None:
    journal = running(limit_entries=limit)
    history = {0: MerkleTree()}
    values: dict[int, dict[str, bytes]] = {0: {}}
    for step in steps:
        if journal.commit(step, 0):
            values[journal.last] = shipped(journal)
            history[journal.last] = MerkleTree.build(values[journal.last].items())
        if data.draw(st.booleans()):  # questions in between leave caches behind
            ask_about(journal, data.draw(st.integers(0, journal.last)), history, values)
        if data.draw(st.booleans()):
            journal = Journal.from_state(journal.storage, pickle.loads(pickle.dumps(journal.state())))
    for generation in history:
        ask_about(journal, generation, history, values)


def ask_about(
    journal: Journal, generation: int, history: dict[int, MerkleTree], values: dict[int, dict[str, bytes]]
) -> None:
    """Compare every answer about a generation with the tree that was built from storage then."""
    then, was = journal.as_of(generation), history[generation]
    assert (then is None) == (generation < journal.oldest)
    found = journal.find(was.guard())
    reach = [number for number in history if number >= journal.oldest and values[number] == values[generation]]
    assert found == max(reach, default=None)
    if then is None:
        return
    for tree in TREES:
        assert then.pages(tree) == was.pages(tree)
        places = {merkle.bucket(key) for key in KEYS[::2]}
        assert then.leaves(tree, places) == was.leaves(tree, places)
        for page in sorted({place // FAN_OUT for place in places}):
            assert then.subpages(tree, page) == was.subpages(tree, page)
    for key in KEYS:
        assert then.value(key) == values[generation].get(key)


def test_the_generations_asked_for_last_are_kept() -> None:
    journal = running()
    for n in range(6):
        journal.commit({"logical/a": b"%d" % n}, 0)
    first = [journal.as_of(number) for number in (1, 2, 3, 4)]
    assert [journal.as_of(number) for number in (4, 3, 2, 1)] == first[::-1]
    journal.as_of(5)
    assert list(journal._generations) == [3, 2, 1, 5], "4 was asked for least recently"
    assert journal.as_of(4) is not first[3]
    assert journal.as_of(1) is first[0]
    assert journal.as_of(7) is None
    assert journal.as_of(-1) is None


def test_a_generation_out_of_reach_is_no_longer_kept() -> None:
    journal = running(limit_entries=2)
    for n in range(3):
        journal.commit({"logical/a": b"%d" % n}, 0)
    assert journal.as_of(1) is not None
    journal.commit({"logical/a": b"x"}, 0)
    assert journal.as_of(1) is None
    assert journal._generations == {}


def test_a_journal_keeps_sixteen_thousand_entries_in_a_gibibyte() -> None:
    journal = Journal(MemoryStorage())
    assert (journal.limit_entries, journal.limit_bytes) == (16_384, 2**30)


def test_a_state_shares_entries_and_is_not_touched_afterwards() -> None:
    journal = running()
    journal.commit({"logical/a": b"1"}, 0)
    saved = journal.state()
    entry = saved["backlog"][1]
    journal.commit({"logical/a": b"2"}, 0)
    restored = Journal.from_state(MemoryStorage({"logical/a": b"1"}), saved)

    assert restored.last == 1
    assert restored.since(0) == (entry,)
    assert restored.state()["backlog"][1] is entry is journal.state()["backlog"][1]
    assert restored.tree is not None
    assert restored.tree.root() == MerkleTree.build([("logical/a", b"1")]).root()


def test_a_journal_shows_where_it_stands() -> None:
    journal = running()
    journal.commit({"logical/a": b"1"}, 0)
    assert repr(journal) == "Journal(on, last=1, 1 entries)"
    journal.switch_off()
    assert repr(journal) == "Journal(off, last=1, 0 entries)"


# ---- the kept index ---------------------------------------------------------------------------------------


class Counted(MemoryStorage):
    """A store that names the keys of trees whose values are read, and flushes after every fourth entry."""

    __slots__ = ("fails", "read")
    flush_entries = 4

    def __init__(self, items: dict[str, bytes] | None = None) -> None:
        self.read: list[str] = []
        self.fails = ""
        super().__init__(items)

    def get(self, key: str) -> bytes | None:
        if merkle.classify(key):
            self.read.append(key)
        return super().get(key)

    def keys(self, least_bytes: int = 0) -> list[str]:
        self.read.append("keys")
        return super().keys(least_bytes)

    def apply(
        self, writes: Mapping[str, bytes | None], term: int, leaves: Mapping[str, bytes | None] | None = None
    ) -> None:
        if self.fails and self.fails in writes:
            raise StoreError("no space left")
        super().apply(writes, term, leaves)


def counted(entries: int = 0) -> Journal:
    """A journal over such a store, with some entries."""
    journal = Journal(Counted({f"logical/{n}": b"%d" % n for n in range(50)}))
    journal.switch_on()
    for n in range(entries):
        journal.commit({f"logical/{n}": b"new", "token/a": b"%d" % n}, 0)
    return journal


def taken_over(journal: Journal) -> tuple[Journal, list[str]]:
    """The journal of a node that takes over, and what it read of the contents."""
    store = journal.storage
    assert isinstance(store, Counted)
    store.read.clear()
    successor = Journal(store)
    successor.switch_on()
    return successor, store.read


def is_sound(journal: Journal) -> bool:
    """Whether the index is one that is computed from the contents, and is right in itself."""
    tree, built = journal.tree, MerkleTree.build(shipped(journal).items())
    assert tree is not None
    same = (tree.root(), tree.guard()) == (built.root(), built.guard()) and not tree.differing_keys(built)
    return same and not is_corrupted(tree.check(""))


@pytest.mark.parametrize("entries", range(10))
def test_a_takeover_reads_nothing_but_nodes_and_tail(entries: int) -> None:
    successor, read = taken_over(counted(entries))
    assert read == []
    assert successor.tree is not None
    successor.tree.guard()
    names = sorted({f"logical/{n}" for n in range(entries // 4 * 4, entries)} | ({"token/a"} if entries % 4 else set()))

    assert sorted(read) == names, "for the guard, what the tail names"
    assert is_sound(successor)
    assert successor.last == entries


@pytest.mark.parametrize("lost", ["node/index/mark", "node/index/tail/1"])
def test_without_mark_or_with_a_gap_in_the_tail_the_index_is_built(lost: str) -> None:
    journal = counted(6)
    journal.storage.apply({lost: None}, 0)
    successor, read = taken_over(journal)

    assert "keys" in read
    assert is_sound(successor)
    again, read = taken_over(successor)
    assert read == [], "what was built is kept"
    assert is_sound(again)


def test_a_flush_keeps_leaves_and_nodes_and_the_next_entries_stand_in_the_tail() -> None:
    journal = counted(4)
    assert journal.flushed == 4
    assert journal.storage.leaf("logical/3") == merkle.leaf_digest("logical/3", b"new")
    journal.commit({"logical/3": b"newer", "logical/4": None}, 0)

    assert journal.flushed == 4
    assert journal.storage.leaf("logical/3") == merkle.leaf_digest("logical/3", b"new"), "until the next flush"
    journal.flush(0)
    assert journal.storage.leaf("logical/3") == merkle.leaf_digest("logical/3", b"newer")
    assert journal.storage.leaf("logical/4") is None
    assert journal.flushed == 5


def test_many_keys_of_few_entries_are_flushed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.vault.replication.tree.journal.FLUSH_KEYS", 10)
    journal = running()
    journal.commit({f"logical/{n}": b"1" for n in range(9)}, 0)
    assert journal.flushed == 0
    successor = Journal.from_state(journal.storage, pickle.loads(pickle.dumps(journal.state())))
    successor.commit({"logical/0": b"2"}, 0)

    assert successor.flushed == 2, "names count, each time they are named"


@pytest.mark.parametrize("key", ["logical/1", "token/b"])
def test_the_first_write_while_the_journal_is_off_takes_the_mark_away(key: str) -> None:
    journal = counted(6)
    journal.switch_off()
    journal.commit({"node/mode": b"m"}, 0)
    assert journal.storage.get("node/index/mark") is not None
    journal.commit({key: b"while off"}, 0)
    assert journal.storage.get("node/index/mark") is None
    successor, read = taken_over(journal)

    assert "keys" in read
    assert is_sound(successor)


def test_what_happens_while_the_journal_is_off_again_takes_the_mark_away_again() -> None:
    journal = counted(1)
    for _ in range(3):
        journal.switch_off()
        journal.commit({"logical/1": b"while off"}, 0)
        assert journal.storage.get("node/index/mark") is None
        journal.switch_on()
        assert journal.storage.get("node/index/mark") is not None
        assert is_sound(journal)


def test_a_flush_that_fails_leaves_the_step_and_is_made_up_for() -> None:
    journal = counted(3)
    store = journal.storage
    assert isinstance(store, Counted)
    store.fails = "node/index/mark"
    for n in range(3, 9):
        assert journal.commit({f"logical/{n}": b"new"}, 0) == n + 1
    assert journal.flushed == 0
    assert is_sound(journal)
    successor, read = taken_over(journal)
    assert "keys" in read, "the tail went round"
    assert is_sound(successor)
    store.fails = ""
    successor.commit({"logical/9": b"new"}, 0)

    assert successor.flushed == 10
    assert taken_over(successor)[1] == []


def test_what_rots_in_the_store_is_taken_for_nothing_else_by_who_takes_over() -> None:
    journal = counted(8)
    assert journal.tree is not None
    root = journal.tree.root()
    journal.storage.apply({"logical/7": b"rotten", "logical/8": None}, 0)
    successor, _ = taken_over(journal)

    assert successor.tree is not None
    assert successor.tree.root() == root
    assert successor.tree.leaf("logical/7") == merkle.leaf_digest("logical/7", b"new")


@pytest.mark.parametrize("layer", merkle.LAYERS)
def test_damage_of_a_node_outlives_a_takeover_and_a_flush_and_heals_as_without_them(layer: str) -> None:
    journal, reports = counted(6), []
    assert journal.tree is not None
    journal.corrupt(layer, "logical/1", 0)
    report = journal.tree.check("")
    assert is_corrupted(report)
    for _ in range(2):
        journal, read = taken_over(journal)
        assert journal.tree is not None
        assert read == []
        reports.append(journal.tree.check(""))
    assert reports == [report, report]
    assert isinstance(journal.storage, MemoryStorage)
    stays = Journal.from_state(MemoryStorage.from_state(journal.storage.state()), journal.state())
    for one in (stays, journal):
        one.commit({"logical/1": b"other"}, 0)
    healed, _ = taken_over(journal)
    assert healed.tree is not None
    assert stays.tree is not None

    assert healed.tree.check("") == stays.tree.check("")
    assert is_corrupted(healed.tree.check("")) == (layer == "subpage")


MOVES = st.lists(st.sampled_from(["takeover", "restore", "flush", "off", "ask", "fail", "cut"]), max_size=14)


@settings(max_examples=examples(60), deadline=None)
@given(STEPS, MOVES)
def test_the_index_is_that_of_the_contents_whatever_happens_between_steps(
    steps: list[dict[str, bytes | None]], moves: list[str]
) -> None:
    journal = counted()
    store = journal.storage
    assert isinstance(store, Counted)
    for step, move in zip(steps, [*moves, *["" for _ in steps]], strict=False):
        store.fails = {"fail": "node/index/mark", "cut": "node/wal"}.get(move, "")
        try:
            journal.commit(step, 0)
        except StoreError:
            assert move == "cut"
        if move == "off":
            journal.switch_off()
            journal.commit(step, 0)
            journal.switch_on()
        elif move in ("takeover", "cut"):
            journal = taken_over(journal)[0]
        elif move == "restore":
            journal = Journal.from_state(store, pickle.loads(pickle.dumps(journal.state())))
        elif move == "flush":
            journal.flush(0)
        elif move == "ask":
            assert is_sound(journal)
    store.fails = ""

    assert is_sound(journal)
    assert is_sound(taken_over(journal)[0])
    journal.flush(0)
    assert {key: store.leaf(key) for key in shipped(journal)} == dict(store.leaves())


def leading_in_turn() -> tuple[MemoryStorage, Journal, Journal]:
    """A store, the journal of a leader that made an entry, and that of the one which took over since."""
    storage = MemoryStorage()
    before, after = Journal(storage), Journal(storage)
    before.switch_on(1)
    before.commit({"logical/a": b"1"}, 1)
    storage.claim(2)
    after.switch_on(2)
    return storage, before, after


def test_what_the_next_leader_keeps_changes_no_guard_of_the_one_before():
    _, overtaken, leading = leading_in_turn()
    leading.flush(2)

    assert overtaken.tree is not None
    assert leading.tree is not None
    assert overtaken.tree.guard() == leading.tree.guard() != MerkleTree().guard()


@pytest.mark.parametrize("is_looked_at", [True, False])
def test_looking_at_the_root_keeps_nothing_that_was_read_for_it(is_looked_at):
    storage, _, overtaken = leading_in_turn()
    assert overtaken.tree is not None
    if is_looked_at:
        overtaken.tree.root_as_is()
    storage.claim(3)
    storage.apply({"logical/a": b"2"}, 3)

    assert overtaken.tree.guard() == MerkleTree.build([("logical/a", b"2")]).guard()
