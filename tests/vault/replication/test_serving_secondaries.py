"""What an upstream answers: shapes, generations, limits, and never a key outside both trees."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.vault.replication import serving_secondaries
from labkit.vault.replication.serving_secondaries import Here, SecondaryStream
from labkit.vault.replication.tree import merkle
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.replication.tree.merkle import FAN_OUT, LOCAL, REPLICATED, MerkleTree
from labkit.vault.storage.memory import MemoryStorage

EMPTY = MerkleTree()


@pytest.fixture
def journal() -> Journal:
    """An upstream that has written four entries."""
    made = Journal(MemoryStorage())
    made.switch_on()
    for number in range(1, 5):
        made.commit({f"logical/{number}": b"v%d" % number, "token/t": b"t%d" % number, "node/x": b"mine"}, 0)
    return made


def place(key: str) -> list[int]:
    return [merkle.classify(key), merkle.bucket(key)]


def test_the_guard_of_a_known_generation_is_found(journal: Journal) -> None:
    guard = MerkleTree.build([("logical/1", b"v1"), ("logical/2", b"v2"), ("token/t", b"t2")]).guard()

    assert serving_secondaries.guard_hash(journal, {"serial": 7, "guard": guard, "compare": False}) == {
        "serial": 7,
        "found": True,
        "index": 2,
        "last": 4,
    }


def test_a_missed_guard_is_answered_with_generation_and_subtree_roots(journal: Journal) -> None:
    assert journal.tree is not None

    assert serving_secondaries.guard_hash(journal, {"serial": 7, "guard": b"\1" * 20, "compare": False}) == {
        "serial": 7,
        "found": False,
        "generation": 4,
        "roots": [journal.tree.subtree_root(REPLICATED), journal.tree.subtree_root(LOCAL)],
    }


def question(generation: int, keys: list[str]) -> dict[str, Any]:
    """Subpages of a secondary that has nothing, for the pages of some keys."""
    pages = [[merkle.classify(key), merkle.bucket(key) // FAN_OUT, b""] for key in keys]
    return {"serial": 1, "generation": generation, "subpages": pages}


def test_pages_subpages_and_values_are_those_of_the_generation(journal: Journal) -> None:
    journal.commit({"logical/1": b"later", "token/t": None, "logical/new": b"n"}, 0)
    asked = {"serial": 1, "generation": 4, "pages": [[tree, merkle.compared(EMPTY.pages(tree))] for tree in (1, 2)]}
    then = [f"logical/{number}" for number in range(1, 5)] + ["token/t"]

    assert serving_secondaries.conflicting_pages(journal, asked)["pages"] == sorted(
        [merkle.classify(key), merkle.bucket(key) // FAN_OUT] for key in then
    )
    assert serving_secondaries.sub_page_hashes(journal, question(4, ["logical/1", "token/t"])) == {
        "serial": 1,
        "done": 2,
        "buckets": [place("logical/1"), place("token/t")],
        "leaves": [
            ["logical/1", merkle.leaf_digest("logical/1", b"v1")],
            ["token/t", merkle.leaf_digest("token/t", b"t4")],
        ],
    }
    wanted = ["logical/1", "logical/2", "token/t", "logical/new"]
    assert serving_secondaries.fetch_keys(
        journal, {"serial": 1, "generation": 4, "keys": wanted, "limit_bytes": 99}
    ) == {
        "serial": 1,
        "values": [["logical/1", b"v1"], ["logical/2", b"v2"], ["token/t", b"t4"], ["logical/new", None]],
    }


def test_all_pages_of_a_tree_are_listed_in_one_pass(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []

    def leaves(self: MerkleTree, tree: int, buckets: Any) -> dict[str, bytes]:
        passes.append(tree)
        return original(self, tree, buckets)

    original = MerkleTree.leaves
    monkeypatch.setattr(MerkleTree, "leaves", leaves)
    answer = serving_secondaries.sub_page_hashes(
        journal, question(4, ["logical/1", "token/t", "logical/2", "logical/3"])
    )

    assert answer["done"] == 4
    assert passes == [REPLICATED, LOCAL]


def test_equal_subpages_are_not_listed(journal: Journal) -> None:
    assert journal.tree is not None
    page = merkle.bucket("logical/1") // FAN_OUT
    asked = {"serial": 1, "generation": 4, "subpages": [[1, page, merkle.compared(journal.tree.subpages(1, page))]]}

    assert serving_secondaries.sub_page_hashes(journal, asked) == {"serial": 1, "done": 1, "buckets": [], "leaves": []}


def test_long_answers_are_cut_between_pages(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_secondaries, "DIFF_BYTES", 10)
    answer = serving_secondaries.sub_page_hashes(journal, question(4, ["logical/1", "logical/2", "logical/3"]))

    assert answer["done"] == 1
    assert answer["leaves"] == [["logical/1", merkle.leaf_digest("logical/1", b"v1")]]


def test_a_fetch_is_cut_at_its_limit_but_gives_one(journal: Journal) -> None:
    asked = {"serial": 1, "generation": 4, "keys": ["logical/1", "logical/2", "logical/3"], "limit_bytes": 0}
    assert serving_secondaries.fetch_keys(journal, asked)["values"] == [["logical/1", b"v1"]]
    for limit_bytes, values in ((10, 1), (11, 2), (12, 2), (21, 2), (22, 3)):
        assert len(serving_secondaries.fetch_keys(journal, {**asked, "limit_bytes": limit_bytes})["values"]) == values


def test_a_value_that_is_not_what_its_leaf_stands_for_is_named_and_not_given(journal: Journal) -> None:
    journal.flush(0)
    journal.storage.apply({"logical/1": b"rotten", "logical/2": None}, 0)
    asked = {"serial": 1, "generation": 4, "keys": ["logical/1", "logical/2", "logical/3"], "limit_bytes": 99}

    values = serving_secondaries.fetch_keys(journal, asked)["values"]
    assert [[key, value is False] for key, value in values] == [
        ["logical/1", True],
        ["logical/2", True],
        ["logical/3", False],
    ]


@pytest.mark.parametrize("rpc", ["conflicting_pages", "sub_page_hashes", "fetch_keys", "stream_wals"])
def test_a_generation_out_of_reach_is_gone(rpc: str) -> None:
    journal = Journal(MemoryStorage(), limit_entries=2)
    journal.switch_on()
    for number in range(5):
        journal.commit({"logical/a": b"%d" % number}, 0)
    asked = {"serial": 3, "generation": 2, "from": 2, "pages": [], "subpages": [], "keys": [], "limit_bytes": 1}

    assert serving_secondaries.QUESTIONS[rpc](journal, asked) == {"serial": 3, "gone": True}
    assert "gone" not in serving_secondaries.QUESTIONS[rpc](journal, {**asked, "generation": 3, "from": 3})


def test_a_stream_is_pushed_in_parts_and_ends_level(journal: Journal) -> None:
    agreed = serving_secondaries.stream_wals(journal, {"serial": 8, "from": 1})
    assert agreed == {"serial": 8, "from": 1, "last": 4}
    stream = serving_secondaries.opened(agreed)
    assert stream == SecondaryStream(8, 1)
    pushes: list[Any] = []
    while stream.sent != journal.last:
        stream, message, _ = serving_secondaries.push(stream, serving_secondaries.shipment(journal, stream.sent, 1))
        pushes.append(message)

    assert stream == SecondaryStream(8, 4)
    assert [[entry[0] for entry in message["entries"]] for message in pushes] == [[2], [3], [4]]
    assert pushes[0] == {"serial": 8, "entries": ((2, (("logical/2", b"v2"), ("token/t", b"t2"))),)}
    whole = {"serial": 9, "entries": tuple(entry for message in pushes for entry in message["entries"])}
    assert serving_secondaries.push(SecondaryStream(9, 1), serving_secondaries.shipment(journal, 1)) == (
        SecondaryStream(9, 4),
        whole,
        serving_secondaries.size_bytes(whole),
    )


def test_a_stream_behind_the_backlog_is_reported_once() -> None:
    journal = Journal(MemoryStorage(), limit_entries=2)
    journal.switch_on()
    for number in range(5):
        journal.commit({"logical/a": b"%d" % number}, 0)
    stream, message, size = serving_secondaries.push(SecondaryStream(8, 1), serving_secondaries.shipment(journal, 1))

    assert (stream, message) == (SecondaryStream(8, 1, broken=True), {"serial": 8, "gone": True})
    assert size == serving_secondaries.size_bytes(message)
    assert serving_secondaries.opened({"serial": 8, "gone": True}) is None


def test_a_heartbeat_is_answered_with_clock_addresses_and_positions(journal: Journal) -> None:
    assert journal.tree is not None
    asked = {"serial": 2, "sent_ns": 55, "asked": 8, "aside": True, "position": 3}
    here = Here(1_000, 6, "http://api", "a", ("a", "b"), SecondaryStream(8, 4))

    assert serving_secondaries.echo(journal, asked, here) == {
        "serial": 2,
        "sent_ns": 55,
        "asked": 8,
        "aside": True,
        "wall_ns": 1_000,
        "api_addr": "http://api",
        "cluster_addr": "a",
        "cluster_addrs": ["a", "b"],
        "term": 6,
        "last_wal": 4,
        "stream": 8,
        "sent": 4,
        "guard": journal.tree.guard(),
        "roots": [],
    }
    behind = serving_secondaries.echo(journal, asked, here._replace(stream=SecondaryStream(8, 3)))
    assert (behind["sent"], behind["guard"]) == (3, b"")
    for unknown in (None, SecondaryStream(8, 3, broken=True)):
        assert serving_secondaries.echo(journal, asked, here._replace(stream=unknown))["stream"] == 0


def test_asking_changes_nothing_of_the_upstream(journal: Journal) -> None:
    before = journal.tree.root() if journal.tree else ""
    serving_secondaries.guard_hash(journal, {"serial": 1, "guard": bytes(20), "compare": False})
    serving_secondaries.sub_page_hashes(journal, question(2, ["logical/1"]))
    assert journal.tree is not None
    assert (journal.last, journal.tree.root()) == (4, before)


def test_the_size_of_a_message_grows_with_its_contents() -> None:
    small = serving_secondaries.size_bytes({"serial": 1, "values": [["logical/a", b"x" * 100]]})

    assert 115 < small < 150
    assert serving_secondaries.size_bytes({"serial": 1, "values": [["logical/a", b"x" * 1_100]]}) == small + 1_000
    assert serving_secondaries.size_bytes([None, 5, "é", ()]) == 2 + 4 + 4 + 3 + 2


def test_what_is_not_said_of_a_stream_or_a_node_is_nothing() -> None:
    assert SecondaryStream(8, 4) == (8, 4, False)
    assert Here(1) == (1, 0, "", "", (), None)


CHANGES = st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=9)), max_size=3)


@given(st.lists(st.tuples(st.integers(0, 2**63), CHANGES.map(tuple)), max_size=3))
def test_a_push_weighs_what_its_parts_do(entries: list[Any]) -> None:
    assert serving_secondaries.push_bytes(entries) == serving_secondaries.size_bytes({"serial": 7, "entries": entries})


def test_who_asks_to_compare_is_not_looked_for(journal: Journal) -> None:
    assert journal.tree is not None
    answer = serving_secondaries.guard_hash(journal, {"serial": 7, "guard": journal.tree.guard(), "compare": True})

    assert (answer["found"], answer["generation"]) == (False, journal.last)
    assert answer["roots"] == journal.tree.roots()[1:]


def test_roots_come_when_nothing_is_on_its_way(journal: Journal) -> None:
    assert journal.tree is not None
    asked = {"serial": 2, "sent_ns": 55, "asked": 8, "aside": True, "position": journal.last}
    here = Here(1_000, stream=SecondaryStream(8, journal.last))

    assert serving_secondaries.echo(journal, asked, here)["roots"] == journal.tree.roots()
    assert journal.tree.roots()[0].hex() == journal.tree.root()
    for other in ({**asked, "position": journal.last - 1}, {**asked, "position": -1}):
        assert serving_secondaries.echo(journal, other, here)["roots"] == []
    for stream in (None, SecondaryStream(8, journal.last - 1), SecondaryStream(8, journal.last, broken=True)):
        assert serving_secondaries.echo(journal, asked, here._replace(stream=stream))["roots"] == []
