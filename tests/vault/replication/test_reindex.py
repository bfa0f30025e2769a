"""The reindex: which damage it ends on which side, its stages beside the service, and what interrupts it."""

from __future__ import annotations

import pickle

import pytest

from labkit import Lab, Vault
from labkit.lab.operations.runbook_effects import Ask
from labkit.service.durations import SECOND_NS
from labkit.vault.replication import reindex
from labkit.vault.replication.reports import CHECK
from labkit.vault.replication.tree.merkle import LAYERS
from labkit.vault.storage import StoreError
from tests.vault.replication.test_reports import check, pages

DR = "sys/replication/dr/"
STAGES = ("scanning", "building", "wal-replay", "commit")


def observed(lab, kind, node=""):
    """The fields of all observations of a kind."""
    return [dict(event.fields) for event in lab.trace.select("observed", what=kind) if event.node.startswith(node)]


def begin(drill, cluster="tokyo", **options):
    """Begin a reindex; return the operation token that was needed, None on a primary."""
    if cluster == "paris":
        assert drill["paris"].post("sys/replication/reindex", options).raise_for_status().warnings
        return None
    token = drill.operation_token(cluster)
    answer = drill.open_post(cluster, "secondary/reindex", {"dr_operation_token": token, **options})
    assert answer.raise_for_status().warnings
    return token


def sound(drill, cluster):
    """Whether a Merkle check finds nothing."""
    report = check(drill, cluster)
    roots = [tree["corrupted_subtree_root"] for tree in report["corrupted_tree_map"].values()]
    return not (report["corrupted_root"] or any(roots) or pages(report))


def write(drill, name):
    drill["paris"].post(f"secret/data/{name}", {"data": {"at": drill.lab.now}}).raise_for_status()


# ---- what it ends (the catalogue of damage, layer by layer)


@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
def test_it_ends_damage_in_every_layer_at_once_on_the_side_that_has_it(together, cluster):
    for layer in LAYERS:
        together.lab.corrupt(cluster, layer=layer)
    assert not sound(together, cluster)
    entries = together.lab.queries.last_entry(cluster)
    together[cluster].reindex()
    together.lab.run("4s")

    assert sound(together, cluster)
    assert together.lab.queries.last_entry(cluster) == entries, "it adds nothing to the journal"
    assert together["paris"].root == together["tokyo"].root
    assert together.status("tokyo")["state"] == "stream-wals"
    assert len(observed(together.lab, "merkle_loop")) <= 1
    together.lab.crash(f"{cluster}-1")
    together.lab.run("20s")
    assert sound(together, cluster), "the new index was stored"


@pytest.mark.parametrize("skip_flush", [False, True])
def test_a_primary_says_how_many_values_do_not_open(together, skip_flush):
    for name in ("one", "two", "three"):
        write(together, name)
    keys = [key for key in together.lab.queries.contents("paris") if key.endswith("/1.data")]
    for key in keys[:2]:
        together.lab.corrupt("paris", layer="storage", key=key)
    begin(together, "paris", skip_flush=skip_flush)
    assert "reindex_damaged_values" not in together.status("paris")
    together.lab.run("4s")

    assert observed(together.lab, "reindex_damage") == [{"values": 2, "names": sorted(keys[:2])}]
    assert together.status("paris")["reindex_damaged_values"] == 2
    begin(together, "paris")
    together.lab.run("4s")
    assert len(observed(together.lab, "reindex_damage")) == 2, "the index is right by now, the values are not"
    together.lab.crash("paris-1")
    together.lab.run("20s")
    assert together.status("paris")["reindex_damaged_values"] == 2, "it is stored"


def test_what_is_written_again_while_it_runs_is_no_damage(together):
    before = together.lab.queries.contents("paris")
    write(together, "one")
    (key,) = (key for key in together.lab.queries.contents("paris") if key.endswith("/1.data") and key not in before)
    together.lab.corrupt("paris", layer="storage", key=key)
    begin(together, "paris")
    together.lab.run("250ms")
    assert list(together.lab.parts.nodes["paris-1"].journal.rebuild.damaged) == [key]
    together["paris"].delete("secret/metadata/one").raise_for_status()
    together.lab.run("4s")

    assert observed(together.lab, "reindex_damage") == []
    assert "reindex_damaged_values" not in together.status("paris")


