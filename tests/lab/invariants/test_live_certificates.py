"""Live certificates: whoever is let in without one is found, by what was issued and not by what is shown."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.invariants.rules import LIVE_CERTIFICATES
from labkit.lab.nodes import admission, senders
from labkit.lab.nodes.secondaries import Secondaries
from labkit.lab.wire.reports import SecondaryServed, UpstreamFollowed, UpstreamHeard
from labkit.vault.replication.trust import activation

DR = "sys/replication/dr/"


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[LIVE_CERTIFICATES]
    return "" if violation is None else violation.detail


def let_all_in(monkeypatch) -> None:
    """Plant a primary that admits whoever asks."""
    monkeypatch.setattr(admission.Admission, "judge", lambda self, source, question: "")
    monkeypatch.setattr(admission.Admission, "greet", lambda self, source, question: "")
    monkeypatch.setattr(admission.Admission, "judge_host", lambda self, source, secondary_id, connected: "")
    monkeypatch.setattr(activation, "unknown_ids", lambda core, secondary_ids: [])


def test_it_applies_once_somebody_was_answered(quiet, calm):
    assert not quiet.run("1s").invariants.applies(LIVE_CERTIFICATES)
    assert calm.run("2s").invariants.applies(LIVE_CERTIFICATES)
    assert not found(calm)


def test_it_holds_through_revocation_another_activation_and_a_failover(calm):
    calm["paris"].post(DR + "primary/revoke-secondary", {"id": "tokyo"}).raise_for_status()
    calm.run("5s")
    calm["tokyo"].repoint("paris")
    calm.run("5s")
    assert calm.lag("paris", "tokyo").level
    calm.failover("paris", "tokyo")
    calm.run("2s")
    assert not found(calm)


def test_a_revoked_id_that_is_still_served_is_found(calm, monkeypatch):
    let_all_in(monkeypatch)
    calm["paris"].post(DR + "primary/revoke-secondary", {"id": "tokyo"}).raise_for_status()
    calm.run("2s")

    assert found(calm) == "paris answered echo to tokyo-1 as tokyo, which is revoked or was never issued"


def test_an_id_that_is_served_after_its_primarys_reign_is_found(calm, monkeypatch):
    """Its record is still there: the authority that signed for it is not."""
    let_all_in(monkeypatch)
    monkeypatch.setattr(Secondaries, "serve", lambda self, mode: None)
    calm["paris"].demote()
    calm["paris"].promote(force=True)
    calm.run("2s")

    assert found(calm).startswith("paris answered ")
    assert found(calm).endswith("to tokyo-1 as tokyo, for which it has no live activation")


def test_a_host_in_the_middle_that_is_answered_or_believed_is_found(calm, monkeypatch):
    let_all_in(monkeypatch)
    monkeypatch.setattr(senders, "JUDGES", {})
    monkeypatch.setattr("labkit.lab.nodes.node_host.foreign", lambda node, source, message: "")
    calm.impersonate("paris")
    calm.run("5s")

    assert "paris-1-impostor" in found(calm)


def test_a_bootstrap_for_an_id_that_was_never_issued_is_found(quiet, monkeypatch):
    quiet.work_through("enable-primary", cluster="paris")
    quiet.parts.nodes["paris-1"].link.secondaries._services.emit(SecondaryServed("paris", "tokyo-1", "x", "bootstrap"))

    assert found(quiet) == "paris answered bootstrap to tokyo-1 as x, which is revoked or was never issued"


def test_an_answer_to_a_host_that_is_no_node_or_anothers_is_found(trio):
    other = Lab.restore(trio.snapshot())
    trio.parts.nodes["paris-1"].services.emit(SecondaryServed("paris", "tokyo-1-impostor", "tokyo", "echo"))
    other.parts.nodes["paris-1"].services.emit(SecondaryServed("paris", "lima-1", "tokyo", "echo"))

    assert found(trio) == "paris answered echo to tokyo-1-impostor, which belongs to no cluster"
    assert found(other) == "paris answered echo to lima-1 as tokyo, for which it has no live activation"


@pytest.mark.parametrize("host", ["lima-1", "paris-1-impostor"])
def test_a_secondary_that_hears_another_than_its_primary_is_found(trio, host):
    trio.parts.nodes["tokyo-1"].services.emit(UpstreamHeard("tokyo", host))

    assert found(trio) == f"tokyo took replication from {host}, for which it was never activated"


def test_a_refusal_is_no_exchange(calm):
    """A revoked secondary asks on, and is refused: nothing was accepted."""
    calm["paris"].post(DR + "primary/revoke-secondary", {"id": "tokyo"}).raise_for_status()
    calm.run("20s")

    assert calm.trace.select("observed", what="connection_refused")
    assert not found(calm)


def test_what_was_granted_and_ended_is_saved(calm):
    calm["paris"].post(DR + "primary/revoke-secondary", {"id": "tokyo"}).raise_for_status()
    calm.run("1s")
    again = Lab.restore(calm.snapshot())

    assert again.invariants.state() == calm.invariants.state()
    assert repr(again.invariants._rules[LIVE_CERTIFICATES]) == "LiveCertificates(judged 7 times)"


def test_a_revocation_ends_what_was_issued_for_its_id_and_nothing_else(trio):
    """The id is issued again, so that it is known; who was activated with it before has nothing."""
    trio["paris"].post(DR + "primary/revoke-secondary", {"id": "tokyo"}).raise_for_status()
    trio["paris"].post(DR + "primary/secondary-token", {"id": "tokyo"}).raise_for_status()
    other = Lab.restore(trio.snapshot())
    trio.parts.nodes["paris-1"].services.emit(SecondaryServed("paris", "lima-1", "lima", "echo"))
    other.parts.nodes["paris-1"].services.emit(SecondaryServed("paris", "tokyo-1", "tokyo", "echo"))

    assert not found(trio)
    assert found(other) == "paris answered echo to tokyo-1 as tokyo, for which it has no live activation"


@pytest.mark.parametrize(("activation_", "secondary_id"), [("", "lima"), ("credentials", "")])
def test_who_follows_without_credentials_or_without_an_id_has_no_activation(trio, activation_, secondary_id):
    before = trio.invariants._rules[LIVE_CERTIFICATES].state()["grants"]
    trio.parts.nodes["lima-1"].services.emit(UpstreamFollowed("lima", "tokyo", False, activation_, secondary_id))

    assert trio.invariants._rules[LIVE_CERTIFICATES].state()["grants"] == before
