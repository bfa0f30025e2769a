"""Damage: what is altered of an index or of storage, what that leaves in the trace, and that it ends no lab."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.operations.runbook_effects import Ask
from labkit.vault.replication.tree.tree_nodes import is_corrupted

SECOND_NS = 1_000_000_000


def test_corruption_of_a_layer_is_traced_and_changes_no_stored_byte(calm):
    before = calm.queries.contents("tokyo")
    calm.corrupt("tokyo", layer="page")

    assert calm.trace.select("fault")[-1][2:] == ("corrupt", "tokyo", "page")
    assert calm.queries.contents("tokyo") == before
    assert calm.queries.contents("paris") == before


def test_corruption_of_storage_flips_one_bit_of_one_value_and_no_root(calm):
    key = sorted(calm.queries.contents("tokyo"))[3]
    before, root = calm.queries.contents("tokyo"), calm["tokyo"].root
    calm.corrupt("tokyo", layer="storage", key=key)
    after = calm.queries.contents("tokyo")
    changed = [name for name in before if before[name] != after[name]]

    assert changed == [key]
    assert sum((a ^ b).bit_count() for a, b in zip(before[key], after[key], strict=True)) == 1
    assert calm["tokyo"].root == root


def test_corruption_of_storage_without_a_key_strikes_the_value_of_a_secret(calm):
    before = calm.queries.contents("tokyo")
    calm["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    calm["paris"].post("transit/encrypt/orders", {"plaintext": "aGVsbG8="})
    calm.run("1s").corrupt("tokyo", layer="storage")
    (event,) = calm.trace.select("observed", what="corrupted")
    secrets = [key for key in calm.queries.contents("tokyo") if key not in before and "/versions/" in key]

    assert calm.trace.select("fault")[-1][2:] == ("corrupt", "tokyo", "storage")
    assert (event.node, dict(event.fields)) == ("tokyo-1", {"layer": "storage", "key": max(secrets)})
    calm.crash("paris")
    calm["tokyo"].promote()
    assert max(secrets) in calm["tokyo"].get("secret/data/app").errors[0]
    assert calm["tokyo"].get("sys/health").ok


def test_a_value_that_rotted_on_the_primary_is_not_shipped_after_a_takeover(calm):
    calm["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    calm.run("1s")
    before = calm.queries.contents("tokyo")
    calm.corrupt("paris", layer="storage")
    calm.crash("paris-1")
    calm.run("40s")
    (event,) = calm.trace.select("observed", what="corrupted")
    rotten = dict(event.fields)["key"]

    assert calm["paris"].active != "paris-1"
    assert calm.queries.streaming_pairs() == [("paris", "tokyo")]
    assert calm.queries.contents("tokyo")[rotten] == before[rotten] != calm.queries.contents("paris")[rotten]
    assert calm["tokyo"].root == calm["paris"].root


def test_a_value_that_rotted_on_the_primary_never_reaches_a_secondary_that_lacks_it(calm):
    calm.partition("paris", "tokyo")
    calm["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    calm.corrupt("paris", layer="storage")
    calm.crash("paris-1")
    calm.run("10s")
    (event,) = calm.trace.select("observed", what="corrupted")
    rotten = dict(event.fields)["key"]

    assert rotten not in calm.queries.contents("tokyo")
    calm.heal()
    calm.run("60s")
    assert calm.queries.streaming_pairs() == [("paris", "tokyo")]
    assert rotten not in calm.queries.contents("tokyo")
    calm.run("10m")
    loops = [dict(event.fields) for event in calm.trace.select("observed", what="merkle_loop")]
    compared = [seen for seen in calm.trace.select("observed", what="merkle_diff") if seen.at_ns > event.at_ns]
    assert ([fields.get("damaged") for fields in loops], len(compared)) == ([[rotten]], 1), "once, not every minute"


@pytest.mark.parametrize("layer", ["root", "subtree", "page", "subpage"])
def test_corruption_of_the_index_outlives_the_active_node(calm, layer):
    calm.corrupt("paris", layer=layer)
    before = calm["paris"].merkle_check().data["merkle_corruption_report"]
    calm.crash("paris-1")
    calm.run("5s")
    after = calm["paris"].merkle_check().data["merkle_corruption_report"]

    assert calm["paris"].active != "paris-1"
    assert is_corrupted(before)
    assert after == {**before, "last_corruption_check_epoch": after["last_corruption_check_epoch"]}


def test_corruption_of_storage_where_no_secret_is_strikes_no_token(calm):
    calm.corrupt("tokyo", layer="storage")
    (event,) = calm.trace.select("observed", what="corrupted")

    assert dict(event.fields)["key"].startswith("policy/")


def test_damage_after_damage_is_damage_too(calm):
    calm.corrupt("tokyo", layer="storage", key="core/mounts")
    calm.corrupt("tokyo", layer="storage")
    last = calm.trace.select("observed", what="corrupted")[-1]

    assert dict(last.fields)["key"].startswith("policy/")


def test_what_is_traced_of_a_corrupt_node_of_the_index_says_where_it_is(calm):
    calm.corrupt("tokyo", layer="page")
    (event,) = calm.trace.select("observed", what="corrupted")

    assert [name for name, _ in event.fields] == ["layer", "page", "tree"]


@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
@pytest.mark.slow
def test_no_damaged_value_whatever_it_is_ends_a_lab(calm, cluster):
    """Each stored value in turn, then reads, a takeover, and a promotion."""
    calm["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    calm["paris"].post("transit/encrypt/orders", {"plaintext": "aGVsbG8="})
    calm["paris"].post("auth/token/create", {"policies": ["default"], "ttl": "3s"})
    snapshot = calm.run("1s").snapshot()
    for key in sorted(calm.parts.stores[cluster].state()["items"]):
        lab = Lab.restore(snapshot)
        lab.corrupt(cluster, layer="storage", key=key)
        for path in ("secret/data/app", "sys/health", "sys/replication/dr/status"):
            lab.parts.console.ask(Ask(cluster, "GET", path), SECOND_NS)
        lab.run("2s").crash(f"{cluster}-1")
        lab.run("5s").crash("paris")
        lab.parts.console.start("promote", cluster="tokyo", force=True)
        lab.run("5s")
        assert Lab.restore(lab.snapshot()).now == lab.now


@pytest.mark.parametrize(
    ("cluster", "layer", "key", "says"),
    [
        ("tokyo", "cellar", None, "layer: expected a layer, got 'cellar'; there are: root"),
        ("tokyo", "storage", "logical/none", "tokyo stores nothing under logical/none"),
        ("tokyo", "page", "node/lease", "in no tree"),
    ],
)
def test_what_cannot_be_altered_is_refused(calm, cluster, layer, key, says):
    with pytest.raises(ValueError, match=says):
        calm.corrupt(cluster, layer=layer, key=key)


def test_a_cluster_without_an_index_or_without_a_leader_cannot_be_corrupted(quiet):
    with pytest.raises(ValueError, match="paris keeps no Merkle index"):
        quiet.corrupt("paris")
    quiet.crash("paris")
    with pytest.raises(ValueError, match="paris has no active node"):
        quiet.corrupt("paris")


@pytest.mark.parametrize("layer", ["page", "storage"])
def test_a_node_that_was_overtaken_stores_no_index(calm, layer):
    store = calm.parts.stores["paris"]
    store.claim(99)
    before = store.state()
    with pytest.raises(ValueError, match="paris-1 does not lead paris any more"):
        calm.corrupt("paris", layer=layer)

    assert store.state() == before


@pytest.mark.parametrize("key", [5, b"logical/a", ["a"], True])
def test_what_is_corrupted_is_named_by_text(quiet, key):
    before = quiet.trace.digest()
    with pytest.raises(ValueError, match="key: expected a storage key, or None, got"):
        quiet.corrupt("paris", key=key)
    assert quiet.trace.digest() == before