def test_a_secondary_gets_what_is_damaged_and_counts_none(together):
    write(together, "one")
    together.lab.run("1s")
    together.lab.corrupt("tokyo", layer="storage")
    begin(together)
    together.lab.run("4s")

    assert observed(together.lab, "reindex_damage") == []
    assert together["paris"].root == together["tokyo"].root


def test_on_the_sound_side_it_does_not_help_and_the_other_is_named(together):
    write(together, "hot")
    before = together.lab.queries.contents("paris")
    write(together, "hot")
    hot = next(key for key, value in together.lab.queries.contents("paris").items() if before.get(key, value) != value)
    together.lab.corrupt("paris", layer="subpage", key=hot)
    write(together, "hot")
    together.lab.run("6s")
    (first,) = observed(together.lab, "merkle_loop")
    assert "run merkle-check on both clusters" in first["advice"]
    together["tokyo"].reindex()
    together.lab.run("4s")
    _, second = observed(together.lab, "merkle_loop")
    assert second["advice"] == "the roots still differ after this side's reindex: reindex the primary"
    assert together["tokyo"].root != together["paris"].root

    together["paris"].reindex()
    together.lab.run("4s")
    assert together["tokyo"].root == together["paris"].root
    assert sound(together, "paris")
    together.lab.run("60s")
    assert len(observed(together.lab, "merkle_loop")) == 2


def test_on_a_secondary_it_finds_a_value_that_is_damaged_in_the_store_and_the_primary_gives_it_again(together):
    together.lab.corrupt("tokyo", layer="storage")
    assert sound(together, "tokyo"), "a check reads no storage"
    together["tokyo"].reindex(diff=True)
    together.lab.run("4s")

    (struck,) = observed(together.lab, "corrupted", "tokyo")
    (found,) = observed(together.lab, "reindex_differences", "tokyo")
    assert (found["names"], found["others"]) == ([struck["key"]], 0)
    assert together.lab.queries.contents("tokyo") == together.lab.queries.contents("paris")
    assert together["tokyo"].root == together["paris"].root


def test_on_a_primary_it_passes_damage_in_the_store_on(together):
    """The new index is what the store holds: who wants the old value promotes the secondary before."""
    together.lab.corrupt("paris", layer="storage")
    (struck,) = observed(together.lab, "corrupted", "paris")
    good = together.lab.queries.contents("tokyo")[struck["key"]]
    together.lab.run("30s")
    assert together.lab.queries.contents("tokyo")[struck["key"]] == good
    together["paris"].reindex()
    together.lab.run("800ms")

    assert together.lab.queries.contents("tokyo") == together.lab.queries.contents("paris"), "noticed at once"
    assert together.lab.queries.contents("tokyo")[struck["key"]] != good
    assert together["paris"].get("secret/data/mine").status == 500
    (ended,) = observed(together.lab, "replication_disconnected", "tokyo")
    assert ended["reason"] == "the primary was reindexed and holds something else than it knew"


def test_on_a_primary_that_finds_all_as_it_was_no_connection_ends(together):
    together.lab.corrupt("paris", layer="subpage")
    together["paris"].reindex()
    together.lab.run("2s")
    assert observed(together.lab, "replication_disconnected", "tokyo") == []


def test_all_variants_end_with_the_same_root(together_snapshot, drill):
    roots = set()
    for options in ({}, {"diff": True}, {"force": True}, {"skip_flush": True}):
        lab = Lab.restore(together_snapshot)
        lab.corrupt("tokyo", layer="subpage")
        lab["tokyo"].reindex(**options)
        roots.add(lab["tokyo"].root)
        assert observed(lab, "reindexed", "tokyo") == [{"pages": 1, "differing_keys": 0}]
        assert observed(lab, "reindex_differences") == []
    assert roots == {lab["paris"].root}


def test_of_many_keys_that_differ_some_are_named(together, monkeypatch):
    monkeypatch.setattr(reindex, "MAX_NAMED", 2)
    for n in range(5):
        write(together, f"s{n}")
    together.lab.run("1s")
    secrets = [key for key in sorted(together.lab.queries.contents("tokyo")) if "/versions/" in key]
    for key in secrets[:5]:
        together.lab.corrupt("tokyo", layer="storage", key=key)
    together["tokyo"].reindex(diff=True)

    (found,) = observed(together.lab, "reindex_differences", "tokyo")
    assert (found["names"], found["others"]) == (secrets[:2], 3)


