"""Clear text: a secret that stands in a status, an observation or a journal is found, and not shown again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit import Lab
from labkit.lab.invariants.clear_text import FORM, MARKS
from labkit.lab.invariants.rules import CLEAR_TEXT
from labkit.lab.plan.blueprint import WorkloadPlan, pair
from labkit.lab.wire.reports import CallAnswered
from labkit.service.message import Request, Response
from labkit.vault.replication import reports
from tests.lab.hosts.turns import asked

STATUS = "sys/replication/dr/status"


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[CLEAR_TEXT]
    return "" if violation is None else violation.detail


def test_it_holds_where_clients_write_and_encrypt_and_operators_look(lab):
    lab.run("2s")
    lab["paris"].get(STATUS).raise_for_status()
    lab["tokyo"].merkle_check()
    lab.failover("paris", "tokyo")
    lab.run("2s")

    assert lab.invariants.applies(CLEAR_TEXT)
    assert not found(lab)


def test_what_clients_write_has_the_marks_that_are_looked_for():
    sent = [
        str(asked("app", WorkloadPlan(operation=operation, every_ns=1), 1, "").body)
        for operation in ("put-secret", "encrypt")
    ]
    assert [mark in body for mark, body in zip(MARKS, sent, strict=True)] == [True, True]


@pytest.mark.parametrize("place", ["root token", "key share"])
def test_a_status_that_shows_a_secret_is_found(calm, monkeypatch, place):
    secret = calm["paris"].root_token if place == "root token" else calm["paris"].unseal_keys[3]
    status = reports.status
    monkeypatch.setattr(reports, "status", lambda ctx: {**status(ctx), "debug": ["shown", secret]})
    calm["paris"].get(STATUS)

    assert found(calm) == "what paris-1 answered to sys/replication/dr/status shows a secret"


def test_an_observation_or_a_note_that_shows_a_secret_is_found(calm):
    other = Lab.restore(calm.snapshot())
    calm.parts.nodes["paris-1"].core.observe("login", token=calm["paris"].root_token)
    assert found(calm) == "what paris-1 observed shows a secret"
    assert calm["paris"].root_token not in found(calm)

    other.parts.console._services.emit(noted(f"the token is {other['tokyo'].root_token}"))
    assert found(other) == "a note shows a secret"


def noted(text: str):
    from labkit.lab.wire.reports import Noted

    return Noted(0, text)


@pytest.mark.parametrize("mark", [*MARKS, None])
def test_a_commit_that_is_not_encrypted_is_found_at_rest(calm, mark):
    node = calm.parts.nodes["paris-1"]
    secret = mark or calm["paris"].root_token
    node.core.commit({"logical/a": b"begin " + secret.encode() + b" end"})
    node.after_step()
    calm.run("1ms")

    assert found(calm) == f"entry {node.journal.last} of paris under logical/a holds a secret in clear text"


def test_how_far_it_looked_is_saved_and_no_secret_is(lab):
    lab.run("1s")
    kept = lab.invariants.state()
    assert kept == Lab.restore(lab.snapshot()).invariants.state()
    assert lab["paris"].root_token not in str(kept)


def test_every_secret_of_a_lab_has_the_form_that_is_looked_for():
    plan = pair()
    lab = Lab(replace(plan, clusters=(plan.clusters[0], replace(plan.clusters[1], shares=1, threshold=1))))
    for name in ("paris", "tokyo"):
        assert all(FORM.search(secret) for secret in (lab[name].root_token, *lab[name].unseal_keys))


def test_a_secret_whose_path_has_the_word_is_shown_to_who_asks_for_it(lab):
    lab["paris"].post("secret/data/dr/replication/shares", {"data": {"key": lab["paris"].unseal_keys[0]}})
    assert lab["paris"].get("secret/data/dr/replication/shares").ok
    assert not found(lab)


@pytest.mark.parametrize("path", ["sys/replication/status", "team/sys/replication/status", "sys/replicatio%6e/status"])
def test_a_status_that_shows_a_share_is_found_in_each_namespace(lab, path):
    lab["paris"].post("sys/namespaces/team", {}).raise_for_status()
    share = lab["paris"].unseal_keys[0]
    node, request = lab.parts.nodes["paris-1"], Request("GET", f"/v1/{path}", {})
    answer = Response(200, {}, {"data": {"share": share}})
    node.services.emit(CallAnswered("paris", "paris-1", request, answer))

    assert found(lab).startswith("what paris-1 answered to ")


def test_a_path_that_cannot_be_read_ends_no_lab(lab):
    assert lab["paris"].get("sys/replication/%ff").status == 400
    assert not found(lab)
