"""The Merkle tree: equal roots for equal contents, and damage found where it is."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.vault.replication.tree import leaves, merkle
from labkit.vault.replication.tree.merkle import FAN_OUT, LAYERS, LOCAL, NO_TREE, REPLICATED, TREES, MerkleTree
from labkit.vault.replication.tree.tree_nodes import is_corrupted
from tests.counting import calls_made
from tests.examples import examples

CHECKED_AT = "2026-01-02T03:04:05Z"

KEYS = st.sampled_from(
    [
        "core/mounts",
        "policy/app",
        "logical/u/a",
        "logical/u/b",
        "token/id/1",
        "lease/x",
        "node/mode",
        "node/wal",
    ]
)
WRITES = st.lists(st.tuples(KEYS, st.none() | st.binary(max_size=3)), max_size=12)


def contents(writes: list[tuple[str, bytes | None]]) -> dict[str, bytes]:
    """What a store holds of the two trees after some writes."""
    held: dict[str, bytes] = {}
    for key, value in writes:
        if value is None:
            held.pop(key, None)
        elif merkle.classify(key) != NO_TREE:
            held[key] = value
    return held


def written(writes: list[tuple[str, bytes | None]]) -> MerkleTree:
    merkle_tree = MerkleTree()
    for key, value in writes:
        merkle_tree.change(key, value)
    return merkle_tree


def many(count: int = 2_000) -> MerkleTree:
    return MerkleTree.build((f"logical/u/{n}", b"%d" % n) for n in range(count))


def subtree_by_hand(leaves: dict[str, bytes]) -> bytes:
    """The rules of the module's docstring, word for word, slowly."""
    subpages = [[0] * 256 for _ in range(256)]
    for key, value in leaves.items():
        leaf = sha256(key.encode() + b"\xff" + value).digest()[:20]
        place = crc32(key.encode()) & 0xFFFF
        subpages[place >> 8][place & 0xFF] ^= int.from_bytes(leaf, "big")
    pages = [
        sha256(b"\xfe\x01" + b"".join(number.to_bytes(20, "big") for number in page)).digest()[:20] for page in subpages
    ]
    return sha256(b"\xfe\x02" + b"".join(pages)).digest()[:20]


def test_the_root_is_what_the_rules_say() -> None:
    replicated = {f"logical/u/{n}": b"value %d" % n for n in range(700)}
    local = {f"token/id/{n}": b"token %d" % n for n in range(300)}
    merkle_tree = MerkleTree.build([*replicated.items(), *local.items(), ("node/mode", b"mine alone")])

    roots = [subtree_by_hand(replicated), subtree_by_hand(local)]
    assert [merkle_tree.subtree_root(tree) for tree in TREES] == roots
    assert merkle_tree.root() == sha256(b"\xfe\x03" + b"".join(roots)).hexdigest()[:40]
    assert len(merkle_tree) == 1_000


def test_the_empty_tree_has_the_root_of_two_empty_trees() -> None:
    empty = subtree_by_hand({})

    assert MerkleTree().root() == sha256(b"\xfe\x03" + empty + empty).hexdigest()[:40] == MerkleTree.build([]).root()
    assert MerkleTree().guard() == bytes(20)


def test_the_guard_is_the_xor_of_all_leaves() -> None:
    one, two = merkle.leaf_digest("logical/a", b"1"), merkle.leaf_digest("token/b", b"2")
    merkle_tree = MerkleTree.build([("logical/a", b"1"), ("token/b", b"2")])

    assert merkle_tree.guard() == bytes(a ^ b for a, b in zip(one, two, strict=True))


@settings(max_examples=examples(60))
@given(WRITES, WRITES)
def test_roots_and_guards_are_equal_exactly_when_contents_are(
    one: list[tuple[str, bytes | None]], two: list[tuple[str, bytes | None]]
) -> None:
    same = contents(one) == contents(two)
    first, second = written(one), written(two)

    assert (first.guard() == second.guard()) == same
    assert (first.root() == second.root()) == same
    assert (first.differing_keys(second) == []) == same
    assert (first.differing_pages(second) == []) == same


