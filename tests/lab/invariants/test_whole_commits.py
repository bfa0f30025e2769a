"""Whole commits: what a secondary may never hold is found, at the entry and where a comparison ends."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.invariants.rules import WHOLE_COMMITS
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.lab.wire.reports import OvertakenWrote
from labkit.vault.replication import applied_position, serving_secondaries


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[WHOLE_COMMITS]
    return "" if violation is None else violation.detail


def test_it_applies_once_something_was_replicated(quiet, lab):
    quiet.run("1s")
    assert not quiet.invariants.applies(WHOLE_COMMITS)
    lab.run("1s")
    assert lab.invariants.applies(WHOLE_COMMITS)
    assert not found(lab)


def test_it_holds_through_cuts_comparisons_and_a_failover(lab):
    lab.run("1s").partition("paris", "tokyo")
    lab.run("2s").heal()
    lab.run("3s")
    lab.failover("paris", "tokyo")
    lab.run("2s")
    assert not found(lab)


def test_a_key_that_is_left_out_of_an_entry_is_found(calm, monkeypatch):
    apply = applied_position.apply
    monkeypatch.setattr(applied_position, "apply", lambda core, changes, at: apply(core, tuple(changes)[1:], at))
    calm["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    calm.run("1s")

    number = calm.queries.last_entry("paris")
    assert found(calm).startswith(f"tokyo stands at entry {number} of paris without what it left under logical/")


def test_an_entry_that_is_skipped_is_found_at_the_next(calm, monkeypatch):
    apply, skipped = applied_position.apply, list[int | None]()

    def skips_one(core, changes, at):
        if not skipped:
            skipped.append(at.position)
            return True
        return apply(core, changes, at)

    monkeypatch.setattr(applied_position, "apply", skips_one)
    for number in range(2):
        calm["paris"].post(f"secret/data/app-{number}", {"data": {}})
        calm.run("1s")

    assert skipped
    assert f"tokyo stands at entry {skipped[0]} of paris" in found(calm)


def test_values_of_a_later_entry_than_the_compared_one_are_found(monkeypatch):
    fetch = serving_secondaries.QUESTIONS["fetch_keys"]

    def newest(journal, question):
        answer = fetch(journal, question)
        return {**answer, "values": [[key, journal.storage.get(key)] for key, _ in answer["values"]]}

    monkeypatch.setitem(serving_secondaries.QUESTIONS, "fetch_keys", newest)
    work = WorkloadPlan(operation="put-secret", every_ns=20_000_000, keys=2)
    lab = Lab(pair().with_clients(ClientPlan(name="app", site="paris", use=("paris",), workload=(work,))))
    lab.run("1s").replicate("paris", "tokyo")

    assert found(lab).endswith("has something of a later one")


def test_a_deletion_that_a_comparison_forgets_is_found(calm, monkeypatch):
    monkeypatch.setattr("labkit.vault.replication.sync._reached", forgetting_deletions())
    calm.partition("paris", "tokyo")
    calm["tokyo"].promote()
    calm["tokyo"].post("secret/data/own", {"data": {}})
    calm["tokyo"].demote()
    calm.heal()
    calm["tokyo"].repoint("paris")
    calm.run("5s")

    assert found(calm).endswith("is not what it has")


def forgetting_deletions():
    """The end of a comparison, without what is to be deleted."""
    from labkit.vault.replication import sync

    reached = sync._reached
    return lambda state, event, generation, changes: reached(
        state, event, generation, tuple(change for change in changes if change[1] is not None)
    )


@pytest.mark.parametrize("layer", ["storage", "page"])
def test_what_was_damaged_on_purpose_is_not_held_against_a_secondary(calm, layer):
    calm["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    calm.run("1s").corrupt("paris", layer=layer)
    calm.crash("tokyo")
    calm["paris"].post("secret/data/other", {"data": {}})
    calm.restart("tokyo")
    calm["tokyo"].unseal()
    calm.run("30s")
    calm["paris"].reindex()
    calm.run("30s")

    assert not found(calm)


def test_damage_to_a_third_cluster_spares_no_other(trio, monkeypatch):
    trio.corrupt("lima", layer="page")
    apply = applied_position.apply
    monkeypatch.setattr(applied_position, "apply", lambda core, changes, at: apply(core, tuple(changes)[1:], at))
    trio["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    trio.run("1s")

    assert found(trio).startswith("tokyo stands at entry ")


def test_a_primary_whose_store_took_an_overtaken_nodes_writes_is_not_judged(calm, monkeypatch):
    calm.parts.nodes["paris-1"].services.emit(OvertakenWrote("paris", "paris-1", 1, "logical/a"))
    apply = applied_position.apply
    monkeypatch.setattr(applied_position, "apply", lambda core, changes, at: apply(core, tuple(changes)[1:], at))
    calm["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    calm.run("1s")

    assert not found(calm)


def test_what_a_lab_keeps_for_it_is_saved(lab, monkeypatch):
    lab.run("1s")
    again = Lab.restore(lab.snapshot())
    apply = applied_position.apply
    monkeypatch.setattr(applied_position, "apply", lambda core, changes, at: apply(core, tuple(changes)[1:], at))
    for each in (lab, again):
        each.run("500ms")

    assert found(again) == found(lab) != ""
    assert again.invariants.state() == lab.invariants.state()


def test_only_the_last_commits_are_kept(calm, monkeypatch):
    monkeypatch.setattr("labkit.lab.invariants.whole_commits.MAX_KEPT", 4)
    monkeypatch.setattr("labkit.lab.invariants.whole_commits.DROPPED_EVERY", 2)
    for number in range(12):
        calm["paris"].post("secret/data/app", {"data": {"number": number}})
    calm.run("1s")
    rows = dict(calm.invariants.state()["rules"][WHOLE_COMMITS]["made"])["paris"]

    assert 4 <= len(rows) <= 6
    assert not found(calm)
