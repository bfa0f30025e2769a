"""The arithmetic of loss and outage; then measured in labs."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.cluster import Silence
from labkit.lab.ledger import PendingWrite
from labkit.lab.loss_and_outage import Promotion, RecoveryLedger, RecoveryPoint, RecoveryTime
from labkit.lab.messages import Correlation
from labkit.vault.replication.otp import decode

SECOND_NS = 1_000_000_000


def promotion(at_ns: int, missing: tuple[int, ...] = (), survivor: str = "tokyo", fault_ns: int = 0) -> Promotion:
    """Of a survivor that followed history 0, with ten commits."""
    return Promotion(at_ns, survivor, "paris", 0, 10, frozenset(missing), fault_ns or at_ns, False)


def write(ledger: RecoveryLedger, at_ns: int, commit: int, cluster: str = "paris", history: int = 0) -> None:
    """A write that was committed and acknowledged."""
    asked = Correlation("c", at_ns, 1)
    ledger.commit(asked, PendingWrite(cluster, history, commit))
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

    assert [lost.commit for lost in ledger.lost()] == [4, 5, 12]
    assert ledger.rpo() == RecoveryPoint(3, 2.0, after_fault=1)


def test_writes_of_which_all_came_after_the_fault_reach_back_no_time():
    ledger = RecoveryLedger()
    write(ledger, 7 * SECOND_NS, 4)
    ledger.promotions.append(promotion(9 * SECOND_NS, (4,), fault_ns=6 * SECOND_NS))

    assert ledger.rpo() == RecoveryPoint(1, 0.0, after_fault=1)


def test_the_outage_ends_with_the_first_write_that_the_survivor_acknowledges():
    ledger = RecoveryLedger()
    ledger.promotions.append(promotion(9 * SECOND_NS, fault_ns=6 * SECOND_NS))
    assert ledger.rto() == RecoveryTime(None)
    write(ledger, 10 * SECOND_NS, 11)
    assert ledger.rto() == RecoveryTime(None), "the old primary does not count"
    write(ledger, 13 * SECOND_NS, 12, "tokyo", 1)
    write(ledger, 14 * SECOND_NS, 13, "tokyo", 1)

    assert ledger.rto() == RecoveryTime(7.0)


def test_a_point_is_of_the_last_promotion_and_lost_of_all():
    ledger = RecoveryLedger()
    write(ledger, 5, 5)
    ledger.promotions += [promotion(10, (5,)), promotion(20)]

    assert ([lost.commit for lost in ledger.lost()], ledger.rpo().writes) == ([5], 0)
    assert ledger.lost(ledger.promotions[0]) == list(ledger.writes)


def test_its_state_is_plain_and_brings_it_back():
    ledger = RecoveryLedger()
    write(ledger, 5, 5)
    ledger.histories.add("paris", 1, (("a", b"1"),))
    ledger.outages.seen([("down", "paris")], 7)
    ledger.promotions.append(promotion(10, (5,)))
    again = RecoveryLedger(ledger.state())

    assert again.state() == ledger.state()
    assert (again.rpo(), again.lost()) == (ledger.rpo(), ledger.lost())


def test_it_says_how_much():
    ledger = RecoveryLedger()
    write(ledger, 5, 5)
    ledger.promotions.append(promotion(10, (5,)))

    assert repr(ledger) == "Ledger(1 writes acknowledged, 1 lost, 0 unknown)"


# ---- in a lab


def test_a_crash_of_a_busy_primary_loses_what_had_not_arrived(lab):
    """What tokyo holds afterwards is looked at write by write, not by numbers."""
    lab.run("10s").crash("paris")
    lab["tokyo"].promote()
    lab.run("10s")
    lost = lab.ledger.lost()
    acknowledged = [
        write for write in lab.ledger.writes if write.cluster == "paris" and write.path.startswith("secret/")
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
