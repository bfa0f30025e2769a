"""Outcome causes: refusals, unknown operations, lost writes, promotions, outages and broken rules."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.vault.replication import sync
from labkit.vault.replication.events import TimerFired


def test_an_answered_operation_ends_at_the_client(lab):
    assert lab.why("writers-1: answered").origin == "work"


def test_a_client_that_is_refused_by_a_secondary_names_why_it_is_one(lab):
    lab["paris"].demote()
    lab.run("3s")

    found = lab.why("refused")

    assert found.origin == "operator"
    assert "is secondary, idle" in str(found)


def test_a_refusal_by_what_was_asked_ends_at_who_asked(calm):
    calm["paris"].get("secret/data/none")

    found = calm.why("refused")

    assert found.steps[0].sentence.startswith("an operator's request for secret/data/none at paris is refused with 404")
    assert found.origin == "operator"


def test_a_write_to_an_old_primary_is_lost_by_the_promotion_before_it(lab):
    lab.partition("paris", "tokyo")
    lab.run("1s")
    lab["tokyo"].promote()
    lab.run("2s")

    late = lab.why(lab.ledger.lost()[-1])
    early = lab.why(lab.ledger.lost()[0])

    assert "is lost: tokyo was promoted before that" in late.steps[0].sentence
    assert "tokyo is promoted without the write of" in early.steps[0].sentence
    assert early.root.sentence == late.root.sentence == "the line paris <> tokyo is cut both ways, by hand"


def test_a_promotion_without_a_fault_ends_at_the_operator(calm):
    calm["tokyo"].promote()

    found = calm.why("promotion")

    assert found.steps[0].sentence == "tokyo is promoted, as an operator asked, by hand"
    assert found.origin == "operator"
    assert "which followed no fault" in calm.why("recovery").steps[0].sentence


def test_an_outage_that_an_operator_made_names_the_seal(calm):
    for _ in calm["paris"].nodes:
        calm["paris"].request("PUT", "sys/seal", None, {"X-Vault-Token": calm["paris"].root_token})
        calm.run("5s")
    calm["tokyo"].promote()

    assert calm.why("promotion").origin == "operator"


def test_a_primary_that_comes_back_names_the_promotion_that_came_meanwhile(calm):
    calm.crash("paris")
    calm.run("1s")
    calm["tokyo"].promote()
    calm.restart("paris")
    calm.unseal("paris")
    calm.run("5s")

    found = calm.why("one primary")

    assert "tokyo was promoted while it was out of service" in found.steps[1].sentence
    assert found.origin == "operator"


def test_a_write_of_an_overtaken_leader_names_who_overtook_it():
    lab = Lab.load("scenarios/dr/no-fencing.lab.yaml").run()

    found = lab.why("only the leader writes")

    assert found.steps[1].sentence.startswith("paris-2 takes the lead of paris (term 2)")
    assert found.root.sentence == "the process of paris-1 stands still, step 2: pause paris-1"


@pytest.mark.slow
def test_stores_that_differ_after_an_overtaken_write_name_that_write():
    lab = Lab.load("scenarios/dr/no-fencing.lab.yaml").run()

    found = lab.why("equal roots, equal contents")

    assert "the rule 'only the leader writes' is broken" in found.steps[1].sentence


def test_a_rule_of_ones_own_names_what_happened_then(calm):
    calm.watch("paris leads", lambda lab: bool(lab["paris"].active))
    calm.crash("paris-1")

    assert calm.why("paris leads").root.sentence == "paris-1 goes down, by hand"


def test_a_fault_that_changes_nothing_breaks_no_rule(calm):
    calm.crash("paris-1")
    calm.run("5s")
    calm.restart("paris-2")
    calm.watch("paris-1 runs", lambda lab: lab.queries.is_running("paris-1"))
    calm.run("1s")

    assert calm.why("paris-1 runs").root.sentence != "paris-2 is started again, by hand"


def test_a_secondary_that_stands_still_names_what_became_of_its_connection(calm, monkeypatch):
    calm.run("5s").partition("paris", "tokyo")
    calm["paris"].post("secret/data/app", {"data": {"user": "ada"}}).raise_for_status()
    calm.run("1m")
    monkeypatch.setitem(sync._HANDLERS, TimerFired, lambda state, event: (state, []))  # it gives up
    calm.run("1m").heal()
    calm.restart("tokyo-1")
    calm.run("10m")

    found = calm.why("a healed secondary catches up")

    assert "tokyo-1 has no connection to its primary" in found.steps[1].sentence
    assert found.root.sentence == "the line paris <> tokyo is cut both ways, by hand"


@pytest.mark.slow
def test_a_hasty_promotion_names_the_operator():
    lab = Lab.load("scenarios/first/hasty-failover.lab.yaml").run()

    found = lab.why("planned failover loses nothing")

    assert "what holds it is sent by " in found.steps[1].sentence
    assert found.origin == "operator"


def test_a_write_that_reached_an_impostor_names_that_fault(lab):
    lab.impersonate("tokyo-1")
    lab.run("2s")
    lab.crash("paris")
    lab["tokyo"].promote(force=True)

    found = lab.why(lab.ledger.lost()[0])

    assert "reaches tokyo-1 at 1.995 s, whose place an impostor has" in found.steps[0].sentence
    assert found.root.sentence == "an impostor takes the place of tokyo-1, by hand"
