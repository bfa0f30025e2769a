"""Replication between clusters, carried over the network: streams, comparisons, failovers and who is let in."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.nodes.election import read_lease
from labkit.lab.operations.runbook_effects import Ask, RunbookError
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.lab.wire.messages import ReplicationQuestion
from labkit.lab.wire.reports import Progressed
from labkit.vault.core import Leadership
from labkit.vault.sealing.otp import decode
from tests.counting import calls_made

SECOND_NS = 1_000_000_000
DR = "sys/replication/dr/"


def put(lab: Lab, cluster: str, *names: str, value: str = "x") -> None:
    for name in names:
        assert lab[cluster].post(f"secret/data/{name}", {"data": {"value": value}}).ok


def seen(lab: Lab, node_or_cluster: str, since_ns: int = 0) -> list[str]:
    """What the nodes of a cluster let be seen, from an instant on."""
    events = [event for event in lab.trace.select("observed") if event.at_ns >= since_ns]
    return [event.what for event in events if event.node.startswith(node_or_cluster)]


def states(lab: Lab, cluster: str, since_ns: int = 0) -> list[str]:
    return [event.state for event in lab.trace.select("mode", cluster=cluster) if event.at_ns >= since_ns]


def level(lab: Lab, first: str = "paris", second: str = "tokyo") -> bool:
    """Whether the second streams and both hold the same."""
    return (
        (first, second) in lab.queries.streaming_pairs()
        and lab.queries.contents(first) == lab.queries.contents(second)
        and lab[first].root == lab[second].root
    )


# ---- the quiet way


def test_a_write_arrives_after_one_way_and_as_one_entry(calm):
    put(calm, "paris", "app")
    written_ns = calm.ledger.writes[-1].at_ns
    assert not level(calm)
    calm.run(until=level)

    assert 79_000_000 < calm.now - written_ns < 82_000_000
    assert calm["tokyo"].status()["last_remote_wal"] == calm.queries.last_entry("paris")


def test_each_side_reports_how_far_it_is(calm):
    """The primary what its journal has reached, under no upstream; the secondary what it applied, under its own."""
    calm.run("1s")
    reported: list[Progressed] = []
    for name in ("paris-1", "tokyo-1"):
        node = calm.parts.nodes[name]
        services = node.link._services

        def watched(report, emit=services.emit):
            reported.extend([report] if isinstance(report, Progressed) else [])
            emit(report)

        node.link._services = services._replace(emit=watched)
    put(calm, "paris", "app")
    calm.run("1s")
    newest = calm.queries.last_entry("paris")

    assert [(report.cluster, *report[2:]) for report in reported] == [
        ("paris", "", newest),
        ("tokyo", "paris", newest),
    ]


def test_an_idle_pair_writes_nothing(calm):
    before = {name: (calm.queries.last_entry(name), calm.queries.contents(name)) for name in ("paris", "tokyo")}
    calm.run("5m")

    assert {name: (calm.queries.last_entry(name), calm.queries.contents(name)) for name in ("paris", "tokyo")} == before
    assert level(calm)


def test_heartbeats_tell_both_sides_how_the_other_is(calm):
    calm.run("5s")
    (primary,) = calm["tokyo"].status()["primaries"]
    (secondary,) = calm["paris"].status()["secondaries"]

    assert primary["connection_status"] == secondary["connection_status"] == "connected"
    assert (primary["api_address"], secondary["node_id"]) == ("http://paris-1:8200", "tokyo")
    assert 155 <= int(primary["last_heartbeat_duration_ms"]) <= 165
    assert 0 <= int(primary["replication_primary_canary_age_ms"]) < 1_300
    assert calm["tokyo"].status()["known_primary_cluster_addrs"] == [
        f"https://paris-{number}:8201" for number in (1, 2, 3)
    ]


def test_secrets_tokens_policies_and_keys_all_arrive(calm):
    paris = calm["paris"]
    put(calm, "paris", "app", value="ada")
    ciphertext = paris.post("transit/encrypt/orders", {"plaintext": "aGVsbG8="}).data["ciphertext"]
    paris.put("sys/policies/acl/reader", {"policy": 'path "secret/data/*" { capabilities = ["read"] }'})
    token = paris.post("auth/token/create", {"policies": ["reader"]}).auth["client_token"]
    calm.run("1s").crash("paris")
    calm["tokyo"].promote()
    tokyo = calm["tokyo"]

    assert tokyo.get("secret/data/app", token=token).data["data"] == {"value": "ada"}
    assert tokyo.post("secret/data/app", {"data": {}}, token=token).status == 403
    assert tokyo.post("transit/decrypt/orders", {"ciphertext": ciphertext}).data["plaintext"] == "aGVsbG8="


def test_what_heartbeats_told_is_still_known_after_a_restore(calm):
    again = Lab.restore(calm.snapshot())

    assert [again[name].status() for name in ("paris", "tokyo")] == [calm[name].status() for name in ("paris", "tokyo")]
    assert again["paris"].status()["secondaries"][0]["connection_status"] == "connected"


# ---- interruptions


def test_after_a_short_cut_the_stream_goes_on_from_the_guard(calm):
    calm.partition("paris", "tokyo")
    put(calm, "paris", *"abcdef")
    calm.run("20s")
    assert calm["tokyo"].status()["connection_state"] != "ready"
    assert calm["tokyo"].status()["state"] == "stream-wals", "the contents are what they were"
    at_ns = calm.now
    calm.heal()
    calm.run(until=level)

    assert "guard_found" in seen(calm, "tokyo", at_ns)
    assert "missing_guard" not in seen(calm, "tokyo", at_ns)
    assert states(calm, "tokyo", at_ns) == []


def test_after_a_long_cut_it_streams_as_soon_as_any_node_says_who_leads(calm):
    calm.faults.partition("paris", "tokyo")
    calm.run("38s")
    assert calm["tokyo"].status()["connection_state"] == "connecting"
    calm.faults.heal("paris", "tokyo")
    calm.run("2s")
    refused = [dict(event.fields)["reason"] for event in calm.trace.select("observed", what="replication_disconnected")]

    assert refused[-1] == "not the active node"
    assert calm["tokyo"].status()["connection_state"] == "ready"


def test_a_primary_never_waits_for_a_secondary(calm):
    calm.partition("paris", "tokyo")
    at_ns = calm.now
    put(calm, "paris", *map(str, range(50)))

    assert calm.now - at_ns < SECOND_NS


def test_a_ring_that_is_too_short_for_a_cut_forces_a_comparison(short_ring):
    lab = short_ring
    lab.run("2s").partition("paris", "tokyo")
    lab.run("5s")
    assert lab.queries.last_entry("paris") > lab.parts.nodes["tokyo-1"].vault.core.replica.sync.position + 8
    at_ns = lab.now
    lab.heal()
    lab.run("2m")

    gone_through = states(lab, "tokyo", at_ns)
    assert gone_through[:2] == ["merkle-diff", "merkle-sync"]
    assert gone_through[-1] == "stream-wals"
    assert level(lab)
    assert {"missing_guard", "merkle_diff", "merkle_sync"} <= set(seen(lab, "tokyo", at_ns))


def test_a_comparison_fetches_what_differs_and_nothing_else(short_ring):
    lab = short_ring
    lab.run("61s")  # the writers have stopped
    lab.run(until=level)
    lab.partition("paris", "tokyo")
    for number in range(20):
        put(lab, "paris", "hot", value=str(number))
    lab["paris"].delete(f"secret/metadata/{lab.ledger.writes[0].path.removeprefix('secret/data/')}")
    before, after = lab.queries.contents("tokyo"), lab.queries.contents("paris")
    lab.heal()
    lab.run(until=level)
    (observed,) = [dict(e.fields) for e in lab.trace.select("observed", what="merkle_sync") if e.at_ns > 61 * SECOND_NS]

    assert observed["fetch"] == sum(before.get(key) != value for key, value in after.items())
    assert observed["delete"] == sum(key not in after for key in before) > 0
    assert observed["fetch"] < 30, "ten kept versions and what lists them; the log holds three keys for each of twenty"


@pytest.mark.parametrize("seconds", [3, 8])
def test_a_short_ring_comes_to_rest_under_load_as_well(short_ring, seconds):
    lab = short_ring
    lab.run("2s").partition("paris", "tokyo")
    lab.run(f"{seconds}s").heal()
    lab.run(until="50s")
    lab.run(until=level)

    assert lab.now < 52 * SECOND_NS, "the writers are still at work"
    assert lab.invariants.broken == {}


def test_a_ring_that_is_written_over_during_a_comparison_makes_it_begin_again_until_the_load_ends(hasty_snapshot):
    lab = Lab.restore(hasty_snapshot)
    lab.run("2s").partition("paris", "tokyo")
    lab.run("3s").heal()
    lab.run(until="12s")
    assert {"generation_gone", "merkle_loop"} <= set(seen(lab, "tokyo"))
    assert not level(lab)
    lab.run("60s")

    assert level(lab)
    assert lab["tokyo"].status()["state"] == "stream-wals"


# ---- another node becomes active


@pytest.mark.slow
def test_when_the_primarys_active_node_dies_the_secondary_finds_the_next(lab):
    lab.run("3s").crash("paris-1")
    at_ns = lab.now
    lab.run("60s")
    lab.run(until=level)

    assert lab["paris"].active == "paris-2"
    assert lab["tokyo"].mode == "secondary"
    assert lab["tokyo"].status()["primaries"][0]["api_address"] == "http://paris-2:8200"
    assert {"primary_announced", "replication_connected"} <= set(seen(lab, "tokyo", at_ns))
    assert lab.ledger.promotions == []


@pytest.mark.slow
def test_no_acknowledged_write_is_lost_by_that(lab):
    lab.run("3s").crash("paris-1")
    lab.run("60s")
    lab.run(until=level)
    paths = [write.path for write in lab.ledger.writes if write.path.startswith("secret/")]

    assert len(paths) > 100
    assert all(lab["paris"].get(path).ok for path in paths[::7])


@pytest.mark.slow
def test_when_the_secondarys_active_node_dies_the_next_goes_on_where_it_was(lab):
    lab.run("3s")
    at_ns = lab.now
    lab.crash("tokyo-1")
    lab.run("60s")
    lab.run(until=level)

    assert lab["tokyo"].active == "tokyo-2"
    assert "missing_guard" not in seen(lab, "tokyo-2", at_ns)
    assert "merkle-sync" not in states(lab, "tokyo", at_ns)
    assert "guard_found" in seen(lab, "tokyo-2", at_ns)


def test_who_leads_again_reports_the_state_that_it_is_in(short_ring):
    """What it reported last was followed by another node's reports."""
    lab = short_ring
    lab.run("2s").partition("paris", "tokyo")
    lab.run("5s").pause("tokyo-1")
    lab.run("15s").resume("tokyo-1")
    lab.run("2s").heal()
    lab.run(until=lambda lab: states(lab, "tokyo")[-1] == "merkle-diff")
    assert lab["tokyo"].active == "tokyo-2"
    lab.partition("paris", "tokyo")
    for node in ("tokyo-2", "tokyo-3"):
        lab.crash(node)
    lab.run("10s")

    assert lab["tokyo"].active == "tokyo-1"
    assert states(lab, "tokyo")[-1] == lab.parts.nodes["tokyo-1"].sync.state == "stream-wals"


