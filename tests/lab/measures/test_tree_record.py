"""A tree record disturbs nothing, is plain, and goes on in branches, snapshots and labs of earlier."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.measures.tree_record import DAMAGE, EARLIER, LEAVES, REACH, leaves_of, stored_leaves
from labkit.vault.replication.tree.merkle import MerkleTree


@pytest.fixture(scope="module")
def pair() -> Lab:
    """A pair whose trees are recorded from the beginning."""
    lab = Lab.pair(seed=7)
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"n": 1}})
    return lab.run("1s")


def rows_of(lab: Lab) -> list[tuple[Any, ...]]:
    assert lab._pictures is not None
    return list(lab._pictures.rows)


def test_a_lab_goes_on_as_it_does_without_and_nothing_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(recorded: bool) -> Lab:
        lab = Lab.pair(seed=11)
        if recorded:
            lab.keep_pictures()
        lab.replicate("paris", "tokyo")
        lab["paris"].post("secret/data/app", {"data": {"n": 1}})
        return lab.run("2s")

    folds, fold = [0], MerkleTree._fold

    def counted(tree: MerkleTree) -> None:
        folds[0] += 1
        fold(tree)

    monkeypatch.setattr(MerkleTree, "_fold", counted)
    plain = run(False)
    count, folds[0] = folds[0], 0
    recorded = run(True)

    assert folds[0] == count > 0
    assert recorded.trace.digest() == plain.trace.digest()
    assert recorded.queries.root_as_is("tokyo") == plain.queries.root_as_is("tokyo")
    assert "pictures" not in plain.snapshot().state
    assert plain._pictures is None
    recorded.keep_pictures()
    assert len([row for row in rows_of(recorded) if row[0] == "mode" and row[1] == 0]) == 2, "asked for again"


def test_a_branch_and_a_lab_of_earlier_keep_the_past(pair: Lab) -> None:
    lab = pair.branch("past")
    lab.run("1s")
    other = lab.branch("other")
    lab.run("1s")
    other["paris"].post("secret/data/apart", {"data": {"n": 1}})
    other.run("1s")
    ours, theirs = rows_of(lab), rows_of(other)

    assert theirs[: len(ours)] == ours
    assert len(theirs) > len(ours)
    begun = Lab.pair(seed=7)
    begun.keep_pictures()
    begun.run("3s")
    assert rows_of(begun.at("2s")) == [row for row in rows_of(begun) if row[1] <= 2_000_000_000]


def test_it_begins_with_what_is_so_also_what_is_on_its_way(pair: Lab) -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("1s")
    lab["paris"].post("secret/data/app", {"data": {"n": 1}})
    lab.keep_pictures()
    rows = {kind: [row[2:] for row in rows_of(lab) if row[0] == kind] for kind in (LEAVES, REACH, EARLIER)}

    assert [cluster for cluster, _ in rows[LEAVES]] == ["paris", "tokyo"]
    ((cluster, upstream, entry),) = rows[REACH]
    assert (cluster, upstream) == ("tokyo", "paris")
    ((upstream, earlier),) = rows[EARLIER]
    numbers = [number for number, _ in earlier]
    assert upstream == "paris"
    assert numbers == list(range(entry + 1, lab.queries.last_entry("paris") + 1)) != []


def test_leaves_are_those_of_the_index_and_without_one_of_the_store(pair: Lab) -> None:
    lab = pair.branch("damaged")
    lab.corrupt("tokyo", "storage")
    kept, stored = leaves_of(lab.queries, "tokyo"), stored_leaves(lab.queries, "tokyo")

    assert kept == leaves_of(lab.queries, "paris")
    assert len([key for key in kept if kept[key] != stored[key]]) == 1
    assert [row[3] for row in rows_of(lab) if row[0] == DAMAGE] == ["storage"]
    lab.crash("tokyo")
    assert leaves_of(lab.queries, "tokyo") == stored


def test_what_is_recorded_is_plain(pair: Lab) -> None:
    plain = (str, int, bytes, tuple, type(None))

    def judge(value: Any) -> None:
        assert type(value) in plain
        for part in value if isinstance(value, tuple) else ():
            judge(part)

    assert pair._pictures is not None
    state = pair._pictures.state()
    for chunk in state["rows"]:
        judge(chunk)
    assert pair._pictures.state()["rows"] == state["rows"]
