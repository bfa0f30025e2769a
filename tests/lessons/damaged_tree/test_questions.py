"""Both predictions of lesson 07: what is measured, what is missing before, and what the replies claim."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lessons.damaged_tree.orders import ORDERS, is_sound, pair_with_orders, unreadable
from labkit.lessons.damaged_tree.questions import COPIES, DIFFER, LAYERS, differing


@pytest.fixture(scope="module")
def kept():
    return pair_with_orders(seed=7).snapshot()


@pytest.fixture
def lab(kept) -> Lab:
    return Lab.restore(kept)


@pytest.mark.slow
def test_the_roots_show_one_of_five(lab):
    digest = lab.trace.digest()

    assert DIFFER.needs(lab) == ""
    assert DIFFER.measure(lab) == 1
    assert differing(lab) == {"root": True, "subtree": False, "page": False, "subpage": False, "storage": False}
    assert "The roots differ where this was damaged: root." in DIFFER.why(lab)
    assert lab.trace.digest() == digest


@pytest.mark.parametrize(
    ("layer", "equal", "sound"),
    [
        ("root", True, True),
        ("subtree", True, True),
        ("page", False, False),
        ("subpage", True, False),
        ("storage", True, True),
    ],
)
def test_a_write_folds_what_it_passes(layer, equal, sound, lab):
    """What the reason says, and what the stretch is about: damage at the top is folded away, a page is folded in."""
    lab.corrupt("tokyo", layer=layer)
    lab["paris"].post("secret/data/other", {"data": {"n": 1}})
    lab.run("2s")

    assert (lab["paris"].root == lab["tokyo"].root) == equal
    assert is_sound(lab["tokyo"]) == sound


@pytest.mark.parametrize("layer", LAYERS)
def test_a_reindex_of_the_secondary_mends_any_layer_of_it(layer, lab):
    lab.corrupt("tokyo", layer=layer)
    lab["tokyo"].reindex()
    lab.run("5s")

    assert lab["paris"].root == lab["tokyo"].root
    assert unreadable(lab) == {"paris": [], "tokyo": []}


@pytest.mark.slow
def test_a_reindex_of_the_primary_passes_its_rot_on(lab):
    assert "nothing of paris is damaged yet" in COPIES.needs(lab)
    lab.corrupt("paris", layer="storage")
    assert "not reindexed yet" in COPIES.needs(lab)
    assert COPIES.measure(lab) == 1
    lab["paris"].reindex()
    assert "still comparing" in COPIES.needs(lab)
    lab.run("20s")

    assert COPIES.needs(lab) == ""
    assert COPIES.measure(lab) == 0
    assert unreadable(lab)["paris"] == unreadable(lab)["tokyo"] != []
    assert "The roots are equal, and the status of paris counts 1 value that did not open" in COPIES.why(lab)
    (synced,) = lab.trace.select("observed", node="tokyo-1", what="merkle_sync")[-1:]
    assert dict(synced.fields)["fetch"] == 1
    assert "Player" in repr(COPIES.draw(lab))


def test_tokyo_notices_a_damaged_subtree_by_itself_and_no_layer_below(lab):
    """What the reason and the text beside the player claim, in the order of the player."""
    noticed, begun = {}, len(lab.trace.select("observed"))
    for layer in reversed(LAYERS):
        since_ns = lab.now
        lab.corrupt("tokyo", layer=layer)
        lab.run("2s")
        new = [event.what for event in lab.trace.select("observed") if event.at_ns > since_ns]
        noticed[layer] = ("roots_differ" in new or "merkle_loop" in new, lab["paris"].root == lab["tokyo"].root)

    silent = dict.fromkeys(("storage", "subpage", "page"), (False, True))
    assert noticed == {**silent, "subtree": (True, True), "root": (False, False)}
    new = lab.trace.select("observed")[begun:]
    assert [dict(event.fields)["pages"] for event in new if event.what == "merkle_diff"] == [1]
    assert [event.what for event in new].count("merkle_diff_empty") == 1
    assert [event.what for event in new].count("merkle_loop") == 1


def test_a_subtree_that_is_damaged_by_itself_leaves_no_page_that_differs(lab):
    begun = len(lab.trace.select("observed"))
    lab.corrupt("tokyo", layer="subtree")
    lab.run("2s")
    new = lab.trace.select("observed")[begun:]

    assert [dict(event.fields)["pages"] for event in new if event.what == "merkle_diff"] == [0]
    assert [event.what for event in new][-1] == "merkle_loop"


def test_the_run_that_is_played_ends_with_the_root(lab):
    played = DIFFER.draw(lab)

    assert [event.detail for event in lab.trace.select("fault")] == []
    assert "Player" in repr(played)
    assert "subtree" in DIFFER.look


def test_what_is_missing_before_it_can_be_tried(lab):
    assert "does not follow paris yet" in DIFFER.needs(Lab.pair(seed=7))
    lab.corrupt("tokyo", layer="page")
    assert "makes a new one" in DIFFER.needs(lab)
    assert len(ORDERS) == 6


@pytest.mark.parametrize(("name", "mended"), [("p1", False), ("p801", True)])
def test_a_name_that_falls_into_the_damaged_page_mends_it(name, mended):
    """The stretch, in the lab of the notebook."""
    lab = pair_with_orders(seed=7)
    lab.corrupt("tokyo", layer="page")
    lab["paris"].put(f"sys/policies/acl/{name}", {"policy": 'path "a" { capabilities = ["read"] }'})
    lab.run("2s")

    assert (lab["paris"].root == lab["tokyo"].root) is mended
    assert is_sound(lab["tokyo"]) is mended