@settings(max_examples=examples(60))
@given(WRITES, st.data())
def test_asking_in_between_changes_nothing(writes: list[tuple[str, bytes | None]], data: st.DataObject) -> None:
    asked = MerkleTree()
    for key, value in writes:
        asked.change(key, value)
        question = data.draw(st.sampled_from(["root", "guard", "leaf", "state", "none"]))
        if question == "state":
            asked = MerkleTree.from_state(asked.state())
        elif question == "leaf":
            asked.leaf(key)
        elif question != "none":
            getattr(asked, question)()
    built = MerkleTree.build(contents(writes).items())

    assert asked.root() == built.root()
    assert asked.guard() == built.guard()
    assert asked.leaves(REPLICATED) == built.leaves(REPLICATED)
    assert asked.leaves(LOCAL) == built.leaves(LOCAL)
    assert not is_corrupted(asked.check(CHECKED_AT))


OCCASIONS = st.lists(st.sampled_from(["root_as_is", "root", "guard", "corrupt", "kept", "state"]), max_size=3)


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(KEYS, st.none() | st.binary(max_size=2), OCCASIONS), max_size=12))
def test_a_root_that_is_looked_at_is_the_root_and_leaves_no_mark(
    writes: list[tuple[str, bytes | None, list[str]]],
) -> None:
    looked, other = MerkleTree(), MerkleTree()
    for key, value, occasions in writes:
        for tree in (looked, other):
            tree.change(key, value)
        for occasion in ("root_as_is", *occasions):
            if occasion == "root_as_is":
                assert looked.root_as_is() == MerkleTree.from_state(other.state()).root()
            elif occasion == "state":
                looked, other = MerkleTree.from_state(looked.state()), MerkleTree.from_state(other.state())
            else:
                for tree in (looked, other):
                    _ask(tree, occasion)
            assert _orders(looked.state()) == _orders(other.state())


def _ask(tree: MerkleTree, occasion: str) -> None:
    if occasion == "kept":
        tree.changed_leaves()
        tree.kept_now()
    elif occasion == "corrupt":
        tree.corrupt("page", "logical/u/a")
    else:
        getattr(tree, occasion)()


def _orders(state: Any) -> Any:
    """A state with the order of what it has."""
    return [(key, _orders(value)) for key, value in state.items()] if isinstance(state, dict) else state


def test_what_was_folded_to_be_looked_at_is_not_folded_again() -> None:
    looked, other = many(), many()
    for tree in (looked, other):
        tree.root()
        tree.change("logical/u/5", b"another")
    looked.root_as_is()

    assert calls_made(looked.root_as_is) < 5
    assert calls_made(looked.root) < 0.6 * calls_made(other.root)


def test_a_build_in_one_pass_is_what_changes_one_by_one_make() -> None:
    mixed = [(f"{folder}/{n}", b"%d" % n) for n in range(30) for folder in ("logical", "token")]
    one_by_one = MerkleTree()
    for key, value in mixed:
        one_by_one.change(key, value)
    assert MerkleTree.build(mixed).guard() == one_by_one.guard()


@pytest.mark.parametrize("asked", ["root", "subtree", "pages", "subpages", "leaf", "leaves", "guard", "check"])
def test_whatever_is_asked_first_after_a_change_counts_the_change(asked: str) -> None:
    page = merkle.bucket("logical/new") // FAN_OUT
    ask: dict[str, Any] = {
        "root": lambda tree: tree.root(),
        "subtree": lambda tree: tree.subtree_root(REPLICATED),
        "pages": lambda tree: tree.pages(REPLICATED),
        "subpages": lambda tree: tree.subpages(REPLICATED, page),
        "leaf": lambda tree: tree.leaf("logical/new"),
        "leaves": lambda tree: tree.leaves(REPLICATED),
        "guard": lambda tree: tree.guard(),
        "check": lambda tree: tree.check(CHECKED_AT),
    }
    changed, built = many(20), {f"logical/u/{n}": b"%d" % n for n in range(20)}
    before = ask[asked](changed)
    changed.change("logical/new", b"n")
    after = ask[asked](changed)

    assert after == ask[asked](MerkleTree.build([*built.items(), ("logical/new", b"n")]))
    assert after != before


def test_a_tree_shows_how_many_keys_it_has() -> None:
    assert repr(many(3)) == "MerkleTree(3 keys)"


def test_a_tree_emptied_again_keeps_no_page() -> None:
    merkle_tree = many(50)
    for n in range(50):
        merkle_tree.change(f"logical/u/{n}", None)

    assert merkle_tree.root() == MerkleTree().root()
    assert merkle_tree.state()["nodes"]["subpages"] == {1: {}, 2: {}}


