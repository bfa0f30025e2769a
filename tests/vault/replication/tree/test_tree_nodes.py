"""Tree nodes: a fold is what a computation from the start gives, and damage stays where it is (see test_merkle)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labkit.vault.replication.tree.tree_nodes import (
    EMPTY,
    FAN_OUT,
    LAYERS,
    LOCAL,
    REPLICATED,
    TREES,
    TreeNode,
    TreeNodes,
    compared,
    differing_parts,
    page_digest,
    to_bytes,
)

DIFFERENCES = st.dictionaries(st.sampled_from([0, 1, 255, 256, 300, 65_535]), st.integers(0, 2**160 - 1), max_size=6)


def summed(*steps: dict[int, int]) -> list[int]:
    """All 65,536 subpages after some steps' differences."""
    sums = [0] * (FAN_OUT * FAN_OUT)
    for step in steps:
        for number, difference in step.items():
            sums[number] ^= difference
    return sums


@given(st.lists(DIFFERENCES, max_size=4), DIFFERENCES)
def test_folding_step_by_step_is_computing_from_the_start(steps: list[dict[int, int]], local: dict[int, int]) -> None:
    nodes = TreeNodes()
    for step in steps:
        nodes.fold({REPLICATED: step, LOCAL: {}})
    nodes.fold({REPLICATED: {}, LOCAL: local})
    whole = TreeNodes.of_sums({REPLICATED: summed(*steps), LOCAL: summed(local)})

    assert {**nodes.state(), "changed": ()} == {**whole.state(), "changed": ()}
    assert set(nodes.changed) == {
        *((REPLICATED, number // FAN_OUT) for step in steps for number in step),
        *((LOCAL, number // FAN_OUT) for number in local),
    }
    assert len(whole.changed) == len(TREES) * FAN_OUT
    assert nodes.differing_pages(whole) == []
    sums = {REPLICATED: dict(enumerate(summed(*steps))), LOCAL: dict(enumerate(summed(local)))}
    few = {tree: {bucket: number for bucket, number in numbers.items() if number} for tree, numbers in sums.items()}
    assert TreeNodes.of_few(few).state() == whole.state()


def test_a_fold_of_nothing_leaves_a_damaged_root_as_it_is() -> None:
    nodes = TreeNodes()
    nodes.damage(TreeNode("root"))
    damaged = nodes.root
    nodes.fold({REPLICATED: {}, LOCAL: {}})
    assert nodes.root == damaged
    nodes.fold({REPLICATED: {}, LOCAL: {7: 0}})
    assert nodes.root == TreeNodes().root


def test_damage_of_a_subpage_has_its_page_stored_and_of_what_is_above_none() -> None:
    for layer in LAYERS:
        nodes = TreeNodes()
        nodes.damage(TreeNode(layer, LOCAL, 3, 4))
        assert list(nodes.changed) == ([(LOCAL, 3)] if layer == "subpage" else [])
        wrong = {"page": {"corrupted": True, "subpages": []}, "subpage": {"corrupted": False, "subpages": [4]}}
        assert nodes.wrong_pages(LOCAL, TreeNodes()) == ({"3": wrong[layer]} if layer in wrong else {})
        assert nodes.wrong_pages(REPLICATED, TreeNodes()) == {}


def test_a_state_is_not_touched_by_what_comes_after_it() -> None:
    nodes = TreeNodes.of_sums({REPLICATED: summed({5: 1})})
    saved = nodes.state()
    again = TreeNodes.from_state(saved)
    nodes.fold({REPLICATED: {5: 2}, LOCAL: {}})
    nodes.changed = {}

    assert again.state() == saved == TreeNodes.from_state(saved).state()
    assert again.page(REPLICATED, 0)[5 * 20 : 6 * 20] == to_bytes(1)
    assert again.page(REPLICATED, 1) == EMPTY


def test_parts_that_differ_are_named_in_order() -> None:
    other = bytearray(EMPTY)
    other[0] = other[255 * 20 + 19] = 1

    assert differing_parts(EMPTY, bytes(other)) == [0, 255]
    assert differing_parts(EMPTY, EMPTY) == []
    assert page_digest(EMPTY) != page_digest(bytes(other))


def test_of_each_digest_a_comparison_sends_sixteen_bytes() -> None:
    whole = bytearray(EMPTY)
    whole[20 : 20 + 20] = b"x" * 16 + b"rest"

    assert compared(EMPTY) == bytes(256 * 16)
    assert compared(bytes(whole)) == bytes(16) + b"x" * 16 + bytes(254 * 16)
    assert differing_parts(compared(EMPTY), compared(bytes(whole))) == [1]
