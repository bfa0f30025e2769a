"""Reports: status bodies of both sides, and what a Merkle check finds in each layer."""

from __future__ import annotations

from base64 import b64decode

import pytest

from labkit.service.durations import SECOND_NS, parse_instant
from labkit.vault.replication.tree.merkle import LAYERS
from labkit.vault.replication.trust.activation import SecondaryHeartbeat

DEAD_NS = 15 * SECOND_NS

PEER = {
    "api_address",
    "cluster_address",
    "connection_status",
    "last_heartbeat",
    "last_heartbeat_duration_ms",
    "clock_skew_ms",
    "replication_primary_canary_age_ms",
}
TREE = {
    "merkle_root",
    "corrupted_merkle_tree",
    "last_corruption_check_epoch",
    "last_reindex_epoch",
    "ssct_generation_counter",
}


def check(drill, cluster="tokyo"):
    """Ask for a Merkle check; return its report."""
    if cluster == "paris":
        answer = drill["paris"].post("sys/replication/merkle-check", {})
    else:
        token = drill.operation_token(cluster)
        answer = drill.open_post(cluster, "secondary/merkle-check", {"dr_operation_token": token})
    return answer.raise_for_status().data["merkle_corruption_report"]


# ---- status


def test_where_replication_is_disabled_status_says_that_and_nothing_else(apart):
    assert apart.status("paris") == {"mode": "disabled"}
    both = apart["paris"].get("sys/replication/status", token="").data

    assert both == {"dr": {"mode": "disabled"}, "performance": {"mode": "disabled"}}


def test_a_primarys_status(together):
    status = together.status("paris")

    assert set(status) == {
        "mode",
        "state",
        "cluster_id",
        "primary_cluster_addr",
        "known_secondaries",
        "secondaries",
        "last_wal",
        "last_dr_wal",
        *TREE,
    }
    assert (status["mode"], status["state"], status["known_secondaries"]) == ("primary", "running", ["tokyo"])
    assert status["last_wal"] == status["last_dr_wal"] == together.lab.queries.last_entry("paris")
    (peer,) = status["secondaries"]
    assert set(peer) == PEER | {"node_id"}
    assert (peer["node_id"], peer["connection_status"]) == ("tokyo", "connected")


def test_a_secondarys_status(together):
    status = together.status("tokyo")

    assert set(status) == {
        "mode",
        "state",
        "connection_state",
        "cluster_id",
        "secondary_id",
        "primary_cluster_addr",
        "known_primary_cluster_addrs",
        "last_remote_wal",
        "last_start",
        "primaries",
        *TREE,
    }
    assert (status["mode"], status["state"], status["connection_state"]) == ("secondary", "stream-wals", "ready")
    assert status["cluster_id"] == together.status("paris")["cluster_id"]
    assert status["merkle_root"] == together.status("paris")["merkle_root"]
    assert set(status["primaries"][0]) == PEER
    parse_instant(status["last_start"])


def test_a_demoted_clusters_status_names_no_primary(together):
    together["paris"].demote()
    status = together.status("paris")

    assert (status["mode"], status["state"], status["primaries"]) == ("secondary", "idle", [])
    assert "connection_state" not in status


def test_milliseconds_are_text_and_epochs_too(together):
    (peer,) = together.status("tokyo")["primaries"]
    numbers = [
        peer[name] for name in ("last_heartbeat_duration_ms", "clock_skew_ms", "replication_primary_canary_age_ms")
    ]

    assert all(type(number) is str for number in numbers)
    assert 150 < int(numbers[0]) < 175
    assert abs(int(numbers[1])) <= 2, "the two ways need not take the same time"
    assert together.status("tokyo")["last_corruption_check_epoch"] == "-62135596800"


def test_a_secondary_that_is_silent_for_a_while_is_shown_as_disconnected(together):
    together.lab.crash("tokyo")
    together.lab.run("14s")
    assert together.status("paris")["secondaries"][0]["connection_status"] == "connected"
    together.lab.run("3s")

    assert together.status("paris")["secondaries"][0]["connection_status"] == "disconnected"
    assert together.status("paris")["known_secondaries"] == ["tokyo"]