@pytest.mark.slow
def test_both_at_once_is_no_worse(lab):
    lab.run("3s").crash("paris-1")
    lab.crash("tokyo-1")
    lab.run("70s")
    lab.run(until=level)

    assert (lab["paris"].active, lab["tokyo"].active) == ("paris-2", "tokyo-2")


# ---- who is let in


def test_revoking_an_id_cuts_it_off_at_once(calm):
    at_ns = calm.now
    assert calm["paris"].post(DR + "primary/revoke-secondary", {"id": "tokyo"}).status == 204
    calm.run("200ms")
    reason = [dict(e.fields)["reason"] for e in calm.trace.select("observed", what="replication_disconnected")]

    assert reason == ["the activation of this id was revoked"]
    assert calm.trace.select("observed", what="replication_disconnected")[0].at_ns - at_ns < 90_000_000
    assert calm["tokyo"].status()["connection_state"] == "transient_failure"
    assert calm["paris"].status()["known_secondaries"] == []


def test_and_nothing_written_afterwards_reaches_it_however_often_it_tries(calm):
    calm["paris"].post(DR + "primary/revoke-secondary", {"id": "tokyo"})
    put(calm, "paris", "after")
    before = calm.queries.contents("tokyo")
    calm.run("10m")
    tries = [e for e in calm.trace.select("message", source="tokyo-1", what="guard_hash") if e.at_ns > 2 * SECOND_NS]
    waits_s = [(b.sent_ns - a.sent_ns) / SECOND_NS for a, b in pairwise(tries)]

    assert calm.queries.contents("tokyo") == before
    assert 8 < len(tries) < 40, "two after each pause at most: a standby's, and the active node's that it names"
    assert waits_s[0] < 6 < max(waits_s) < 75, "the backoff grows, up to a minute and its spread"