# ---- its stages beside the service


def test_the_status_shows_its_stages_while_requests_are_answered(together):
    seen, epoch = [], together.status("paris")["last_reindex_epoch"]
    assert (epoch, "reindex_in_progress" in together.status("paris")) == ("0", False)
    begin(together, "paris")
    while (status := together.status("paris")).get("reindex_in_progress"):
        seen.append(status["reindex_stage"])
        if status["reindex_stage"] != "scanning":
            assert status["reindex_building_total"] > 10
        write(together, f"s{len(seen)}")
        together.lab.run("30ms")
    together.lab.run("2s")

    assert tuple(dict.fromkeys(seen)) == STAGES
    assert "reindex_stage" not in status
    assert 0 <= together.lab.parts.nodes["paris-1"].vault.now() // SECOND_NS - int(status["last_reindex_epoch"]) < 3
    assert together["paris"].root == together["tokyo"].root
    assert sound(together, "paris")


@pytest.mark.parametrize(
    ("options", "locked_ms"),
    [
        ({}, 100),
        *[
            pytest.param(*more, marks=pytest.mark.slow)
            for more in (({"force": True, "diff": True}, 400), ({"skip_flush": True}, 20))
        ],
    ],
)
def test_writes_wait_for_the_commit_and_for_no_other_stage(together, options, locked_ms):
    lab = together.lab
    begin(together, "paris", **options)
    journal = lab.parts.nodes["paris-1"].journal
    took_ms: dict[int, tuple[str, int]] = {}
    while journal.rebuild is not None and len(took_ms) < 200:
        stage, began_ns = journal.rebuild.stage, lab.now
        write(together, f"s{len(took_ms)}")
        took_ms[lab.now] = (stage, (lab.now - began_ns) // 1_000_000)
        together["paris"].get("secret/data/mine").raise_for_status()
        lab.run("7ms")
    waited = [took for stage, took in took_ms.values() if took >= 2]
    assert len(waited) == 1
    assert locked_ms - 8 <= waited[0] <= locked_ms
    assert {stage for stage, took in took_ms.values() if took >= 2} == {"commit"}


def test_reads_do_not_wait_and_writes_through_a_standby_do(together):
    lab = together.lab
    begin(together, "paris", force=True)
    node = lab.parts.nodes["paris-1"]
    lab.run(until=lambda lab: node.journal.rebuild.stage == "commit")
    began_ns = lab.now
    headers = {"X-Vault-Token": together["paris"].root_token}
    assert together["paris"].request("GET", "secret/data/mine", None, headers, node="paris-2").ok
    assert lab.now - began_ns < 3_000_000
    number = lab.parts.console.ask(Ask("paris", "POST", "secret/data/x", {"data": {}}, "paris-2"))
    lab.run("50ms")
    assert (len(node.waiting), number in lab.parts.console.answers) == (1, False)
    restored = Lab.restore(pickle.loads(pickle.dumps(lab.snapshot())))
    for each in (lab, restored):
        each.run("1s")
        assert each.parts.console.answers[number].ok
    assert lab.trace.digest() == restored.trace.digest()


@pytest.mark.parametrize("how", ["crash", "seal", "step-down"])
def test_what_waits_for_a_commit_that_does_not_come_is_answered_by_who_leads_next(together, how):
    lab = together.lab
    begin(together, "paris", force=True)
    node = lab.parts.nodes["paris-1"]
    lab.run(until=lambda lab: node.journal.rebuild.stage == "commit")
    number = lab.parts.console.ask(Ask("paris", "POST", "secret/data/x", {"data": {}}))
    lab.run("50ms")
    assert len(node.waiting) == 1
    if how == "crash":
        lab.crash("paris-1")
    elif how == "seal":
        node.core.keys.drop()
    else:
        node.core.step_down()
    lab.run("40s")
    answer = lab.parts.console.answers[number]
    assert node.waiting == []
    assert answer.ok or answer.status in (0, 503)
    assert lab.invariants.broken == {}


def test_a_standby_shows_the_same(together):
    begin(together, "paris")
    shown = [together["paris"].get(DR + "status", token="", node=node).data for node in together["paris"].nodes]
    assert {each["reindex_stage"] for each in shown} <= {*STAGES}
    assert all(each["reindex_in_progress"] for each in shown)


def test_a_secondary_shows_when_it_joined_as_its_first(together):
    joined_s = int(together.status("tokyo")["last_reindex_epoch"])
    assert 0 < joined_s <= together.lab.parts.nodes["tokyo-1"].vault.now() // SECOND_NS
    together["tokyo"].reindex()
    assert int(together.status("tokyo")["last_reindex_epoch"]) > joined_s


@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
def test_a_second_one_is_refused_while_one_is_under_way(together, cluster):
    token = begin(together, cluster)
    path = "sys/replication/reindex" if cluster == "paris" else DR + "secondary/reindex"
    body = {} if cluster == "paris" else {"dr_operation_token": token}
    how = {} if cluster == "paris" else {"token": ""}
    refused = together[cluster].post(path, body, **how)

    assert refused.status == 400
    assert refused.errors[0].startswith("a reindex is under way (")
    together.lab.run("2s")
    assert together[cluster].post(path, body, **how).status == 200


def test_promotion_waits_for_it_or_is_forced(together):
    token = begin(together)
    refused = together.open_post("tokyo", "secondary/promote", {"dr_operation_token": token})
    assert refused.status == 503
    assert "the Merkle tree is being rebuilt" in refused.errors[0]
    assert together.open_post("tokyo", "secondary/promote", {"dr_operation_token": token, "force": True}).ok
    together.lab.run("2s")
    status = together.status("tokyo")
    assert (status["mode"], "reindex_in_progress" in status) == ("primary", False), "it went on, and ended"
    assert sound_primary(together, "tokyo")


@pytest.mark.parametrize("cut", [False, True])
def test_a_planned_failover_waits_for_it_and_for_what_it_finds(together, cut):
    """What the survivor holds damaged only the old primary can give it again."""
    lab = together.lab
    lab.corrupt("tokyo", layer="storage")
    begin(together)
    if cut:
        lab.partition("paris", "tokyo")
        lab.run("4s").heal()
        assert together.status("tokyo")["state"] == "merkle-diff"
    lab.failover("paris", "tokyo")
    lab.run("3s")
    assert lab.invariants.broken == {}
    assert together["tokyo"].get("secret/data/mine").raise_for_status().data["data"] == {"of": "paris"}
    assert lab.queries.contents("tokyo") == lab.queries.contents("paris")


def sound_primary(drill, cluster):
    report = drill[cluster].merkle_check().data["merkle_corruption_report"]
    return not report["corrupted_root"] and pages(report) == []


# ---- what interrupts it


@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
@pytest.mark.parametrize("stage", STAGES)
def test_a_new_active_node_begins_again(together, cluster, stage):
    together.lab.corrupt(cluster, layer="subpage")
    begin(together, cluster, diff=True)
    first = together[cluster].active
    journal = together.lab.parts.nodes[first].journal
    together.lab.run(until=lambda lab: journal.rebuild is not None and journal.rebuild.stage == stage)
    together.lab.crash(first)
    together.lab.run(until=lambda lab: lab[cluster].active not in ("", first))
    together.lab.run("3s")

    begun = [event.node for event in together.lab.trace.select("observed", what="reindex_started")]
    assert begun == [first, together[cluster].active]
    assert [fields["diff"] for fields in observed(together.lab, "reindex_started")] == [True, True]
    assert "reindex_in_progress" not in together.status(cluster)
    assert sound(together, cluster)


def test_one_that_was_not_stored_at_once_begins_again_after_a_crash(together):
    together.lab.corrupt("paris", layer="subpage")
    begin(together, "paris", skip_flush=True)
    together.lab.run("700ms")
    status = together.status("paris")
    assert ("reindex_in_progress" in status, status["last_reindex_epoch"]) == (False, "0"), "in use, not stored"
    assert sound(together, "paris")
    together.lab.crash("paris-1")
    together.lab.run(until=lambda lab: lab["paris"].active not in ("", "paris-1"))
    assert not sound(together, "paris"), "the old one was stored"
    together.lab.run("4s")

    assert sound(together, "paris")
    assert together.status("paris")["last_reindex_epoch"] != "0"
    assert len(observed(together.lab, "reindexed", "paris")) == 2


def test_one_that_is_stored_later_ends_without_a_trace_of_what_was_wanted(together):
    together["paris"].reindex(skip_flush=True)
    assert reindex.WANTED in together.stored("paris")
    together.lab.run("2s")
    assert reindex.WANTED not in together.stored("paris")
    assert together.status("paris")["last_reindex_epoch"] != "0"


def test_sealing_stops_it_and_unsealing_begins_again(together):
    begin(together, "paris")
    together.lab.run("150ms")
    for node in together["paris"].nodes:
        together["paris"].post("sys/seal", node=node)
    together.lab.run("1s")
    together.lab.unseal("paris")
    together.lab.run("3s")
    assert len(observed(together.lab, "reindex_started", "paris")) == 2
    assert len(observed(together.lab, "reindexed", "paris")) == 1


def test_a_demotion_lets_it_go_on_and_disabling_ends_it(together):
    begin(together, "paris")
    together.lab.run("150ms")
    together["paris"].demote()
    together.lab.run("1s")
    assert len(observed(together.lab, "reindexed", "paris")) == 1
    token = together.operation_token("paris")
    assert together.open_post("paris", "secondary/reindex", {"dr_operation_token": token}).ok
    together.lab.run("150ms")
    assert together.open_post("paris", "secondary/disable", {"dr_operation_token": token}).ok
    together.lab.run("2s")
    assert len(observed(together.lab, "reindexed", "paris")) == 1
    assert reindex.WANTED not in together.stored("paris")
    assert together.status("paris") == {"mode": "disabled"}


def test_a_lost_lease_ends_it_with_nothing_changed(together):
    begin(together, "paris")
    together.lab.run("150ms")
    node = together.lab.parts.nodes["paris-1"]
    node.store.claim(node.leadership.term + 1)
    together.lab.run("300ms")
    assert not node.leadership.active
    assert observed(together.lab, "reindexed", "paris-1") == []


@pytest.mark.parametrize(("stage", "options"), [("building", {}), ("commit", {"force": True}), ("flush", {})])
def test_a_clock_that_is_set_back_delays_neither_it_nor_writes(together, stage, options):
    lab = together.lab
    lab.skew("paris-1", by="1h")
    begin(together, "paris", skip_flush=stage == "flush", **options)
    journal = lab.parts.nodes["paris-1"].journal
    lab.run(until=lambda lab: journal.rebuild.stage == stage)
    lab.correct("paris-1")
    began_ns = lab.now
    write(together, "meanwhile")
    assert lab.now - began_ns < SECOND_NS
    lab.run("5s")
    assert reindex.WANTED not in together.stored("paris")
    assert sound(together, "paris")


def test_writes_are_answered_though_nothing_ends_the_commit(together):
    """A replication mode that does not open stops all scheduled work."""
    lab = together.lab
    begin(together, "paris", force=True)
    journal = lab.parts.nodes["paris-1"].journal
    lab.run(until=lambda lab: journal.rebuild.stage == "commit")
    lab.corrupt("paris", layer="storage", key="node/mode")
    assert together["paris"].post("secret/data/x", {"data": {}}).status == 500


def test_a_page_that_rots_in_the_store_while_the_one_in_use_is_sound_is_stored_again(together):
    name = min(key for key in together.stored("paris") if key.startswith("node/index/replicated/"))
    together.lab.corrupt("paris", layer="storage", key=name)
    together["paris"].reindex()
    together.lab.crash("paris-1")
    together.lab.run("20s")
    assert sound(together, "paris")


@pytest.mark.parametrize("at_ms", [50, 250, 900, *[pytest.param(ms, marks=pytest.mark.slow) for ms in (150, 350, 450)]])
def test_cut_at_any_instant_it_is_the_uncut_one(together, at_ms):
    lab = together.lab
    lab.corrupt("tokyo", layer="storage")
    begin(together, "paris", skip_flush=True)
    begin(together, "tokyo", diff=True)
    lab.run(f"{at_ms}ms")
    cut = Lab.restore(pickle.loads(pickle.dumps(lab.snapshot())))
    for each in (lab, cut):
        each["paris"].post("secret/data/meanwhile", {"data": {"n": 1}})
        each.run("4s")
    assert cut.trace.digest() == lab.trace.digest()
    assert cut["tokyo"].root == lab["tokyo"].root == lab["paris"].root


# ---- a vault alone


class Later:
    """A clock that stands until it is moved."""

    now_ns = 1_900_000_000 * SECOND_NS

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def alone():
    """A primary without secondaries, whose clock stands."""
    vault = Vault.dev(clock=Later())
    vault.post(DR + "primary/enable", {})
    return vault


def test_alone_it_goes_on_as_time_passes(alone):
    assert alone.post("sys/replication/reindex", {"diff": True}).warnings
    seen = []
    for _ in range(6):
        seen.append(alone.get(DR + "status").data.get("reindex_stage"))
        alone.advance("100ms")
    assert seen == [*STAGES, None, None]
    assert alone.get(DR + "status").data["last_reindex_epoch"] == "1900000000"


def test_alone_it_is_done_at_once_when_enough_time_has_passed(alone):
    alone.post("sys/replication/reindex", {})
    alone.advance("1h")
    assert alone.get(DR + "status").data["last_reindex_epoch"] == "1900003600"


def test_what_the_store_refuses_is_tried_again(alone, monkeypatch):
    core = alone.core
    alone.post("sys/replication/reindex", {})
    alone.advance("350ms")
    assert core.replica.journal.rebuild.stage == "commit"
    tree = core.replica.journal.tree

    def refuse(*given):
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(type(core.storage), "apply", refuse)
        alone.advance("100ms")
    assert core.replica.journal.tree is tree
    assert alone.get(DR + "status").data["reindex_stage"] == "wal-replay"
    alone.post("secret/data/meanwhile", {"data": {"n": 1}}).raise_for_status()
    alone.advance("9s")
    assert alone.get(DR + "status").data["reindex_stage"] == "wal-replay"
    alone.advance("2s")
    assert alone.get(DR + "status").data["last_reindex_epoch"] == "1900000011"
    report = alone.post("sys/replication/merkle-check").data["merkle_corruption_report"]
    assert pages(report) == []


def test_what_was_wanted_and_does_not_open_is_reported_and_can_be_wanted_again(alone):
    alone.post("sys/replication/reindex", {})
    alone.advance("150ms")
    core = alone.core
    core.storage.apply({reindex.WANTED: b"rotten"}, 0)
    alone.set_leadership(core.leadership._replace(term=1))
    alone.advance("5s")
    assert reindex.WANTED in core.damaged
    assert "reindex_in_progress" not in alone.get(DR + "status").data
    assert alone.post("sys/replication/reindex", {}).ok
    alone.advance("5s")
    assert core.storage.get(reindex.WANTED) is None


@pytest.mark.parametrize("marker", [b"[1,2]", b"[false,false]", b"{", b"\xff", b"5", b"[null]"])
def test_a_marker_that_opens_and_is_not_what_was_written_is_damage(alone, marker):
    core = alone.core
    for key in (reindex.WANTED, reindex.LAST, CHECK):
        core.storage.apply({key: core.keys.encrypt(key, marker, core.entropy)}, 0)
        alone.set_leadership(core.leadership._replace(term=1))
        alone.advance("5s")
        answer = alone.get(DR + "status")
        if key == reindex.WANTED:
            assert key in core.damaged
            assert "reindex_in_progress" not in answer.raise_for_status().data
        else:
            assert (answer.status, f"the value stored at {key} does not open" in answer.errors[0]) == (500, True)
        assert alone.get("sys/health").ok
        assert alone.post("sys/replication/reindex", {}).ok
        alone.advance("5s")
        alone.post("sys/replication/merkle-check").raise_for_status()
        assert alone.get(DR + "status").ok


def test_a_vault_in_a_file_begins_again_after_it_was_closed(tmp_path):
    path = str(tmp_path / "lab.db")
    clock = Later()
    vault = Vault.open(path, clock=clock)
    vault.post(DR + "primary/enable", {})
    vault.post("sys/replication/reindex", {})
    vault.advance("150ms")
    vault.close()
    again = Vault.open(path, clock=clock)
    try:
        assert again.get(DR + "status").data["reindex_stage"] == "scanning"
        again.advance("1s")
        assert again.get(DR + "status").data["last_reindex_epoch"] != "0"
    finally:
        again.close()
