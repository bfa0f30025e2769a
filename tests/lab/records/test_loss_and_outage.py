"""The arithmetic of loss and outage; then measured in labs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import BalancerPlan, ClientPlan, WorkloadPlan, pair
from labkit.lab.records.ledger import CommittedWrite
from labkit.lab.records.loss_and_outage import Promotion, RecoveryLedger, RecoveryPoint, RecoveryTime
from labkit.lab.wire.messages import Correlation
from labkit.service.message import Request, Response
from labkit.service.silence import Silence
from labkit.vault.sealing.otp import decode

SECOND_NS = 1_000_000_000


def promotion(at_ns: int, missing: tuple[int, ...] = (), survivor: str = "tokyo", fault_ns: int = 0) -> Promotion:
    """Of a survivor that followed history 0, with ten commits."""
    return Promotion(at_ns, survivor, "paris", 0, 10, frozenset(missing), fault_ns or at_ns, False)


def write(ledger: RecoveryLedger, at_ns: int, commit: int, cluster: str = "paris", history: int = 0) -> None:
    """A write that was committed and acknowledged."""
    asked = Correlation("c", at_ns, 1)
    ledger.commit(asked, CommittedWrite(cluster, history, commit))
    assert ledger.end(at_ns, "c", "secret/data/x", "answered", asked)


def test_nothing_is_lost_before_any_promotion():
    ledger = RecoveryLedger()
    write(ledger, 1, 1)

    assert ledger.lost() == []
    assert (ledger.rpo(), ledger.rto()) == (RecoveryPoint(0, 0.0), RecoveryTime(None))


def test_lost_is_what_the_survivor_did_not_hold_and_what_came_after():
    ledger = RecoveryLedger()
    for commit in (3, 4, 5):
        write(ledger, commit * SECOND_NS, commit)
    write(ledger, 8 * SECOND_NS, 12)
    write(ledger, 10 * SECOND_NS, 13, history=7)
    ledger.promotions.append(promotion(9 * SECOND_NS, (4, 5), fault_ns=6 * SECOND_NS))

    assert [lost.committed.commit for lost in ledger.lost()] == [4, 5, 12]
    assert ledger.rpo() == RecoveryPoint(3, 2.0, after_fault=1, seconds_after=2.0)


def test_writes_of_which_all_came_after_the_fault_reach_back_no_time():
    ledger = RecoveryLedger()
    write(ledger, 7 * SECOND_NS, 4)
    ledger.promotions.append(promotion(9 * SECOND_NS, (4,), fault_ns=6 * SECOND_NS))

    assert ledger.rpo() == RecoveryPoint(1, 0.0, after_fault=1, seconds_after=1.0)


def test_the_outage_ends_with_the_first_write_that_the_survivor_acknowledges():
    ledger = RecoveryLedger()
    ledger.promotions.append(promotion(9 * SECOND_NS, fault_ns=6 * SECOND_NS))
    assert ledger.rto() == RecoveryTime(None)
    write(ledger, 10 * SECOND_NS, 11)
    assert ledger.rto() == RecoveryTime(None), "the old primary does not count"
    write(ledger, 13 * SECOND_NS, 12, "tokyo", 1)
    write(ledger, 14 * SECOND_NS, 13, "tokyo", 1)

    assert ledger.rto() == RecoveryTime(7.0)


def test_an_answer_that_came_late_to_a_write_from_before_the_demotion_ends_no_outage():
    ledger = RecoveryLedger()
    ledger.promotions.append(promotion(9 * SECOND_NS, fault_ns=6 * SECOND_NS))
    write(ledger, 10 * SECOND_NS, 9, "tokyo", 1)
    assert ledger.rto() == RecoveryTime(None)
    write(ledger, 11 * SECOND_NS, 10, "tokyo", 1)

    assert ledger.rto() == RecoveryTime(5.0)


def test_a_point_is_of_the_last_promotion_and_lost_of_all():
    ledger = RecoveryLedger()
    write(ledger, 5, 5)
    ledger.promotions += [promotion(10, (5,)), promotion(20)]

    assert ([lost.committed.commit for lost in ledger.lost()], ledger.rpo().writes) == ([5], 0)
    assert ledger.lost(ledger.promotions[0]) == list(ledger.writes)


def test_its_state_is_plain_and_brings_it_back():
    ledger = RecoveryLedger()
    write(ledger, 5, 5)
    ledger.histories.add("paris", ((1, (("a", b"1"),)),))
    ledger.outages.seen([("down", "paris")], 7)
    ledger.promotions.append(promotion(10, (5,)))
    again = RecoveryLedger(ledger.state())

    assert again.state() == ledger.state()
    assert (again.rpo(), again.lost()) == (ledger.rpo(), ledger.lost())


def test_it_says_how_much():
    ledger = RecoveryLedger()
    write(ledger, 5, 5)
    ledger.promotions.append(promotion(10, (5,)))

    assert repr(ledger) == "Ledger(1 writes acknowledged, 1 lost, 0 in doubt)"


def test_a_write_of_which_an_earlier_attempt_was_held_is_not_lost():
    ledger = RecoveryLedger()
    for place, value in enumerate((b"v", b"v", b"w", b"w")):
        ledger.histories.add("paris", ((place, ((str(place), bytes(20)),)),), value)
    for number, (first, second) in enumerate(((0, 1), (2, 3))):
        for attempt, commit in ((1, first), (2, second)):
            value = ledger.histories.commits[commit].value_digest
            ledger.commit(Correlation("c", number, attempt), CommittedWrite("paris", 0, commit, value_digest=value))
        ledger.end(5, "c", f"secret/data/{number}", "answered", Correlation("c", number, 2))
    ledger.histories.follow("tokyo", "paris")
    continued = ledger.histories.continue_alone("tokyo", {"0": bytes(20)}.get)
    assert continued is not None
    own = ledger.histories.history_of("tokyo")
    ledger.promotions.append(Promotion(9, "tokyo", "paris", *continued, 7, False, own))

    assert [(write.path, write.committed.since) for write in ledger.writes] == [
        ("secret/data/0", 0),
        ("secret/data/1", 2),
    ]
    assert [write.path for write in ledger.lost()] == ["secret/data/1"]
    ledger.histories.add("paris", ((9, (("x", None),)),), b"w")
    assert len(ledger.lost()) == 1, "the old primary does not count"
    ledger.histories.add("tokyo", ((9, (("x", None),)),), b"w")
    assert ledger.lost() == [], "another writer left the same value on the survivor"


def test_what_was_written_before_by_somebody_else_keeps_no_write():
    ledger = RecoveryLedger()
    ledger.histories.add("paris", ((1, (("x", bytes(20)),)),), b"v")
    ledger.histories.add("paris", ((2, (("x", None),)),), b"other")
    ledger.histories.add("paris", ((3, (("y", None),)),), b"v")
    ledger.commit(Correlation("c", 1, 1), CommittedWrite("paris", 0, 2, value_digest=b"v"))
    ledger.end(5, "c", "secret/data/x", "answered", Correlation("c", 1, 1))
    ledger.histories.follow("tokyo", "paris")
    continued = ledger.histories.continue_alone("tokyo", {"y": bytes(20)}.get)
    assert continued is not None
    ledger.promotions.append(Promotion(9, "tokyo", "paris", *continued, 7, False, ledger.histories.history_of("tokyo")))

    assert len(ledger.lost()) == 1


# ---- in a lab


def test_a_crash_of_a_busy_primary_loses_what_had_not_arrived(lab):
    """What tokyo holds afterwards is looked at write by write, not by numbers."""
    lab.run("10s").crash("paris")
    lab["tokyo"].promote()
    lab.run("10s")
    lost = lab.ledger.lost()
    acknowledged = [
        write for write in lab.ledger.writes if write.committed.cluster == "paris" and write.path.startswith("secret/")
    ]
    gone = [write for write in acknowledged if lab["tokyo"].get(write.path).status == 404]

    assert gone == [write for write in lost if write.path.startswith("secret/")]
    assert 0 < len(gone) < 10
    assert lab.ledger.rpo().writes == len(lost)
    assert 0 < lab.ledger.rpo().seconds < 0.2, "about what is under way on an 80 ms line"
    assert lab.ledger.rto().seconds > 0


def test_the_longer_the_line_is_cut_the_more_is_lost(replicating_snapshot):
    """The cut is the fault: what reaches back before it was on its way, the rest came after."""
    lost = []
    for seconds in (1, 3, 9):
        lab = Lab.restore(replicating_snapshot)
        lab.run("5s").partition("paris", "tokyo")
        lab.run(f"{seconds}s").crash("paris")
        lab["tokyo"].promote()
        point = lab.ledger.rpo()
        lost.append(point.writes)
        assert point.seconds < 0.4
        assert 0 < point.writes - point.after_fault < 5

    assert lost[0] < lost[1] < lost[2]


def test_a_retried_write_that_survives_by_its_first_attempt_is_not_lost():
    """Requests arrive and answers do not, until the line between the clusters is cut."""
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS, from_ns=20 * SECOND_NS, until_ns=22 * SECOND_NS)
    blueprint = pair().with_clients(
        ClientPlan(name="shop", site="lisbon", use=("paris",), timeout_ns=SECOND_NS, retries=5, workload=(work,))
    )
    lab = Lab(blueprint, 7)
    lab.replicate("paris", "tokyo")
    lab.run(until="19s").cut("paris", "lisbon")
    lab.run(until="21500ms").heal("paris", "lisbon")
    lab.partition("paris", "tokyo")
    lab.run("2s").crash("paris")
    lab["tokyo"].promote()
    acknowledged = [write for write in lab.ledger.writes if write.path.startswith("secret/data/shop-1")]
    gone = [write for write in acknowledged if not lab["tokyo"].get(write.path).ok]

    assert any(write.committed.first >= 0 for write in acknowledged)
    assert lab.ledger.lost() == gone


@pytest.mark.parametrize("again", ["the same", "another"])
def test_a_write_that_somebody_repeats_at_the_survivor_is_not_lost(calm, again):
    calm.partition("paris", "tokyo")
    for path, body in (("secret/data/a", {"data": {"n": 1}}), ("transit/keys/a", {})):
        calm["paris"].post(path, body)
    calm["tokyo"].promote(force=True)
    assert len(calm.ledger.lost()) == 2
    calm["tokyo"].post("secret/data/a", {"data": {"n": 1 if again == "the same" else 2}, "options": {"cas": 0}})
    calm["tokyo"].post("transit/keys/a", {})

    lost = [write.path for write in calm.ledger.lost()]
    assert lost == (["transit/keys/a"] if again == "the same" else ["secret/data/a", "transit/keys/a"])


@pytest.mark.parametrize("again", [1, 2, 3])
def test_what_was_damaged_on_purpose_is_no_loss(calm, again):
    for number in range(3):
        calm["paris"].post("secret/data/a", {"data": {"n": number}})
    calm.run("1s")
    for _ in range(again):
        calm.corrupt("tokyo", layer="storage")
    calm.crash("paris")
    calm["tokyo"].promote()

    assert calm.ledger.lost() == []
    assert Lab.restore(calm.snapshot()).ledger.histories.damaged == calm.ledger.histories.damaged
    assert "loss within lag" not in calm.invariants.broken


def test_what_was_damaged_on_purpose_and_not_passed_on_is_no_loss(calm):
    calm["paris"].post("secret/data/a", {"data": {"n": 1}})
    calm.run("1s").corrupt("paris", layer="storage")
    calm["tokyo"].disable()
    calm["tokyo"].enable_secondary("paris")
    calm["paris"].post("secret/data/b", {"data": {"n": 1}})
    calm.run("5s").crash("paris")
    calm["tokyo"].promote(force=True)

    assert calm["tokyo"].get("secret/data/a").status != 200
    assert calm.ledger.lost() == []
    assert "loss within lag" not in calm.invariants.broken


def test_damage_hides_no_write_that_came_after_it(calm):
    key = calm["paris"].post("secret/data/a", {"data": {"n": 1}}) and "secret/data/a"
    calm.run("1s").corrupt("tokyo", layer="storage")
    calm.partition("paris", "tokyo")
    calm["paris"].post(key, {"data": {"n": 2}})
    calm["tokyo"].promote(force=True)

    assert [write.committed.version for write in calm.ledger.lost()] == [2]


def test_a_planned_failover_loses_nothing(lab):
    lab.run("5s")
    lab["paris"].demote()
    lab.run("1s")
    lab["tokyo"].promote()
    lab.run("5s")
    acknowledged = [write for write in lab.ledger.writes if write.path.startswith("secret/")]

    assert lab.ledger.rpo() == RecoveryPoint(0, 0.0)
    assert len(acknowledged) > 100
    assert all(lab["tokyo"].get(write.path).ok for write in acknowledged[-60:])


def test_what_an_operator_wrote_counts_too(calm):
    calm.partition("paris", "tokyo")
    calm["paris"].post("secret/data/mine", {"data": {"a": 1}})
    calm.crash("paris")
    calm["tokyo"].promote()

    assert [(write.client, write.path) for write in calm.ledger.lost()] == [("paris-operator", "secret/data/mine")]


def test_writes_after_the_promotion_on_a_primary_that_was_never_told_are_lost_too(calm):
    calm.partition("paris", "tokyo")
    calm["tokyo"].promote()
    calm["paris"].post("secret/data/split", {"data": {"a": 1}})

    assert calm.ledger.rpo().writes == 1


def test_a_survivor_that_was_told_to_forget_its_primary_is_measured_by_what_it_held_then(calm):
    for name in ("one", "two"):
        calm["paris"].post(f"secret/data/{name}", {"data": {}})
    calm.run("1s").partition("paris", "tokyo")
    calm["paris"].post("secret/data/three", {"data": {}})
    body = {"dr_operation_token": operation_token(calm["tokyo"]), "token": ""}
    calm["tokyo"].post("sys/replication/dr/secondary/update-primary", body, token="").raise_for_status()
    calm = Lab.restore(calm.snapshot())
    calm["tokyo"].promote()

    assert [write.path for write in calm.ledger.lost()] == ["secret/data/three"]


def operation_token(cluster) -> str:
    """Go through the ceremony by hand."""
    path = "sys/replication/dr/secondary/generate-operation-token/"
    started = cluster.post(path + "attempt", {}, token="").body
    for share in cluster.unseal_keys[:3]:
        given = cluster.post(path + "update", {"key": share, "nonce": started["nonce"]}, token="").body
    return decode(given["encoded_token"], started["otp"])


def test_a_demoted_primary_that_is_promoted_again_lost_nothing(calm):
    calm["paris"].post("secret/data/one", {"data": {}})
    calm["paris"].demote()
    calm["paris"].promote()

    assert calm.ledger.rpo().writes == 0
    assert calm.ledger.promotions[-1].old_primary == ""


def test_a_demoted_primary_that_no_client_reached_before_is_out_of_service_since_then(lab):
    lab.run("1s").isolate("paris")
    lab.run("3s")
    lab["paris"].demote()
    lab["paris"].promote()
    fault_ns = lab.ledger.promotions[-1].fault_ns
    lab.heal()
    post(lab, "paris", 1, "x")

    assert lab.ledger.rto().seconds > 3
    assert fault_ns < lab.ledger.promotions[-1].at_ns - 3 * SECOND_NS


def test_a_demoted_primary_that_is_promoted_at_once_is_out_until_it_writes_as_such(lab):
    """Answers of writes from before the demotion are on their way to the clients."""
    lab.slow("lisbon", "paris", latency="30ms")
    lab.run("5s").run(until=lambda lab: lab.ledger.waiting)
    lab["paris"].demote()
    lab["paris"].promote()
    (taken,) = lab.ledger.promotions
    lab.run("2s")
    late = [
        write for write in lab.ledger.writes if write.at_ns > taken.at_ns and write.committed.commit < taken.next_commit
    ]
    first = next(write for write in lab.ledger.writes if write.committed.commit >= taken.next_commit)

    assert late[0].at_ns < first.at_ns
    assert lab.ledger.rto().seconds == (first.at_ns - taken.fault_ns) / SECOND_NS


def test_a_silent_write_that_happened_is_not_in_the_ledger(calm):
    with pytest.raises(Silence):
        calm["paris"].request(
            "POST", "secret/data/x", {"data": {}}, {"X-Vault-Token": calm["paris"].root_token}, timeout="10us"
        )

    assert calm.ledger.writes == []
    assert calm.ledger.unknown == 1


def test_a_read_that_costs_its_token_a_use_is_no_write(calm):
    made = {"policies": ["root"], "num_uses": 3}
    token = calm["paris"].post("auth/token/create", made).auth["client_token"]
    writes = len(calm.ledger.writes)

    assert calm["paris"].get("auth/token/lookup-self", token=token).ok
    assert len(calm.ledger.writes) == writes
    assert calm["paris"].post("secret/data/a", {"data": {}}, token=token).ok
    assert len(calm.ledger.writes) == writes + 1


# ---- what a fault is, and what a promotion loses, case by case


def post(lab: Lab, cluster: str, count: int, name: str) -> list[str]:
    paths = [f"secret/data/{name}-{number}" for number in range(count)]
    for path in paths:
        assert lab[cluster].post(path, {"data": {}}).ok
    return paths


def gone(lab: Lab, cluster: str, paths: list[str]) -> list[str]:
    """The paths that a cluster does not have, read one by one from its active node, without time passing."""
    vault = lab.parts.nodes[lab[cluster].active].vault
    headers = {"X-Vault-Token": lab[cluster].root_token}
    missing = []
    for path in paths:
        answer = vault.handle(Request("GET", f"/v1/{path}", headers))
        assert isinstance(answer, Response)
        missing += [path] if answer.status == 404 else []
    return missing


def lost_paths(lab: Lab) -> list[str]:
    return [write.path for write in lab.ledger.lost(lab.ledger.promotions[-1])]


def promote_at_once(lab: Lab, cluster: str) -> None:
    """Promote by force, and stop at the very event of the promotion."""
    before = len(lab.ledger.promotions)
    lab.parts.console.start("promote", cluster=cluster, force=True)
    while len(lab.ledger.promotions) == before:
        assert lab.step()


def test_fencing_what_is_down_does_not_move_the_fault(calm):
    calm.crash("paris")
    calm.run("60s").isolate("paris")
    calm["tokyo"].promote()
    post(calm, "tokyo", 1, "x")

    assert calm.ledger.rto().seconds == pytest.approx(60, abs=0.1)


def test_a_second_cut_does_not_move_the_fault_and_a_healed_one_is_none(calm):
    calm.partition("paris", "tokyo")
    calm.run("10s").heal()
    calm.run("60s").partition("paris", "tokyo")
    calm.run("5s").isolate("paris")
    calm["tokyo"].promote()
    post(calm, "tokyo", 1, "x")

    assert calm.ledger.rto().seconds == pytest.approx(5, abs=0.1)


def test_a_crash_that_a_takeover_made_good_is_no_fault(calm):
    calm.crash("paris-1")
    calm.run("60s").crash("paris")
    calm["tokyo"].promote()
    post(calm, "tokyo", 1, "x")

    assert calm.ledger.rto().seconds < 0.1


def test_a_sealed_primary_has_a_fault_when_it_was_sealed(calm):
    for standby in ("paris-2", "paris-3"):
        calm.crash(standby)
    calm["paris"].put("sys/seal")
    calm.run("7s").crash("paris")
    calm["tokyo"].promote()
    post(calm, "tokyo", 1, "x")

    assert calm.ledger.rto().seconds == pytest.approx(7, abs=0.1)


def test_in_a_split_brain_the_lost_writes_came_after_the_fault(calm):
    post(calm, "paris", 2, "before")
    calm.run("5ms").partition("paris", "tokyo")
    post(calm, "paris", 3, "between")
    calm["tokyo"].promote()
    post(calm, "paris", 4, "split")

    point = calm.ledger.rpo()
    assert (point.writes, point.after_fault) == (9, 7)
    assert 0 < point.seconds < 0.1


def test_what_a_disabled_primary_acknowledges_is_lost_by_its_secondary(calm):
    calm["paris"].post("sys/replication/dr/primary/disable", {})
    post(calm, "paris", 20, "alone")
    calm.crash("paris")
    calm["tokyo"].promote(force=True)

    assert (calm.ledger.rpo().writes, calm.ledger.rpo().after_fault) == (20, 20)
    assert calm.invariants.broken == {}, "no entry that had arrived is lost"


def test_what_is_written_in_another_set_is_not_lost_by_an_earlier_promotion(calm):
    calm.crash("paris")
    calm["tokyo"].promote()
    calm.restart("paris")
    calm["paris"].unseal()
    calm.run("5s")
    for call in ("disable", "enable"):
        calm["paris"].post(f"sys/replication/dr/primary/{call}", {})
    post(calm, "paris", 20, "other")

    assert calm.ledger.lost() == []


def test_a_promotion_in_the_middle_of_the_first_sync_loses_what_had_not_come(quiet):
    """What was written before replication counts."""
    paths = post(quiet, "paris", 600, "early")
    quiet.slow("paris", "tokyo", latency="200ms")
    quiet.parts.console.start("replicate", primary="paris", secondary="tokyo")
    tokyo = quiet.parts.nodes["tokyo-1"]
    quiet.run(until=lambda lab: tokyo.sync is not None and len(tokyo.store.state()["items"]) > 1000)
    promote_at_once(quiet, "tokyo")

    stored, kept = quiet.queries.contents("paris"), quiet.queries.contents("tokyo")
    assert 0 < quiet.ledger.rpo().writes < len(paths)
    assert quiet.ledger.rpo().writes <= sum(kept.get(key) != value for key, value in stored.items())


def test_a_promotion_in_the_middle_of_a_later_sync_loses_what_had_not_come(short_ring):
    short_ring.run("3s").partition("paris", "tokyo")
    short_ring.run("200ms")
    paths = post(short_ring, "paris", 200, "cut off")
    short_ring.heal()
    tokyo = short_ring.parts.nodes["tokyo-1"]
    short_ring.run(until=lambda lab: tokyo.sync.state == "merkle-sync")
    promote_at_once(short_ring, "tokyo")
    missing = gone(short_ring, "tokyo", paths)

    assert [path for path in lost_paths(short_ring) if path in paths] == missing


def test_a_second_failover_counts_what_the_first_survivor_had(trio):
    trio.partition("paris", "lima")
    paths = post(trio, "paris", 3, "both")
    trio.run("1s").crash("paris")
    trio["tokyo"].promote()
    paths += post(trio, "tokyo", 2, "later")
    trio.parts.console.start("repoint", cluster="lima", to="tokyo")
    trio.run(until=lambda lab: lab.queries.upstream_of("lima") == "tokyo").crash("tokyo")
    promote_at_once(trio, "lima")

    assert trio.ledger.promotions[0].missing == frozenset()
    assert lost_paths(trio) == gone(trio, "lima", paths)


def test_a_lost_write_carries_what_a_check_needs_and_no_value(calm):
    calm.partition("paris", "tokyo")
    body = {"data": {"password": "hunter2"}, "options": {"cas": 0}}
    calm["paris"].post("secret/data/mine", body)
    calm["paris"].post("transit/keys/mine", {"type": "aes256-gcm96"})
    calm["tokyo"].promote()
    secret, key = calm.ledger.lost()

    sent = ("data", "options", "options.cas")
    assert (secret.path, secret.committed.cluster, *secret.committed[3:6]) == (
        "secret/data/mine",
        "paris",
        "POST",
        1,
        sent,
    )
    assert 0 < secret.at_ns <= calm.now
    assert (key.path, *key.committed[3:6]) == ("transit/keys/mine", "POST", 1, ("type",))
    assert "hunter2" not in repr(calm.ledger.state())


@pytest.mark.slow
def test_nothing_piles_up_that_got_no_answer(lab):
    """Answers are lost, attempts are repeated, standbys are asked, fetches are refused."""
    lab.lose("lisbon", "paris", 40)
    lab.run("20s").crash("paris-1")
    lab.run("20s").isolate("paris")
    lab.run("30s")

    assert lab.ledger.unknown > 0
    assert lab.ledger.waiting == 0


def test_a_branch_and_a_restored_lab_count_on_by_themselves(calm):
    calm.partition("paris", "tokyo")
    post(calm, "paris", 3, "all")
    branch, again = calm.branch("what-if"), Lab.restore(calm.snapshot())
    post(branch, "paris", 2, "there")
    for lab in (calm, branch, again):
        lab["tokyo"].promote()

    assert [lab.ledger.rpo().writes for lab in (calm, branch, again)] == [3, 5, 3]


def test_the_revocation_of_a_secondary_s_id_is_the_fault_of_its_promotion(calm):
    """It ended the shipping: what was written afterwards is lost, and the outage began then."""
    calm["paris"].post("sys/replication/dr/primary/revoke-secondary", {"id": "tokyo"})
    revoked_ns = calm.now
    for number in range(3):
        calm.run("1s")
        calm["paris"].post(f"secret/data/late-{number}", {"data": {"n": number}})
    calm.crash("paris")
    calm["tokyo"].promote(force=True)
    calm["tokyo"].post("secret/data/first", {"data": {"n": 1}})

    assert revoked_ns - calm.ledger.promotions[-1].fault_ns in range(SECOND_NS // 2)
    assert calm.ledger.rpo() == RecoveryPoint(3, 0.0, after_fault=3, seconds_after=3.0014)
    assert (calm.ledger.rto().seconds or 0) > 3


def test_a_revocation_that_was_undone_by_a_new_token_is_no_fault(calm):
    calm["paris"].post("sys/replication/dr/primary/revoke-secondary", {"id": "tokyo"})
    calm["tokyo"].repoint("paris")
    calm.crash("paris")
    crashed_ns = calm.now
    calm["tokyo"].promote(force=True)

    assert calm.ledger.promotions[-1].fault_ns == crashed_ns


@pytest.mark.parametrize(("answering", "is_write"), [("paris", True), ("tokyo", False), ("front", True), ("", True)])
def test_an_attempt_that_changed_nothing_stands_for_an_earlier_one_that_its_cluster_holds(answering, is_write):
    """A deletion is committed at paris, unanswered; its next attempt finds nothing to delete."""
    ledger = RecoveryLedger()
    histories = ledger.histories
    histories.follow("tokyo", "paris")
    for number, changes in enumerate([(("a", b"1"),), (("a", None),)], 1):
        history, commit = histories.add("paris", ((number, changes),))
    ledger.commit(Correlation("shop-1", 5, 1), CommittedWrite("paris", history, commit, "DELETE"))
    histories.continue_alone("tokyo", {"a": b"1"}.get)

    assert ledger.end(9, "shop-1", "secret/data/a", "answered", Correlation("shop-1", 5, 2), answering) is is_write
    assert (len(ledger.writes), ledger.answered, ledger.waiting) == (is_write, 1, 0)


@pytest.mark.parametrize("through", ["front", ""])
def test_a_deletion_that_finds_nothing_behind_a_load_balancer_is_not_lost(through):
    """What paris committed last is never answered; the next attempts come to tokyo, which knows none of the secrets."""
    starts = {"put-secret": 5_950_000_000, "delete-secret": 6_000_000_000}
    work = tuple(
        WorkloadPlan(operation=name, every_ns=50_000_000, from_ns=from_ns, until_ns=7_500_000_000)
        for name, from_ns in starts.items()
    )
    both = ("paris", "tokyo")
    shop = ClientPlan(
        name="shop", site="lisbon", use=both, workload=work, share="s", retries=8, timeout_ns=SECOND_NS, through=through
    )
    front = BalancerPlan(name="front", site="lisbon", use=both, ends_tls=True)
    lab = Lab(replace(pair(), balancers=(front,)).with_clients(shop), seed=3)
    lab.replicate("paris", "tokyo")
    lab.run(until="5900ms")
    lab.cut("paris", "tokyo")
    lab.run("1s")
    lab.cut("paris", "lisbon")
    lab.run("400ms")
    lab.crash("paris")
    lab["tokyo"].promote()
    lab.run("4s")
    promoted_ns = lab.ledger.promotions[-1].at_ns
    lost = lab.ledger.lost()

    assert sum(event.attempts > 1 and event.outcome == "answered" for event in lab.trace.select("outcome")) > 5
    assert lost
    assert [write for write in lost if write.at_ns > promoted_ns] == []
    assert lab.parts.ledger.waiting == 0
    assert Lab.restore(lab.snapshot()).run("1s").trace.digest() == lab.run("1s").trace.digest()