def test_a_new_token_brings_it_back_without_a_wipe(calm):
    calm["paris"].post(DR + "primary/revoke-secondary", {"id": "tokyo"})
    put(calm, "paris", "after")
    at_ns = calm.now
    assert calm.work_through("repoint", cluster="tokyo", to="paris") == "tokyo streams from paris"
    calm.run("1s")

    assert level(calm)
    assert "merkle_sync" not in seen(calm, "tokyo", at_ns), "the guard is still in the ring: nothing to compare"


def test_a_question_before_the_connection_is_refused(calm):
    link = calm.parts.nodes["paris-1"].link
    message = {"serial": 1, "generation": 0, "pages": []}

    assert link.secondaries._judge("tokyo-2", ReplicationQuestion("fetch_keys", "tokyo", message, {})) == (
        "no connection of that id is open",
        ("https://paris-1:8201",),
    )
    assert link.secondaries._judge("tokyo-1", ReplicationQuestion("fetch_keys", "lima", message, {})) == (
        "no connection of that id is open",
        ("https://paris-1:8201",),
    )
    assert link.secondaries._judge("tokyo-1", ReplicationQuestion("fetch_keys", "tokyo", message, {})) == ("", ())
    refused, addresses = calm.parts.nodes["paris-2"].link.secondaries._judge(
        "tokyo-1", ReplicationQuestion("fetch_keys", "tokyo", message, {})
    )
    assert (refused, addresses) == ("not the active node", ("https://paris-1:8201",))


