"""A cluster's handle: it answers like a Vault, over the network; without an answer it raises Silence."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.cluster import Silence
from labkit.lab.runbooks import Ask

SECOND_NS = 1_000_000_000


def test_it_answers_like_a_vault(quiet):
    paris = quiet["paris"]

    assert paris.post("secret/data/app", {"data": {"user": "ada"}}).data["version"] == 1
    assert paris.put("secret/data/app", {"data": {"user": "ada", "age": 36}}).data["version"] == 2
    assert paris.patch("secret/data/app", {"data": {"age": None}}).ok
    assert paris.get("secret/data/app").data["data"] == {"user": "ada"}
    assert paris.list("secret/metadata/").data["keys"] == ["app"]
    assert paris.delete("secret/metadata/app").status == 204
    assert paris.get("secret/data/app").status == 404


def test_the_clock_moves_until_the_answer(quiet):
    before_ns = quiet.now
    quiet["paris"].get("secret/data/app")

    assert 0 < quiet.now - before_ns < SECOND_NS


def test_request_sends_exactly_the_headers_it_is_given(quiet):
    paris = quiet["paris"]

    assert paris.request("GET", "secret/data/app").status == 403
    assert paris.request("GET", "/v1/secret/data/app", headers={"X-Vault-Token": paris.root_token}).status == 404
    assert paris.get("secret/data/app", token="").status == 403
    assert paris.get("secret/data/app", token="hvs.wrong").status == 403


def test_one_node_can_be_asked(quiet):
    statuses = [quiet["paris"].request("GET", "sys/health", node=node).status for node in quiet["paris"].nodes]

    assert statuses == [200, 429, 429]


def test_it_says_who_serves_and_in_which_mode(quiet):
    paris = quiet["paris"]

    assert (paris.name, paris.nodes, paris.active, paris.mode) == (
        "paris",
        ("paris-1", "paris-2", "paris-3"),
        "paris-1",
        "disabled",
    )
    quiet.crash("paris")
    assert (paris.active, paris.mode) == ("", "unknown")
    assert repr(paris) == "Cluster(paris, unknown)"


def test_five_shares_open_it_and_replication_brings_the_primarys(calm, quiet):
    assert len(quiet["tokyo"].unseal_keys) == 5
    assert quiet["tokyo"].unseal_keys != quiet["paris"].unseal_keys
    assert calm["tokyo"].unseal_keys == calm["paris"].unseal_keys
    assert calm["tokyo"].root_token == calm["paris"].root_token


def test_nothing_that_opens_a_cluster_is_shown(calm):
    paris = calm["paris"]
    shown = " ".join(map(repr, (paris, calm, calm.parts.console.credentials["paris"], calm.snapshot(), calm.ledger)))

    assert paris.root_token not in shown
    assert not any(share in shown for share in paris.unseal_keys)


# ---- silence


def test_silence_is_a_timeout_and_the_clock_stands_at_call_and_timeout(calm):
    calm.crash("paris")
    at_ns = calm.now
    with pytest.raises(TimeoutError, match=r"POST secret/data/app on paris: no answer within 30s of simulated time"):
        calm["paris"].post("secret/data/app", {"data": {}})

    assert calm.now == at_ns + 30 * SECOND_NS


@pytest.mark.parametrize("node", ["paris-2", "paris-9"])
def test_a_node_that_is_down_or_was_never_there_is_silent_for_as_long(calm, node):
    calm.crash("paris-2")
    at_ns = calm.now
    with pytest.raises(Silence):
        calm["paris"].request("GET", "sys/health", node=node, timeout="4s")

    assert calm.now == at_ns + 4 * SECOND_NS


def test_all_that_fell_due_by_then_has_happened(lab):
    """The rest of the lab lives on while somebody waits in vain."""
    lab.run("1s").crash("paris-1")
    other = Lab.restore(lab.snapshot())
    with pytest.raises(Silence):
        lab["paris"].request("GET", "sys/health", node="paris-1", timeout="20s")
    other.run("20s")

    assert other.now == lab.now
    assert lab.trace.select("outcome") == other.trace.select("outcome")
    assert lab.trace.select("leader") == other.trace.select("leader")
    assert lab.parts.clock.pending() == other.parts.clock.pending()


def test_the_lab_stays_open_after_silence(calm):
    calm.crash("paris")
    with pytest.raises(Silence):
        calm["paris"].get("secret/data/app", token="")
    calm.restart("paris")
    calm["paris"].unseal()

    assert calm["paris"].post("secret/data/app", {"data": {"a": 1}}).ok


def test_the_ledger_says_unknown(calm):
    calm.crash("paris")
    before = calm.ledger.unknown
    with pytest.raises(Silence):
        calm["paris"].post("secret/data/app", {"data": {"a": 1}})

    assert calm.ledger.unknown == before + 1
    assert calm.ledger.writes == []


def test_a_late_answer_is_traced_and_dropped_and_what_was_asked_has_happened(quiet):
    """Patience ends while the answer is on its way."""
    before = len(quiet.trace)
    paris = quiet["paris"]
    put = Ask("paris", "POST", "secret/data/late", {"data": {"a": 1}})
    quiet.parts.console.ask(put, SECOND_NS // 100_000)  # 10 us: a tenth of an operator's line there and back
    quiet.run("1s")
    answers = [event for event in list(quiet.trace)[before:] if event.kind == "message" and event.what == "response"]

    assert [(event.target, event.fate) for event in answers] == [("paris-operator", "delivered")]
    assert quiet.ledger.unknown == 1
    assert quiet.ledger.writes == []
    assert paris.get("secret/data/late").data["data"] == {"a": 1}


def test_a_promotion_of_the_active_node_inside_the_cluster_is_waited_for(calm):
    calm.crash("paris-1")
    at_ns = calm.now
    answered = calm["paris"].post("secret/data/app", {"data": {"a": 1}})

    assert answered.ok
    assert calm["paris"].active == "paris-2"
    assert calm.now - at_ns < 5 * SECOND_NS


# ---- files


def test_an_audit_device_writes_into_them(quiet):
    paris = quiet["paris"]
    assert paris.put("sys/audit/file", {"type": "file", "options": {"file_path": "/audit.log"}}).ok
    paris.get("secret/data/app")

    assert list(paris.files.lines) == ["/audit.log"]
    assert quiet["tokyo"].files.lines == {}
    assert not any(paris.root_token.encode() in line for line in paris.files.lines["/audit.log"])
    assert Lab.restore(quiet.snapshot())["paris"].files.state() == paris.files.state()


# ---- verbs


def test_its_verbs_are_runbooks(calm):
    assert calm["paris"].demote() == "paris is a secondary without a primary"
    assert calm["tokyo"].promote() == "tokyo is the primary now"
    assert (calm["paris"].mode, calm["tokyo"].mode) == ("secondary", "primary")
    calm.crash("tokyo-3")
    calm.restart("tokyo-3")
    assert calm["tokyo"].unseal() == "1 node of tokyo unsealed"


def test_status_and_root_are_told(calm):
    assert calm["tokyo"].status()["state"] == "stream-wals"
    assert calm["tokyo"].root == calm["tokyo"].status()["merkle_root"] == calm["paris"].root
    assert len(calm["paris"].root) == 40
