"""The arithmetic of loss and outage, against a slow oracle that keeps whole histories; then measured in labs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import Lab
from labkit.lab.cluster import Silence
from labkit.lab.loss_and_outage import Promotion, RecoveryLedger, RecoveryPoint, RecoveryTime
from labkit.vault.replication.otp import decode

SECOND_NS = 1_000_000_000


def promotion(at_ns: int, applied: int, survivor: str = "tokyo", old: str = "paris", history: int = 0) -> Promotion:
    return Promotion(at_ns, survivor, old, history, applied, at_ns, False)


def write(ledger: RecoveryLedger, at_ns: int, entry: int, cluster: str = "paris", history: int = 0) -> None:
    """A write that was committed as an entry and acknowledged."""
    correlation = f"c/{at_ns}/{entry}"
    ledger.commit(correlation, cluster, history, entry)
    assert ledger.acknowledge(at_ns, "c", "secret/data/x", correlation)


def test_nothing_is_lost_before_any_promotion():
    ledger = RecoveryLedger()
    write(ledger, 1, 1)

    assert ledger.lost() == []
    assert (ledger.rpo(), ledger.rto()) == (RecoveryPoint(0, 0.0), RecoveryTime(None))


def test_lost_is_what_the_survivor_had_not_applied():
    ledger = RecoveryLedger()
    for entry in range(1, 6):
        write(ledger, entry * SECOND_NS, entry)
    ledger.fault("paris", 6 * SECOND_NS)
    ledger.promoted(promotion(9 * SECOND_NS, applied=3))

    assert [lost.entry for lost in ledger.lost()] == [4, 5]
    assert ledger.rpo() == RecoveryPoint(2, 2.0)


def test_the_outage_ends_with_the_first_write_that_the_survivor_acknowledges():
    ledger = RecoveryLedger()
    ledger.fault("paris", 6 * SECOND_NS)
    ledger.promoted(promotion(9 * SECOND_NS, applied=0))
    assert ledger.rto() == RecoveryTime(None)
    write(ledger, 10 * SECOND_NS, 1)
    assert ledger.rto() == RecoveryTime(None), "the old primary does not count"
    write(ledger, 13 * SECOND_NS, 1, "tokyo", 1)
    write(ledger, 14 * SECOND_NS, 2, "tokyo", 1)

    assert ledger.rto() == RecoveryTime(7.0)


def test_a_planned_change_without_a_fault_is_measured_from_the_promotion():
    ledger = RecoveryLedger()
    ledger.promoted(promotion(9 * SECOND_NS, applied=0))
    write(ledger, 10 * SECOND_NS, 1, "tokyo", 1)

    assert ledger.rto() == RecoveryTime(1.0)


def test_only_the_last_fault_before_the_promotion_counts_and_only_of_the_old_primary():
    ledger = RecoveryLedger()
    for cluster, second in (("paris", 2), ("paris", 4), ("tokyo", 5)):
        ledger.fault(cluster, second * SECOND_NS)
    ledger.promoted(promotion(6 * SECOND_NS, applied=0))
    ledger.fault("paris", 7 * SECOND_NS)

    assert ledger.promotions[-1].fault_ns == 4 * SECOND_NS


def test_a_write_of_a_later_history_is_another_history():
    """paris is primary, then tokyo, then paris again: entry 5 of the second time is not entry 5 of the first."""
    ledger = RecoveryLedger()
    write(ledger, 5, 5)
    ledger.promoted(promotion(10, applied=5))
    write(ledger, 15, 6, "tokyo", 1)
    ledger.promoted(promotion(20, applied=6, survivor="paris", old="tokyo", history=1))
    write(ledger, 25, 7, "paris", 1)
    ledger.promoted(promotion(30, applied=3, history=1))

    assert [(lost.cluster, lost.history, lost.entry) for lost in ledger.lost()] == [("paris", 1, 7)]


def test_its_state_is_plain_and_brings_it_back():
    ledger = RecoveryLedger()
    write(ledger, 5, 5)
    ledger.commit("c/2/1", "paris", 0, 6)
    ledger.fault("paris", 7)
    ledger.note_refused()
    ledger.promoted(promotion(10, applied=2))
    again = RecoveryLedger(ledger.state())

    assert again.state() == ledger.state()
    assert (again.rpo(), again.lost()) == (ledger.rpo(), ledger.lost())
    assert again.acknowledge(11, "c", "x", "c/2/1")


def test_it_says_how_much():
    ledger = RecoveryLedger()
    write(ledger, 5, 5)
    ledger.promoted(promotion(10, applied=2))

    assert repr(ledger) == "Ledger(1 writes acknowledged, 1 lost, 0 unknown)"


# ---- against an oracle


class Oracle:
    """Keeps, for each cluster, the whole list of writes that its contents came from, by name."""

    def __init__(self) -> None:
        self.history: dict[str, list[int]] = {"paris": [], "tokyo": []}
        self.acknowledged: list[tuple[int, int, str]] = []  # (instant, write, acknowledged by)
        self.lost: list[int] = []

    def promote(self, survivor: str, old: str, applied: int) -> None:
        before = self.history[old]
        kept = before[:applied]
        self.lost = [number for number in before[applied:] if any(number == a for _, a, _ in self.acknowledged)]
        self.history[survivor] = kept


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.booleans()),
        st.just(("fault",)),
        st.tuples(st.just("promote"), st.integers(0, 12)),
    ),
    max_size=40,
)


@settings(max_examples=200)
@given(steps=STEPS)
def test_loss_and_outage_are_those_of_whole_histories(steps):
    """Writes on the primary of the moment, some never acknowledged; then the other cluster takes over, and so on."""
    ledger, oracle = RecoveryLedger(), Oracle()
    primary, secondary = "paris", "tokyo"
    histories = {"paris": 0, "tokyo": 0}
    fault_ns: dict[str, int | None] = {"paris": None, "tokyo": None}
    last, inherited = None, 0  # how much of its history the primary of the moment had when it became one
    for number, step in enumerate(steps, start=1):
        at_ns = number * SECOND_NS // 4
        if step[0] == "write":
            oracle.history[primary].append(number)
            ledger.commit(f"c/{number}", primary, histories[primary], len(oracle.history[primary]))
            if step[1]:
                ledger.acknowledge(at_ns, "c", "secret/data/x", f"c/{number}")
                oracle.acknowledged.append((at_ns, number, primary))
        elif step[0] == "fault":
            ledger.fault(primary, at_ns)
            fault_ns[primary] = at_ns
        else:
            applied = min(inherited + step[1], len(oracle.history[primary]))
            ledger.promoted(promotion(at_ns, applied, secondary, primary, histories[primary]))
            oracle.promote(secondary, primary, applied)
            struck = fault_ns[primary]
            last = (at_ns, secondary, at_ns if struck is None else struck)
            histories[secondary] += 1
            primary, secondary = secondary, primary
            inherited = applied
    expect(ledger, oracle, last)


def expect(ledger: RecoveryLedger, oracle: Oracle, last: tuple[int, str, int] | None) -> None:
    if last is None:
        assert (ledger.rpo(), ledger.rto()) == (RecoveryPoint(0, 0.0), RecoveryTime(None))
        return
    at_ns, survivor, fault_ns = last
    instants = [instant for instant, number, _ in oracle.acknowledged if number in oracle.lost]
    oldest = min(instants, default=fault_ns)
    assert ledger.rpo().writes == len(oracle.lost)
    assert Fraction(ledger.rpo().seconds) == Fraction(max(0, fault_ns - oldest), SECOND_NS)
    served = [instant for instant, _, by in oracle.acknowledged if by == survivor and instant >= at_ns]
    assert ledger.rto().seconds == ((served[0] - fault_ns) / SECOND_NS if served else None)


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
    lost = []
    for seconds in (1, 3, 9):
        lab = Lab.restore(replicating_snapshot)
        lab.run("5s").partition("paris", "tokyo")
        lab.run(f"{seconds}s").crash("paris")
        lab["tokyo"].promote()
        lost.append(lab.ledger.rpo().writes)
        assert lab.ledger.rpo().seconds == pytest.approx(seconds, abs=0.4)

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