def test_a_connection_without_the_right_certificate_is_refused(calm):
    link = calm.parts.nodes["paris-1"].link
    before = dict(link.secondaries.connected)
    shown = {"certificate": "another"}
    refused, _ = link.secondaries._judge("tokyo-1", ReplicationQuestion("guard_hash", "tokyo", {"serial": 1}, shown))
    stranger, _ = link.secondaries._judge("tokyo-1", ReplicationQuestion("guard_hash", "nobody", {"serial": 1}, shown))

    assert refused == "the certificate is not the one that was issued for this id"
    assert stranger == "the activation of this id was revoked, or never issued"
    assert link.secondaries.connected == before


def test_a_demoted_primary_lets_its_secondaries_go(calm):
    calm["paris"].demote()
    calm.run("1s")
    reasons = [dict(e.fields)["reason"] for e in calm.trace.select("observed", what="replication_disconnected")]

    assert reasons[0] == "not a primary but secondary"
    assert calm["tokyo"].status()["connection_state"] == "transient_failure"


# ---- failover, and back


@pytest.mark.slow
def test_failback_loses_nothing_and_wipes_nothing(lab):
    """Paris, then tokyo, then paris again; writers go on all the while, each handover is waited for."""
    lab.run("3s")
    set_id = lab["paris"].status()["cluster_id"]
    hand_over(lab, "paris", "tokyo")
    lab.run("5s")
    hand_over(lab, "tokyo", "paris")
    lab.run("70s")
    paths = [write.path for write in lab.ledger.writes if write.path.startswith("secret/")]
    by = {write.committed.cluster for write in lab.ledger.writes}

    assert by == {"paris", "tokyo"}
    assert lab.ledger.lost() == []
    assert all(lab["paris"].get(path).ok for path in paths[::5])
    assert level(lab)
    assert lab["paris"].status()["cluster_id"] == lab["tokyo"].status()["cluster_id"] == set_id
    assert lab.invariants.broken == {}
    assert [promotion.survivor for promotion in lab.ledger.promotions] == ["tokyo", "paris"]


def hand_over(lab: Lab, old: str, new: str) -> None:
    """A planned failover: demote, wait for what is under way, promote, and turn the old one round."""
    lab[old].demote()
    lab.run(until=lambda one: one.queries.contents(old) == one.queries.contents(new))
    lab[new].promote()
    lab.work_through("repoint", cluster=old, to=new)


