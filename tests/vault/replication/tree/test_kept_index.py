"""The kept index: nodes and tail come back as they were stored, and anything else counts as none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.vault.replication.tree import kept_index
from labkit.vault.replication.tree.kept_index import (
    KeptNodes,
    changed_nodes,
    pages_to_store,
    read_nodes,
    read_tail,
    tail_slot,
)
from labkit.vault.replication.tree.merkle import MerkleTree, classify
from labkit.vault.replication.unindexed_writes import MARK
from labkit.vault.storage.memory import MemoryStorage

SLOTS = 4


def stored(count: int = 300) -> MemoryStorage:
    """A store with the nodes of a tree of some keys, as they stood after entry 7."""
    tree = MerkleTree.build((f"{folder}/{n}", b"%d" % n) for n in range(count) for folder in ("logical", "token"))
    tree.root()
    store = MemoryStorage()
    store.apply(changed_nodes(KeptNodes(7, int.from_bytes(tree.guard(), "big"), tree.nodes)), 0)
    return store


def with_tail(*entries: tuple[int, list[str]]) -> MemoryStorage:
    """A store with the slots of some entries."""
    store = MemoryStorage()
    for number, names in entries:
        slot = tail_slot(number.to_bytes(8, "big"), names)
        store.apply({f"{kept_index.TAIL}{number % SLOTS}": slot}, 0)
    return store


def test_nodes_come_back_as_they_were_stored() -> None:
    tree = MerkleTree.build((f"{folder}/{n}", b"%d" % n) for n in range(300) for folder in ("logical", "token"))
    tree.root()
    kept = read_nodes(stored().get)

    assert kept is not None
    assert (kept.number, kept.guard) == (7, int.from_bytes(tree.guard(), "big"))
    assert {**kept.nodes.state(), "changed": ()} == {**tree.nodes.state(), "changed": ()}
    assert kept.nodes.state()["changed"] == ()


def test_all_that_is_stored_is_of_this_cluster_only() -> None:
    assert {classify(key) for key in stored().keys()} == {0}  # noqa: SIM118  # a store is not a dict


def test_a_page_that_lost_its_leaves_is_deleted() -> None:
    store = stored(1)
    pages = len(store.keys())
    tree = MerkleTree()
    tree.nodes.changed = dict.fromkeys((tree_, page) for tree_ in (1, 2) for page in range(256))
    store.apply(changed_nodes(KeptNodes(8, 0, tree.nodes)), 0)

    assert pages == 3
    assert store.keys() == [MARK]


@pytest.mark.parametrize("stands", [None, b"", b"short", bytes(kept_index.MARK_BYTES + 1)])
def test_without_a_whole_mark_there_are_no_nodes(stands: bytes | None) -> None:
    store = stored()
    store.apply({MARK: stands}, 0)

    assert read_nodes(store.get) is None


def test_a_page_of_another_length_counts_as_no_nodes() -> None:
    store = stored()
    page = next(key for key in store.keys() if key.startswith("node/index/local/"))  # noqa: SIM118  # a store is not a dict
    store.apply({page: b"cut off"}, 0)

    assert read_nodes(store.get) is None


NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=4)


@given(st.lists(NAMES, max_size=SLOTS))
def test_a_tail_gives_every_name_once_in_order(entries: list[list[str]]) -> None:
    store = with_tail(*enumerate(entries, 11))
    names = [name for names in entries for name in names]

    assert read_tail(store.get, 10, 10 + len(entries), SLOTS) == list(dict.fromkeys(names))


def test_a_tail_with_a_gap_or_an_older_entry_in_a_slot_is_none() -> None:
    assert read_tail(with_tail((11, ["a"]), (13, ["b"])).get, 10, 13, SLOTS) is None
    assert read_tail(with_tail((8, ["old"]), (11, ["a"])).get, 10, 12, SLOTS) is None
    assert read_tail(with_tail((11, ["a"]), (12, ["b"])).get, 10, 12, SLOTS) == ["a", "b"]


def test_a_tail_longer_than_its_slots_or_before_its_nodes_is_none() -> None:
    whole = with_tail(*[(number, ["a"]) for number in range(11, 16)])

    assert read_tail(whole.get, 11, 15, SLOTS) == ["a"]
    assert read_tail(whole.get, 10, 15, SLOTS) is None
    assert read_tail(whole.get, 16, 15, SLOTS) is None


def test_a_slot_that_is_no_text_is_none() -> None:
    store = with_tail((11, ["a"]))
    store.apply({f"{kept_index.TAIL}{11 % SLOTS}": (11).to_bytes(8, "big") + b"\xc3"}, 0)

    assert read_tail(store.get, 10, 11, SLOTS) is None


def test_what_a_build_stores_replaces_all_that_is_stored() -> None:
    """Pages that neither side has are left out; names that are no page's are not looked at."""
    few = MerkleTree.build([("logical/a", b"1"), ("token/b", b"2")])
    few.root()
    store = stored()
    store.apply({f"{kept_index.PAGES[1]}{name}": b"x" for name in ("256", "first", "007")}, 0)
    pages = pages_to_store(store.list, few.nodes)
    few.nodes.changed = pages
    store.apply(changed_nodes(KeptNodes(9, int.from_bytes(few.guard(), "big"), few.nodes)), 0)
    kept = read_nodes(store.get)

    assert kept is not None
    assert kept.nodes.subpages == few.nodes.subpages
    assert {*few.nodes.subpages[1]} <= {page for tree, page in pages if tree == 1} <= {*range(256)}
    assert len(pages_to_store(MemoryStorage().list, few.nodes)) == 2