@pytest.mark.parametrize("by", ["-240h", "240h"])
def test_a_clock_that_is_set_makes_nobody_connected_or_silent(together, by):
    """Neither for the status nor for who asks what every connected secondary has applied."""
    lab, core = together.lab, together.lab.parts.nodes["paris-1"].core
    lab.skew("paris", by=by)
    assert together.status("paris")["secondaries"][0]["connection_status"] == "connected"
    lab.skew("paris", by=by)
    assert core.standing()[3] is not None, "it is connected at the instant at which the clock was set"
    lab.crash("tokyo")
    lab.run("17s")
    lab.correct("paris")
    assert core.standing()[3] is None
    assert together.status("paris")["secondaries"][0]["connection_status"] == "disconnected"


def test_one_that_never_connected_has_no_heartbeat(together):
    together.activation("lima")
    (peer,) = [row for row in together.status("paris")["secondaries"] if row["node_id"] == "lima"]

    assert peer["connection_status"] == "disconnected"
    assert "last_heartbeat" not in peer


def test_progress_is_reported_while_keys_are_fetched(apart):
    for number in range(40):
        apart["paris"].post(f"secret/data/{number}", {"data": {}})
    apart.post("paris", "primary/enable")
    token = apart.activation("tokyo")
    apart.lab.slow("paris", "tokyo", latency="1s")
    apart.post("tokyo", "secondary/enable", {"token": token})
    apart.lab.run(
        until=lambda lab: [e.state for e in lab.trace.select("mode", cluster="tokyo")][-1:] == ["merkle-sync"]
    )
    status = apart.status("tokyo")

    assert status["state"] == "merkle-sync"
    assert status["merkle_sync_progress"]["sync_total_keys"] > 40
    assert status["merkle_sync_progress"]["sync_progress"] == 0
    apart.lab.run("10s")
    assert "merkle_sync_progress" not in apart.status("tokyo")


def test_a_sealed_node_tells_no_status_and_a_standby_does(together):
    together.lab.crash("tokyo-2")
    together.lab.restart("tokyo-2")
    path = "sys/replication/dr/status"

    assert together["tokyo"].request("GET", path, node="tokyo-2").status == 503
    assert together["tokyo"].request("GET", path, node="tokyo-3").data["mode"] == "secondary"


def test_a_promotion_raises_the_generation_of_tokens(together):
    assert together.status("tokyo")["ssct_generation_counter"] == 0
    together.lab.crash("paris")
    together["tokyo"].promote()

    assert together.status("tokyo")["ssct_generation_counter"] == 1


# ---- merkle-check


@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
def test_a_sound_tree(together, cluster):
    report = check(together, cluster)

    assert set(report) == {"corrupted_root", "corrupted_tree_map", "last_corruption_check_epoch"}
    assert report["corrupted_root"] is False
    assert [report["corrupted_tree_map"][tree]["tree_type"] for tree in ("1", "2")] == ["replicated", "local"]
    for tree in report["corrupted_tree_map"].values():
        assert set(tree) == {"tree_type", "corrupted_subtree_root", "root_hash", "corrupted_index_tuples_map"}
        assert (tree["corrupted_subtree_root"], tree["corrupted_index_tuples_map"]) == (False, None)
        assert len(b64decode(tree["root_hash"])) == 20
    parse_instant(report["last_corruption_check_epoch"])


def pages(report):
    """Every page that a report calls damaged, of both trees."""
    trees = report["corrupted_tree_map"].values()
    return [page for tree in trees for page in (tree["corrupted_index_tuples_map"] or {}).values()]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
def test_each_layer_is_found_by_itself(together, cluster, layer):
    together.lab.corrupt(cluster, layer=layer)
    report = check(together, cluster)
    trees = report["corrupted_tree_map"].values()

    assert report["corrupted_root"] == (layer == "root")
    assert [tree["corrupted_subtree_root"] for tree in trees].count(True) == (layer == "subtree")
    assert [page["corrupted"] for page in pages(report)] == {"page": [True], "subpage": [False]}.get(layer, [])
    assert [len(page["subpages"]) for page in pages(report)] == {"page": [0], "subpage": [1]}.get(layer, [])