def test_a_state_is_not_touched_by_what_comes_after_it() -> None:
    merkle_tree = many(20)
    saved = merkle_tree.state()
    before = MerkleTree.from_state(saved).root()
    merkle_tree.change("logical/u/3", b"other")
    merkle_tree.corrupt("subpage", "logical/u/3")

    assert MerkleTree.from_state(saved).root() == before != merkle_tree.root()


def test_keys_are_listed_by_bucket_sorted() -> None:
    merkle_tree = many()
    places = {merkle.bucket(f"logical/u/{n}") for n in (5, 70, 900)}
    found = merkle_tree.leaves(REPLICATED, places)

    assert {"logical/u/5", "logical/u/70", "logical/u/900"} <= found.keys()
    assert list(found) == sorted(found)
    assert all(merkle.bucket(key) in places for key in found)
    assert found["logical/u/5"] == merkle.leaf_digest("logical/u/5", b"5") == merkle_tree.leaf("logical/u/5")


# ---- damage -----------------------------------------------------------------------------------------------


def test_a_sound_report_has_exactly_the_published_shape() -> None:
    merkle_tree = many()

    assert merkle_tree.check(CHECKED_AT) == {
        "corrupted_root": False,
        "corrupted_tree_map": {
            "1": {
                "tree_type": "replicated",
                "corrupted_subtree_root": False,
                "root_hash": b64encode(merkle_tree.subtree_root(REPLICATED)).decode(),
                "corrupted_index_tuples_map": None,
            },
            "2": {
                "tree_type": "local",
                "corrupted_subtree_root": False,
                "root_hash": b64encode(merkle_tree.subtree_root(LOCAL)).decode(),
                "corrupted_index_tuples_map": None,
            },
        },
        "last_corruption_check_epoch": CHECKED_AT,
    }


def faults(report: dict[str, Any]) -> dict[str, Any]:
    """What a report calls corrupted, and nothing else."""
    trees = report["corrupted_tree_map"]
    return {
        "root": report["corrupted_root"],
        "subtrees": [number for number, tree in trees.items() if tree["corrupted_subtree_root"]],
        "pages": {number: tree["corrupted_index_tuples_map"] for number, tree in trees.items()},
    }


def damaged_pages(merkle_tree: MerkleTree) -> dict[str, list[str]]:
    """The numbers of the pages that a check calls corrupted, of each tree."""
    pages = faults(merkle_tree.check(CHECKED_AT))["pages"]
    return {number: sorted(found or {}) for number, found in pages.items()}


@pytest.mark.parametrize("layer", LAYERS)
def test_each_layer_is_damaged_and_found_by_itself(layer: str) -> None:
    merkle_tree = many()
    guard = merkle_tree.guard()
    place = merkle_tree.corrupt(layer, "logical/u/7")
    page, subpage = divmod(merkle.bucket("logical/u/7"), FAN_OUT)
    found = faults(merkle_tree.check(CHECKED_AT))

    assert found["root"] == (layer == "root")
    assert found["subtrees"] == (["1"] if layer == "subtree" else [])
    pages = {
        "page": {str(page): {"corrupted": True, "subpages": []}},
        "subpage": {str(page): {"corrupted": False, "subpages": [subpage]}},
    }
    assert found["pages"] == {"1": pages.get(layer), "2": None}
    assert place.layer == layer
    assert (place.page, place.subpage) == (
        page if layer in ("page", "subpage") else -1,
        subpage if layer == "subpage" else -1,
    )
    assert merkle_tree.guard() == guard, "damage to a node does not change contents"
    assert is_corrupted(merkle_tree.check(CHECKED_AT))


@pytest.mark.parametrize("chosen", range(16))
def test_any_choice_of_layers_can_be_damaged_at_once(chosen: int) -> None:
    merkle_tree = many(100)
    layers = [layer for number, layer in enumerate(LAYERS) if chosen >> number & 1]
    for layer in layers:
        merkle_tree.corrupt(layer, "logical/u/7")
    found = faults(merkle_tree.check(CHECKED_AT))
    entry = next(iter((found["pages"]["1"] or {"": {"corrupted": False, "subpages": []}}).values()))

    assert found["root"] == ("root" in layers)
    assert found["subtrees"] == (["1"] if "subtree" in layers else [])
    assert entry["corrupted"] == ("page" in layers)
    assert bool(entry["subpages"]) == ("subpage" in layers)