def test_what_a_lost_primary_wrote_alone_is_gone_once_it_follows_the_new_one(calm):
    put(calm, "paris", "both")
    calm.run("1s").partition("paris", "tokyo")
    put(calm, "paris", "only-paris", "clash", value="paris")
    calm["tokyo"].promote()
    put(calm, "tokyo", "only-tokyo", "clash", value="tokyo")
    calm.heal()
    calm["paris"].demote()
    calm.work_through("repoint", cluster="paris", to="tokyo")
    calm.run("1s")

    assert level(calm, "tokyo", "paris")
    assert calm["tokyo"].get("secret/data/clash").data["data"] == {"value": "tokyo"}
    assert calm["tokyo"].get("secret/data/only-paris").status == 404
    assert calm["tokyo"].get("secret/data/both").ok
    assert [write.path for write in calm.ledger.lost()] == ["secret/data/only-paris", "secret/data/clash"]


def test_a_newly_enabled_secondary_is_refused_until_it_has_everything_and_force_goes_past_that(calm):
    """Five hundred secrets over a slow line take longer than the ceremony of the token."""
    calm.work_through("disable", cluster="tokyo")
    put(calm, "paris", *map(str, range(500)))
    calm.slow("paris", "tokyo", latency="3s")
    calm.parts.console.start("enable-secondary", cluster="tokyo", primary="paris")
    calm.run(until=lambda lab: lab.queries.mode_of("tokyo") == "secondary")
    calm.parts.console.credentials["tokyo"] = calm.parts.console.credentials["paris"]
    token = operation_token(calm, "tokyo")
    answer = calm["tokyo"].post(DR + "secondary/promote", {"dr_operation_token": token}, token="")
    assert answer.status == 503
    assert '"force"' in answer.errors[0]
    assert calm["tokyo"].mode == "secondary"
    answer = calm["tokyo"].post(DR + "secondary/promote", {"dr_operation_token": token, "force": True}, token="")

    assert answer.status == 200
    assert calm["tokyo"].mode == "primary"
    assert calm.queries.contents("tokyo").keys() < calm.queries.contents("paris").keys()


def operation_token(lab: Lab, cluster: str) -> str:
    """Go through the ceremony by hand."""
    path = DR + "secondary/generate-operation-token/"
    started: Any = lab[cluster].post(path + "attempt", {}, token="").body
    for share in lab[cluster].unseal_keys[: started["required"]]:
        given: Any = lab[cluster].post(path + "update", {"key": share, "nonce": started["nonce"]}, token="").body
    return decode(given["encoded_token"], started["otp"])


@pytest.mark.slow
def test_a_forced_promotion_in_the_middle_of_a_comparison_keeps_what_had_been_applied(short_ring):
    lab = short_ring
    lab.run("2s").partition("paris", "tokyo")
    lab.run("5s")
    lab.slow("paris", "tokyo", latency="2s")
    lab.heal()
    lab.run(until=lambda one: states(one, "tokyo")[-1:] == ["merkle-sync"])
    applied = lab.parts.nodes["tokyo-1"].vault.core.replica.sync.position
    lab.crash("paris")
    lab["tokyo"].promote(force=True)

    commits = lab.ledger.histories.commits
    later = [write for write in lab.ledger.writes if commits[write.committed.commit].entry_number > applied]
    assert lab.ledger.rpo().writes == len([write for write in later if write.committed.cluster == "paris"])
    assert lab.invariants.broken == {}


def test_without_force_the_operator_waits_for_the_comparison_to_end(short_ring):
    lab = short_ring
    lab.run("2s").partition("paris", "tokyo")
    lab.run("5s").heal()
    lab.run(until=lambda one: states(one, "tokyo")[-1:] == ["merkle-diff"])
    at_ns = lab.now
    assert lab["tokyo"].promote() == "tokyo is the primary now"

    assert lab.now - at_ns > 100_000_000
    assert states(lab, "tokyo", at_ns)[-2:] == ["stream-wals", "running"]


# ---- three clusters


def test_two_secondaries_hold_the_same(trio):
    put(trio, "paris", "app")
    trio.run("1s")

    assert trio["paris"].root == trio["tokyo"].root == trio["lima"].root
    assert trio["paris"].status()["known_secondaries"] == ["lima", "tokyo"]