def test_all_layers_at_once(together):
    for layer in LAYERS:
        together.lab.corrupt("tokyo", layer=layer)
    report = check(together)
    (page,) = pages(report)

    assert report["corrupted_root"]
    assert any(tree["corrupted_subtree_root"] for tree in report["corrupted_tree_map"].values())
    assert page["corrupted"]
    assert len(page["subpages"]) == 1


def test_the_chosen_key_decides_the_place(together):
    keys = sorted(together.lab.queries.contents("tokyo"))
    places = set()
    for key in (keys[0], keys[-1]):
        together.lab.corrupt("tokyo", layer="subpage", key=key)
    for name, tree in check(together)["corrupted_tree_map"].items():
        for page, found in (tree["corrupted_index_tuples_map"] or {}).items():
            places |= {(name, page, subpage) for subpage in found["subpages"]}

    assert len(places) == 2


def test_storage_altered_under_the_tree_is_not_seen(together):
    """The tree agrees with itself; only building it again from storage would show it."""
    together.lab.corrupt("tokyo", layer="storage")
    report = check(together)

    assert report["corrupted_root"] is False
    assert pages(report) == []
    assert together["tokyo"].root == together["paris"].root
    assert together.lab.queries.contents("tokyo") != together.lab.queries.contents("paris")


def test_what_was_found_is_in_the_status_from_then_on(together):
    together.lab.corrupt("tokyo", layer="page")
    report = check(together)
    status = together.status("tokyo")

    assert status["corrupted_merkle_tree"] is True
    assert int(status["last_corruption_check_epoch"]) == parse_instant(report["last_corruption_check_epoch"]) // 10**9
    assert together.status("paris")["corrupted_merkle_tree"] is False


def test_a_page_heals_when_something_under_it_is_written(together):
    """Page, subtree and root are folded again; the next check finds them sound."""
    together["paris"].post("secret/data/mine", {"data": {"again": 1}})
    together.lab.run("1s")
    before = together.lab.queries.contents("tokyo")
    together["paris"].post("secret/data/mine", {"data": {"again": 2}})
    together.lab.run("1s")
    (key,) = [key for key, value in together.lab.queries.contents("tokyo").items() if before.get(key, value) != value]
    together.lab.corrupt("tokyo", layer="page", key=key)
    (damaged,) = pages(check(together))
    assert damaged["corrupted"]
    together["paris"].post("secret/data/mine", {"data": {"again": 3}})
    together.lab.run("1s")

    assert pages(check(together)) == []
    assert together.status("tokyo")["corrupted_merkle_tree"] is False


def test_a_check_makes_no_journal_entry(together):
    before = (together.lab.queries.last_entry("tokyo"), together["tokyo"].root)
    check(together)

    assert (together.lab.queries.last_entry("tokyo"), together["tokyo"].root) == before


def test_a_primary_is_checked_with_sudo(together):
    policy = 'path "sys/replication/merkle-check" { capabilities = ["update"] }'
    together["paris"].put("sys/policies/acl/plain", {"policy": policy})
    token = together["paris"].post("auth/token/create", {"policies": ["plain"]}).auth["client_token"]

    assert together["paris"].post("sys/replication/merkle-check", {}, token=token).status == 403
    assert together["paris"].post("sys/replication/merkle-check", {}, token="").status == 403


def test_there_is_nothing_to_check_where_replication_is_disabled(apart):
    answer = apart["paris"].post("sys/replication/merkle-check", {})

    assert answer.status == 400
    assert "disabled" in answer.errors[0]


@pytest.mark.parametrize(("silent_ns", "shown"), [(DEAD_NS - 1, "connected"), (DEAD_NS, "disconnected")])
def test_fifteen_seconds_of_silence_are_a_lost_connection(service, clock, silent_ns, shown):
    service.post("sys/replication/dr/primary/enable")
    service.post("sys/replication/dr/primary/secondary-token", {"id": "tokyo"})
    service.core.replica.secondaries["tokyo"] = SecondaryHeartbeat(
        "tokyo", "host", clock.now_ns, 160, 0, 0, steady_ns=service.core.steady()
    )
    clock.now_ns += silent_ns
    (peer,) = service.get("sys/replication/dr/status", token="").data["secondaries"]

    assert (peer["node_id"], peer["connection_status"]) == ("tokyo", shown)
