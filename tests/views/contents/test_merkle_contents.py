"""What a picture of an index says: roots, pages, subpages and leaves beside another cluster's, and what is damaged."""

from __future__ import annotations

import re
from typing import Any

import pytest

from labkit import Lab
from labkit.vault.replication.tree.merkle import FAN_OUT, MerkleTree, bucket
from labkit.views.contents.merkle_contents import MerkleContents, contents_of, describe, rows_of


@pytest.fixture(scope="module")
def streaming() -> Any:
    """The pair, replicating, with a few secrets."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    for number in range(6):
        lab["paris"].post(f"secret/data/app{number}", {"data": {"n": number}})
    return lab.run("2s").snapshot()


@pytest.fixture
def lab(streaming: Any) -> Lab:
    """The same, to do with as one likes."""
    return Lab.restore(streaming)


def of(lab: Lab, cluster: str = "tokyo", **given: Any) -> MerkleContents:
    return contents_of(lab.queries, cluster, **given)


def marked(contents: MerkleContents, state: str) -> list[tuple[str, int]]:
    return [(tree.name, page.number) for tree in contents.subtrees for page in tree.pages if getattr(page, state)]


def test_level_clusters_have_equal_sound_indexes(lab: Lab) -> None:
    contents = of(lab)

    assert (contents.cluster, contents.other, contents.root) == ("tokyo", "paris", lab["paris"].root)
    assert (contents.differs, contents.damaged, contents.chosen) == (False, False, None)
    assert [(tree.name, tree.differs, tree.damaged, len(tree.pages)) for tree in contents.subtrees] == [
        ("replicated", False, False, 256),
        ("local", False, False, 256),
    ]
    leaves = sum(page.leaves for tree in contents.subtrees for page in tree.pages)
    assert leaves == len(lab.queries.contents("tokyo"))
    assert marked(contents, "differs") == marked(contents, "damaged") == []
    assert describe(contents).startswith("tokyo's index: no node is damaged; equal to paris's; root ")


def test_it_is_that_of_the_stored_contents(lab: Lab) -> None:
    sound = MerkleTree.build(lab.queries.contents("tokyo").items())
    contents = of(lab)

    assert contents.root == sound.root()
    for number, tree in enumerate(contents.subtrees, 1):
        counts = dict.fromkeys(range(256), 0)
        for key in sound.leaves(number):
            counts[bucket(key) // FAN_OUT] += 1
        assert {page.number: page.leaves for page in tree.pages} == counts
        assert tree.root == sound.subtree_root(number).hex()


def test_what_did_not_arrive_differs_page_by_page(lab: Lab) -> None:
    before = lab.queries.contents("paris")
    lab.partition("paris", "tokyo")
    lab["paris"].post("secret/data/app0", {"data": {"n": "new"}})
    after = lab.queries.contents("paris")
    changed = sorted(key for key in after if after[key] != before.get(key))
    contents = of(lab)

    assert contents.differs
    assert marked(contents, "differs") == sorted({("replicated", bucket(key) // FAN_OUT) for key in changed})
    assert contents.chosen is not None
    assert (contents.chosen.tree, contents.chosen.number) == marked(contents, "differs")[0]
    apart = [leaf for leaf in contents.chosen.leaves if leaf.here != leaf.there]
    assert [leaf.name for leaf in apart] == [key for key in changed if bucket(key) // FAN_OUT == contents.chosen.number]
    assert {cell.number for cell in contents.chosen.subpages if cell.differs} == {leaf.subpage for leaf in apart}
    assert f"{len(marked(contents, 'differs'))} pages differ from paris's" in describe(contents)


@pytest.mark.parametrize("layer", ["root", "subtree", "page", "subpage"])
def test_each_damaged_layer_is_shown_where_a_check_finds_it_and_looking_heals_nothing(lab: Lab, layer: str) -> None:
    lab.corrupt("tokyo", layer=layer)
    digest, state = lab.trace.digest(), lab.parts.nodes["tokyo-1"].journal.state()
    contents = of(lab)

    assert contents.damaged == (layer == "root")
    assert [tree.damaged for tree in contents.subtrees].count(True) == (layer == "subtree")
    assert len(marked(contents, "damaged")) == (layer in ("page", "subpage"))
    assert of(lab) == contents
    assert (lab.trace.digest(), lab.parts.nodes["tokyo-1"].journal.state()) == (digest, state)
    report = lab["tokyo"].merkle_check().data["merkle_corruption_report"]
    found = {
        (tree["tree_type"], int(page))
        for tree in report["corrupted_tree_map"].values()
        for page in tree["corrupted_index_tuples_map"] or {}
    }
    assert found == set(marked(contents, "damaged"))
    assert not describe(contents).startswith("tokyo's index: no node is damaged")


def test_a_damaged_subpage_is_marked_in_its_page(lab: Lab) -> None:
    lab.corrupt("tokyo", layer="subpage")
    contents = of(lab)
    assert contents.chosen is not None
    (cell,) = [cell for cell in contents.chosen.subpages if cell.damaged]

    assert f"subpages {cell.number}" in describe(contents)
    assert {
        "node": f"replicated page {contents.chosen.number} subpage {cell.number}",
        "leaves": cell.leaves,
    }.items() <= {**next(row for row in rows_of(contents) if "subpage" in row["node"])}.items()


def test_what_is_written_and_not_folded_is_pending(lab: Lab) -> None:
    assert lab["paris"].status()["merkle_root"]
    before = lab.queries.contents("paris")
    lab["paris"].post("secret/data/app1", {"data": {"n": "new"}})
    after = lab.queries.contents("paris")
    pages = {bucket(key) // FAN_OUT for key in after if after[key] != before.get(key)}
    assert set(marked(of(lab, "paris"), "pending")) == {("replicated", page) for page in pages}
    assert lab["paris"].status()["merkle_root"]
    assert marked(of(lab, "paris"), "pending") == []


def test_a_page_can_be_chosen(lab: Lab) -> None:
    contents = of(lab, page=("local", 3))
    assert contents.chosen is not None
    assert (contents.chosen.tree, contents.chosen.number) == ("local", 3)
    assert "in local page 3 every subpage is as it should be" in describe(contents)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"page": ("global", 1)}, 'page: expected a tree and the number of a page, such as ("replicated", 23)'),
        ({"page": 23}, 'page: expected a tree and the number of a page, such as ("replicated", 23)'),
        ({"page": ("local", True)}, 'page: expected a tree and the number of a page, such as ("replicated", 23)'),
        ({"page": ("local", 256)}, "page: expected a page from 0 to 255, got 256"),
        ({"other": "osaka"}, "other: expected a cluster, got 'osaka'"),
        ({"cluster": "lima"}, "lima keeps no Merkle index: it does not replicate, or has no active node"),
        ({"other": "lima"}, "lima keeps no Merkle index: it does not replicate, or has no active node"),
    ],
)
def test_what_cannot_be_shown_is_refused(given: dict[str, Any], says: str) -> None:
    lab = Lab.triangle()
    lab.replicate("paris", "tokyo")
    with pytest.raises(ValueError, match=re.escape(says)):
        of(lab, **{"cluster": "tokyo", **given})


def test_a_primary_and_a_secondary_whose_primary_is_down_stand_alone(lab: Lab) -> None:
    assert (of(lab, "paris").other, of(lab, "paris").sent) == ("", ())
    lab.crash("paris")
    assert of(lab).other == ""
    with pytest.raises(ValueError, match="paris keeps no Merkle index"):
        of(lab, other="paris")


def test_what_the_last_comparison_sent_is_counted_both_ways(lab: Lab) -> None:
    lab.partition("paris", "tokyo")
    for number in range(5):
        lab["paris"].post(f"secret/data/late{number}", {"data": {"n": number}})
    lab.crash("paris-1")
    lab.run("20s")
    began_ns = lab.now
    lab.heal()
    lab.run("40s")
    contents = of(lab)
    nodes = {*lab["paris"].nodes, *lab["tokyo"].nodes}
    sent = [e for e in lab.trace.select("message") if e.sent_ns >= began_ns and {e.source, e.target} <= nodes]

    assert [row.question for row in contents.sent] == [
        "guard_hash",
        "conflicting_pages",
        "sub_page_hashes",
        "fetch_keys",
    ]
    for row in contents.sent[1:]:
        events = [event for event in sent if event.what == row.question]
        assert (row.messages, row.size_bytes) == (len(events), sum(event.size_bytes for event in events))
    assert "the last comparison sent" in describe(contents)