def test_when_one_is_promoted_the_other_must_be_given_a_new_token(trio):
    put(trio, "paris", "app")
    trio.run("1s").crash("paris")
    trio["tokyo"].promote()
    put(trio, "tokyo", "new")
    trio.run("60s")
    assert trio["lima"].status()["connection_state"] != "ready"
    assert trio.queries.contents("lima") != trio.queries.contents("tokyo")
    at_ns = trio.now
    assert trio.work_through("repoint", cluster="lima", to="tokyo") == "lima streams from tokyo"
    trio.run("1s")

    assert level(trio, "tokyo", "lima")
    fetched = [dict(e.fields)["fetch"] for e in trio.trace.select("observed", what="merkle_sync") if e.at_ns > at_ns]
    assert sum(fetched) < 20, "compared, not wiped"


def test_addresses_alone_do_not_make_it_another_primarys_secondary(trio):
    """Its certificate is of the old primary's authority."""
    trio.run("1s").crash("paris")
    trio["tokyo"].promote()
    token = operation_token(trio, "lima")
    answer = trio["lima"].post(
        DR + "secondary/update-primary",
        {"dr_operation_token": token, "update_primary_addrs": ["https://tokyo-1:8201"]},
        token="",
    )

    assert answer.status == 503
    assert "nothing was changed" in answer.errors[0]


def test_revoking_one_leaves_the_other(trio):
    trio["paris"].post(DR + "primary/revoke-secondary", {"id": "lima"})
    put(trio, "paris", "app")
    trio.run("2s")

    assert level(trio, "paris", "tokyo")
    assert trio.queries.contents("lima") != trio.queries.contents("paris")


def test_a_secondary_of_a_secondary_there_is_not(calm):
    calm.work_through("disable", cluster="paris")
    with pytest.raises(RunbookError, match="this cluster is a DR secondary"):
        calm.work_through("enable-secondary", cluster="paris", primary="tokyo")


# ---- corruption


def test_a_corrupt_subpage_spreads_upward_with_the_next_write_under_it_and_contents_stay_right(calm):
    put(calm, "paris", "hot")
    before = calm.queries.contents("paris")
    put(calm, "paris", "hot")
    calm.run("1s")
    (key,) = [key for key, value in calm.queries.contents("paris").items() if key in before and before[key] != value]
    calm.corrupt("tokyo", layer="subpage", key=key)
    assert calm["tokyo"].root == calm["paris"].root, "nothing above it was folded yet"
    put(calm, "paris", "hot")
    calm.run("2s")

    assert calm["tokyo"].root != calm["paris"].root
    assert calm.queries.contents("tokyo") == calm.queries.contents("paris")
    assert calm.invariants.broken == {}, "injected corruption suspends the rule on roots"


def test_a_comparison_under_a_corrupt_subpage_finds_nothing_to_fetch_there(short_ring):
    """The page differs, its leaves do not: only what was really written is fetched."""
    lab = short_ring
    lab.run("61s")
    lab.run(until=level)
    lab.corrupt("tokyo", layer="subpage")
    at_ns = lab.now
    lab.partition("paris", "tokyo")
    before = lab.queries.contents("paris")
    put(lab, "paris", *[f"n{number}" for number in range(10)])
    written = sum(before.get(key) != value for key, value in lab.queries.contents("paris").items())
    lab.heal()
    lab.run("60s")
    (observed,) = [dict(e.fields) for e in lab.trace.select("observed", what="merkle_sync") if e.at_ns > at_ns]

    assert (observed["fetch"], observed["delete"]) == (written, 0)
    assert lab.queries.contents("tokyo") == lab.queries.contents("paris")


def test_a_node_that_was_overtaken_while_the_stream_arrives_steps_down_and_the_lab_goes_on(calm):
    """A stale term at the commit of streamed entries never leaves through the clock (R25)."""
    lab = calm
    node = lab.parts.nodes[lab["tokyo"].active]
    lease = read_lease(node.store)
    lab.run(until=lambda one: read_lease(node.store) != lease)  # it looks at the lease a second later
    node.store.claim(node.leadership.term + 1)
    put(lab, "paris", "a")
    lab.run("20s")
    put(lab, "paris", "b")
    lab.run("10s")

    assert "stepped down" in seen(lab, "tokyo-1") + seen(lab, "tokyo-2") + seen(lab, "tokyo-3")
    assert level(lab)