@pytest.mark.parametrize("layer", ["root", "subtree", "page"])
def test_what_is_folded_heals_with_the_next_write_under_it(layer: str) -> None:
    merkle_tree = many()
    merkle_tree.corrupt(layer, "logical/u/7")
    merkle_tree.change("logical/u/7", b"other")

    assert not is_corrupted(merkle_tree.check(CHECKED_AT))


def test_a_subpage_never_heals_and_spreads_upward_with_the_next_write_under_it() -> None:
    merkle_tree, sound = many(), many()
    merkle_tree.corrupt("subpage", "logical/u/7")
    assert merkle_tree.root() == sound.root(), "nothing above it was computed again"
    merkle_tree.change("logical/u/7", b"other")
    sound.change("logical/u/7", b"other")
    page, subpage = divmod(merkle.bucket("logical/u/7"), FAN_OUT)

    assert faults(merkle_tree.check(CHECKED_AT)) == {
        "root": True,
        "subtrees": ["1"],
        "pages": {"1": {str(page): {"corrupted": True, "subpages": [subpage]}}, "2": None},
    }
    assert merkle_tree.differing_pages(sound) == [(REPLICATED, page)]
    assert merkle_tree.differing_keys(sound) == []


def test_a_damaged_page_spreads_when_another_page_is_folded() -> None:
    merkle_tree = many()
    merkle_tree.corrupt("page", "logical/u/7")
    other = next(
        f"logical/u/{n}"
        for n in range(2_000)
        if merkle.bucket(f"logical/u/{n}") >> 8 != merkle.bucket("logical/u/7") >> 8
    )
    merkle_tree.change(other, b"other")
    found = faults(merkle_tree.check(CHECKED_AT))

    assert found["root"]
    assert found["subtrees"] == ["1"]


def test_damage_twice_does_not_undo_itself() -> None:
    merkle_tree = many()
    for layer in LAYERS:
        merkle_tree.corrupt(layer, "logical/u/7")
        merkle_tree.corrupt(layer, "logical/u/7")
    found = faults(merkle_tree.check(CHECKED_AT))

    assert found["root"]
    assert found["subtrees"] == ["1"]
    assert [(entry["corrupted"], len(entry["subpages"])) for entry in found["pages"]["1"].values()] == [(True, 1)]


def test_damage_folds_first() -> None:
    merkle_tree = many()
    merkle_tree.change("logical/u/7", b"other")
    merkle_tree.corrupt("page", "logical/u/7")

    assert damaged_pages(merkle_tree) == {"1": [f"{merkle.bucket('logical/u/7') >> 8}"], "2": []}


def test_damage_is_state() -> None:
    merkle_tree = many()
    merkle_tree.corrupt("subpage", "token/x")

    assert damaged_pages(MerkleTree.from_state(merkle_tree.state())) == {
        "1": [],
        "2": [f"{merkle.bucket('token/x') >> 8}"],
    }


def test_without_a_key_the_first_one_is_chosen_and_an_empty_tree_can_be_damaged() -> None:
    merkle_tree = MerkleTree.build([("policy/b", b"1"), ("core/a", b"2")])

    assert merkle_tree.corrupt("subpage")[1:] == (REPLICATED, *divmod(merkle.bucket("core/a"), FAN_OUT))
    assert MerkleTree().corrupt("subtree") == ("subtree", REPLICATED, -1, -1)


def test_damage_needs_a_layer_and_a_key_of_a_tree() -> None:
    with pytest.raises(ValueError, match="no layer named 'leaf' in the tree; choose one of root, subtree"):
        many(1).corrupt("leaf")
    with pytest.raises(ValueError, match="node/mode is in no tree"):
        many(1).corrupt("page", "node/mode")


@pytest.mark.parametrize("size_bytes", [0, leaves.MAX_CACHED_BYTES, leaves.MAX_CACHED_BYTES + 1])
def test_a_leaf_is_what_the_rules_say_cached_or_not(size_bytes: int) -> None:
    stored = b"\xfe" * size_bytes
    for key in ("logical/a", "logical/é", "logical/a"):
        wanted = sha256(key.encode() + b"\xff" + stored).digest()[:20]
        merkle_tree = MerkleTree.build([])
        merkle_tree.change(key, stored)
        assert merkle.leaf_digest(key, stored) == merkle_tree.leaf(key) == wanted
