"""Admission: what a primary's node answers to hosts before they are connected, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.wire.messages import (
    HEADER_BYTES,
    ApiRequest,
    BootstrapAnswer,
    BootstrapRequest,
    ConnectionChallenge,
    Correlation,
    ReplicationAnswer,
    ReplicationQuestion,
    ReplicationRefusal,
)
from labkit.service.message import Request
from labkit.vault.replication.trust import admission


def answers(lab: Lab, to: str) -> list[Any]:
    """What is on its way to a host."""
    flights = [item[2] for _, item in lab.parts.clock.pending() if item[0] == "deliver"]
    return [message.payload for message in flights if message.target == to and message.source != to]


def guard(secondary_id: str = "tokyo", shown: dict[str, Any] | None = None) -> ReplicationQuestion:
    """A question that begins a connection."""
    message = {"serial": 9, "guard": bytes(20), "compare": False, "addresses": ["https://tokyo-1:8201"]}
    return ReplicationQuestion("guard_hash", secondary_id, message, shown or {})


def last_to(lab: Lab, host: str, node: str, source: str, message: Any) -> Any:
    """What a node sends to a host because of a message."""
    before = answers(lab, host)
    lab.parts.nodes[node].receive(source, message)
    return next((one for one in answers(lab, host) if one not in before), None)


def of_set(lab: Lab, secondary_id: str = "tokyo") -> dict[str, str]:
    return {"cluster_id": lab.parts.nodes["paris-1"].mode.cluster_id, "secondary_id": secondary_id}


# ---- before a connection


@pytest.mark.parametrize("node", ["paris-1", "paris-2"])
def test_any_node_of_the_primary_answers_with_a_challenge(calm, node):
    answer = last_to(calm, "tokyo-1", node, "tokyo-1", BootstrapRequest(5, "challenge", of_set(calm)))

    assert isinstance(answer, BootstrapAnswer)
    assert (answer.number, answer.response.status) == (5, 200)
    assert set(answer.response.data) == {"challenge", "seal"}


@pytest.mark.parametrize(("node", "sealed"), [("paris-1", False), ("paris-2", False), ("paris-2", True)])
def test_any_node_shows_its_api_s_certificate(calm, node, sealed):
    if sealed:
        calm.parts.nodes[node].core.keys.drop()
    asked = BootstrapRequest(5, "certificate", {"nonce": "n"})
    answer = last_to(calm, "tokyo-1", node, "tokyo-1", asked)

    assert (answer.number, set(answer.response.data)) == (5, {"certificate", "signature"})


def test_a_standby_gives_no_keys(calm):
    shown = credentials(calm)
    answer = last_to(calm, "tokyo-1", "paris-2", "tokyo-1", BootstrapRequest(5, "bootstrap", shown))

    assert (answer.response.status, answer.response.errors) == (503, ["not the active node"])
    assert last_to(
        calm, "tokyo-1", "paris-1", "tokyo-1", BootstrapRequest(5, "bootstrap", shown)
    ).response.data.keys() == {"root_key", "keyring", "seal_config"}


def credentials(lab: Lab, host: str = "tokyo-1") -> dict[str, Any]:
    """What tokyo shows for a challenge that paris makes for it."""
    made = admission.challenge(lab.parts.nodes["paris-1"].core, host, "tokyo")
    return admission.credentials(lab.parts.nodes[host].core, made)


def test_keys_are_not_given_to_a_host_that_replays_a_request(trio):
    replayed = BootstrapRequest(5, "bootstrap", credentials(trio))
    answer = last_to(trio, "lima-1", "paris-1", "lima-1", replayed)

    assert (answer.response.status, answer.response.data) == (403, None)


# ---- the first question of a connection


def test_who_is_not_connected_gets_a_challenge_under_the_questions_serial(calm):
    lab = calm
    answer = last_to(lab, "paris-2", "paris-1", "paris-2", guard())

    assert isinstance(answer, ConnectionChallenge)
    assert answer.serial == 9
    sizes = [event.size_bytes for event in lab.run("1s").trace.select("message", what="challenge")]
    assert sizes[-1] == HEADER_BYTES + len(answer.text) + len(answer.seal)


def test_who_is_connected_already_is_answered_at_once(calm):
    assert isinstance(last_to(calm, "tokyo-1", "paris-1", "tokyo-1", guard()), ReplicationAnswer)


def test_an_id_that_is_not_known_gets_none_and_that_is_reported(calm):
    answer = last_to(calm, "paris-2", "paris-1", "paris-2", guard("lima"))

    assert isinstance(answer, ReplicationRefusal)
    assert "never issued" in answer.reason
    assert calm.trace.select("observed", node="paris-1", what="connection_refused")


def test_credentials_replayed_from_another_host_take_no_stream_over(trio):
    lab = trio
    answer = last_to(lab, "lima-1", "paris-1", "lima-1", guard(shown=credentials(lab)))

    assert isinstance(answer, ReplicationRefusal)
    assert "not made by this authority for this host" in answer.reason
    assert lab.parts.nodes["paris-1"].link.secondaries.connected["tokyo"] == "tokyo-1"
    assert lab.trace.select("observed", node="paris-1", what="connection_refused")


def test_a_challenge_of_another_than_the_node_that_was_asked_is_ignored(trio):
    lab = trio
    node = lab.parts.nodes["tokyo-1"]
    lab.crash("paris-1")
    lab.run(until=lambda one: node.link.upstream.greeting.question)
    asked, question = node.link.upstream.greeting.state()
    message = ConnectionChallenge(question.message["serial"], "5", b"x" * 64)

    assert last_to(lab, "lima-1", "tokyo-1", "lima-1", message) is None
    assert node.link.upstream.greeting.state() == (asked, question), "it still waits for the one that it asked"


def test_a_false_challenge_gets_no_proof_and_is_reported(calm):
    lab = calm
    node = lab.parts.nodes["tokyo-1"]
    lab.partition("paris", "tokyo")
    lab.run("40s")
    asked, question = node.link.upstream.greeting.state()
    lab.heal()
    message = ConnectionChallenge(question.message["serial"], "5", b"x" * 64)

    assert last_to(lab, asked, "tokyo-1", asked, message) is None
    seen = lab.trace.select("observed", node="tokyo-1", what="upstream_refused")
    assert dict(seen[-1].fields) == {"reason": "the challenge was not made by this authority for this host"}
    lab.run("90s")
    assert lab["tokyo"].status()["state"] == "stream-wals"


@pytest.mark.slow
def test_a_connection_under_way_is_the_same_cut_and_uncut(calm):
    lab = calm
    lab.crash("paris-1")
    lab.run("5s")
    cut = Lab.restore(lab.snapshot())
    for _ in range(400):
        lab.step()
        cut.step()
        cut = Lab.restore(cut.snapshot())

    assert cut.trace.digest() == lab.trace.digest()
    assert {"challenge", "guard_hash"} <= {event.what for event in lab.trace.select("message")}


def test_a_request_of_the_api_wins_nothing_of_the_cluster_port(calm):
    """What is asked of the cluster port over the API is a path like any other."""
    asked = ApiRequest(Correlation("tokyo-1", 1), Request("POST", "bootstrap", {}, credentials(calm) | {"seal": ""}))
    answer = last_to(calm, "tokyo-1", "paris-1", "tokyo-1", asked)

    assert answer.response.status in (400, 403)