def test_a_damaged_position_of_the_secondary_is_read_as_none_after_a_takeover(calm):
    lab = calm
    put(lab, "paris", "a")
    lab.run("2s")
    store, term = lab.parts.nodes["tokyo-1"].store, lab.parts.nodes["tokyo-1"].leadership.term
    stored = store.get("node/position")
    store.apply({"node/position": stored[:-1] + bytes([stored[-1] ^ 1])}, term)
    lab.crash("tokyo-1")
    put(lab, "paris", "b")
    lab.run("30s")

    assert level(lab)


# ---- a lead that is lost


def test_a_sync_that_begins_again_on_one_node_takes_no_answer_to_the_one_before(calm):
    node = calm.parts.nodes["tokyo-1"]
    leadership, before = node.leadership, node.sync
    node.vault.set_leadership(Leadership(active=False))
    node.after_step()
    assert node.sync is None
    again = Lab.restore(calm.snapshot()).parts.nodes["tokyo-1"]
    for one in (node, again):
        one.vault.set_leadership(leadership)
        one.after_step()
        assert before is not None
        assert one.sync is not None
        assert one.sync.life > before.serial


@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
def test_a_term_that_is_over_ends_a_lead_and_no_lab(lab, cluster):
    """Whatever is committed next: a request's step, the lease, a streamed entry, a position."""
    leader = lab.parts.nodes[f"{cluster}-1"]
    lab.parts.stores[cluster].claim(99)
    lab.run("10s")

    assert lab.parts.nodes[lab[cluster].active].leadership.term == 100
    assert leader.leadership.term != 1
    assert lab.parts.stores[cluster].get("node/lease") is not None


@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
def test_who_loses_the_lead_while_it_stands_still_and_takes_it_again_starts_again(calm, cluster):
    """Its process stalls; who led meanwhile is down when it goes on, and believes that it led all the time."""
    first, second, third = calm[cluster].nodes
    calm.crash(third)
    calm.pause(first)
    calm.run("6s")
    assert calm[cluster].active == second
    calm.crash(second)
    calm.run("4s")
    calm.resume(first)
    calm.run("1s")
    assert (calm[cluster].active, calm.parts.nodes[first].leadership.term) == (first, 3)
    put(calm, "paris", "later")
    calm.run("5s")

    assert level(calm)
    assert list(calm.parts.nodes["paris-1"].link.secondaries.streams) == ["tokyo"]


def test_a_paused_node_that_finds_another_mode_than_it_knew_steps_down(calm):
    """While it was paused another node led and joined the set again: this one keeps no index of what is there now."""
    calm.work_through("disable", cluster="tokyo")
    calm.pause("tokyo-1")
    calm.run(until=lambda lab: lab["tokyo"].active not in ("", "tokyo-1"))
    calm.parts.console.ask(Ask("tokyo", "GET", "sys/health", node="tokyo-1"))
    calm.work_through("enable-secondary", cluster="tokyo", primary="paris")
    calm.resume("tokyo-1")
    calm.run("10s")

    stepped = [event.node for event in calm.trace.select("observed", what="stepped down")]
    assert stepped == ["tokyo-1"]
    assert not calm.parts.nodes["tokyo-1"].active
    assert calm["tokyo"].status()["state"] == "stream-wals"
    assert calm.invariants.broken == {}


def test_a_node_that_ceased_to_lead_reports_its_connection_again_when_it_leads(calm):
    """Another one may have reported another state meanwhile."""
    node = calm["tokyo"].active
    link = calm.parts.nodes[node].link
    calm.run("1s")
    assert link._connection == "ready"
    calm.pause(node)
    calm.run("20s")
    calm.resume(node)
    calm.run("1s")
    assert calm["tokyo"].active not in ("", node)
    assert link._connection == ""
    assert calm.queries.progress.connections["tokyo"][-1][1] == "ready"


CALLS_PER_WRITE = 809
"""From a client's timer to its answer, with the secondary's part, heartbeats and leases: of Python's functions and
built-in ones.  It may fall, and rises only with a line that says why.
"""


def test_a_replicated_write_takes_no_more_calls_than_it_did():
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS // 10, keys=10)
    client = ClientPlan(name="app", site="lisbon", use=("paris",), workload=(work,))
    lab = Lab(pair().with_clients(client), seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("2s")
    before = len(lab.ledger.writes)
    calls = calls_made(lambda: lab.run("10s"))

    assert len(lab.ledger.writes) - before == 100
    assert lab.lag("paris", "tokyo").entries <= 2, "they were applied, but for what is on its way"
    assert calls / 100 <= CALLS_PER_WRITE
