"""Forwarding: what a standby sends on, what it answers itself, how a forwarded request ends, and who is believed."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.nodes.election import LEASE_NS, Lease, write_lease
from labkit.lab.nodes.forwarding import PATIENCE_NS
from labkit.lab.nodes.node_host import NodeHost
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import ClusterPlan, NodePlan
from labkit.lab.wire.addresses import cluster_address
from labkit.lab.wire.host_services import ResolvedNode
from labkit.lab.wire.messages import (
    ApiAnswer,
    ApiRequest,
    Correlation,
    ForwardedAnswer,
    ForwardedRequest,
    ForwardTimeout,
    LeaseTimer,
    size_of,
)
from labkit.lab.wire.reports import MESSAGE_REFUSED
from labkit.service.errors import FORWARDING_LOST, NO_ACTIVE_NODE, NOT_ACTIVE
from labkit.service.message import Request, respond
from labkit.vault.files import Files
from labkit.vault.sealing.initialise import set_up
from labkit.vault.storage.memory import MemoryStorage

DR = "sys/replication/dr/"
ATTEMPT = DR + "secondary/generate-operation-token/"
OSLO = ClusterPlan(name="oslo", site="oslo", nodes=3)
ASKED = Correlation("shop-1", 4, 2)
READ = Request("GET", "/v1/secret/data/app", {"X-Vault-Token": "hvs.x"})
STAY = {"X-Vault-No-Request-Forwarding": "true"}


def lead(node: NodeHost, holder: str, term: int, outside: Any) -> None:
    """Give the lease to a node, and let this one see it."""
    write_lease(node.store, Lease(holder, term, outside.now_ns + LEASE_NS))
    node.on_timer(LeaseTimer(node.incarnation))


class Standby(NodeHost):
    """A node, with its root token."""

    root_token = ""


@pytest.fixture
def standby(outside) -> Standby:
    """The standby oslo-2; oslo-1 leads under term 3, and what was done until then is forgotten."""
    node = Standby(NodePlan(name="oslo-2", cluster=OSLO), outside.services, MemoryStorage(), Files())
    node.root_token, _ = set_up(node.core)
    for name in OSLO.node_names:
        outside.known[cluster_address(name)] = ResolvedNode(name, "oslo", True)
    lead(node, "oslo-1", 3, outside)
    outside.done.clear()
    return node


def forward(node: NodeHost, outside: Any, request: Request = READ) -> int:
    """Let a request arrive that is forwarded; return the number under which that was done."""
    outside.done.clear()
    node.receive("shop-1", ApiRequest(ASKED, request))
    (message,) = outside.sent
    outside.done.clear()
    return int(message[3].number)


def answers(outside: Any) -> list[tuple[str, int, str]]:
    """The answers of the API that were sent: to whom, status and reason code."""
    sent = [(target, message) for _, target, _, message, _ in outside.sent if isinstance(message, ApiAnswer)]
    assert all(message.correlation == ASKED for _, message in sent)
    return [(target, message.response.status, message.response.code) for target, message in sent]


# ---- what is forwarded


def test_a_request_is_sent_on_with_its_callers_address_and_correlation(standby, outside):
    standby.receive("shop-1", ApiRequest(ASKED, Request("POST", "secret/data/app?x=1", {"a": "b"}, {"data": {}})))
    request = Request("POST", "secret/data/app?x=1", {"a": "b"}, {"data": {}}, "shop-1")
    number = standby.forwarding.serial

    assert outside.sent == [
        ("oslo-2", "oslo-1", "forwarded_request", ForwardedRequest(number, ASKED, request), size_of({"data": {}}))
    ]
    assert outside.timers == [(PATIENCE_NS, ForwardTimeout(0, number), 0)]
    assert outside.reports == []


@pytest.mark.parametrize(
    "request_",
    [
        Request("PUT", "/v1/sys/seal", {}),
        Request("GET", "/v1/" + DR + "status"),
        Request("GET", "/v1/sys/replication/status"),
        Request("GET", "/v1/no/such/mount"),
        Request("DELETE", "/v1/sys/health"),
        Request("FETCH", "/v1/secret/data/app"),
        Request("GET", "/v1/secret/../data"),
        Request("GET", "/v1/secret/data/\ud800"),
        Request("GET", "/v1/" + "a/" * 3000),
        Request("POST", "/v1/secret/data/app", {}, {"data": float("nan")}),
        Request("GET", "/v1/secret/data/app", {"X-Vault-Namespace": "child", "X-Vault-Token": "\ud800"}),
        Request("GET", "/v1/secret/data/app", {"X-Vault-No-Request-Forwarding": ""}),
    ],
)
def test_what_is_not_about_the_node_is_for_the_active_one_whatever_is_wrong_with_it(standby, outside, request_):
    before, drawn = standby.store.state(), standby.entropy.counter
    forward(standby, outside, request_)

    assert standby.store.state() == before
    assert standby.entropy.counter == drawn, "nothing of it is judged here"
    assert standby.files.lines == {}


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "sys/health", None, 429),
        ("HEAD", "sys/health", None, 429),
        ("GET", "sys/health?standbyok=true", None, 200),
        ("GET", "sys/seal-status", None, 200),
        ("GET", "sys/init", None, 200),
        ("PUT", "sys/init", {"secret_shares": 1, "secret_threshold": 1}, 400),
        ("GET", "sys/leader", None, 200),
        ("PUT", "sys/unseal", {}, 400),
    ],
)
def test_what_is_about_the_node_it_answers_itself(standby, outside, method, path, body, status):
    standby.receive("shop-1", ApiRequest(ASKED, Request(method, path, {}, body)))

    assert answers(outside) == [("shop-1", status, "")]
    assert standby.forwarding.calls == {}


@pytest.mark.parametrize("name", ["X-Vault-No-Request-Forwarding", "x-vault-no-request-forwarding"])
def test_who_wants_no_forwarding_is_sent_to_the_active_node(standby, outside, name):
    standby.receive("shop-1", ApiRequest(ASKED, READ._replace(headers={name: "1"})))

    assert answers(outside) == [("shop-1", 307, NOT_ACTIVE)]


def test_without_a_connection_the_active_node_is_named(standby, outside):
    outside.known[cluster_address("oslo-1")] = ResolvedNode("oslo-1", "oslo", False)
    standby.receive("shop-1", ApiRequest(ASKED, READ))

    assert answers(outside) == [("shop-1", 307, NOT_ACTIVE)]
    assert outside.sent[0][3].response.headers["Location"] == "http://oslo-1:8200/v1/secret/data/app"


def test_without_an_active_node_it_says_so(standby, outside):
    standby.vault.set_leadership(standby.leadership._replace(leader="", leader_cluster=""))
    standby.receive("shop-1", ApiRequest(ASKED, READ))

    assert answers(outside) == [("shop-1", 503, NO_ACTIVE_NODE)]


def test_a_sealed_node_forwards_nothing(standby, outside):
    standby.vault.core.keys.drop()
    standby.receive("shop-1", ApiRequest(ASKED, READ))

    assert answers(outside) == [("shop-1", 503, "sealed")]


# ---- how it ends


def test_the_answer_is_sent_on_once_as_it_came(standby, outside):
    number = forward(standby, outside)
    response = respond(403, {"errors": ["permission denied"]})
    for _ in range(2):
        standby.receive("oslo-1", ForwardedAnswer(number, response))

    assert outside.sent == [("oslo-2", "shop-1", "response", ApiAnswer(ASKED, response), size_of(response.body))]
    assert standby.forwarding.calls == {}


def test_only_the_node_that_has_the_request_answers_it(standby, outside):
    number = forward(standby, outside)
    standby.receive("oslo-3", ForwardedAnswer(number, respond(200)))
    standby.receive("oslo-1", ForwardedAnswer(number + 1, respond(200)))
    assert outside.sent == []

    standby.receive("oslo-1", ForwardedAnswer(number, respond(204)))
    assert answers(outside) == [("shop-1", 204, "")]


@pytest.mark.parametrize(("holder", "term"), [("oslo-3", 4), ("oslo-1", 4)])
def test_another_leadership_ends_it_and_it_may_have_been_carried_out(standby, outside, holder, term):
    number = forward(standby, outside)
    lead(standby, holder, term, outside)

    assert answers(outside) == [("shop-1", 503, FORWARDING_LOST)]
    assert "may have been carried out" in outside.sent[0][3].response.errors[0]
    standby.receive("oslo-1", ForwardedAnswer(number, respond(200)))
    standby.on_timer(ForwardTimeout(0, number))
    assert len(outside.sent) == 1


def test_who_takes_over_itself_answers_what_it_forwarded_before(standby, outside):
    forward(standby, outside)
    outside.now_ns += LEASE_NS
    standby.on_timer(LeaseTimer(0))

    assert standby.active
    assert answers(outside) == [("shop-1", 503, FORWARDING_LOST)]


def test_a_renewed_lease_ends_nothing(standby, outside):
    forward(standby, outside)
    lead(standby, "oslo-1", 3, outside)

    assert (answers(outside), len(standby.forwarding.calls)) == ([], 1)


def test_it_ends_after_a_minute(standby, outside):
    number = forward(standby, outside)
    standby.on_timer(ForwardTimeout(1, number))
    assert answers(outside) == []
    standby.on_timer(ForwardTimeout(0, number))

    assert answers(outside) == [("shop-1", 503, FORWARDING_LOST)]
    assert [dict(report.fields) for report in outside.reports if report.kind == "forwarding lost"] == [
        {"node": "oslo-1", "source": "shop-1"}
    ]


def test_a_node_that_was_sealed_meanwhile_still_sends_the_answer_on(standby, outside):
    number = forward(standby, outside)
    standby.vault.core.keys.drop()
    standby.on_timer(LeaseTimer(0))
    assert answers(outside) == []
    standby.receive("oslo-1", ForwardedAnswer(number, respond(200)))

    assert answers(outside) == [("shop-1", 200, "")]


def test_a_crash_forgets_it_and_no_late_answer_fits_a_later_one(standby, outside):
    number = forward(standby, outside)
    standby.crash()
    standby.receive("oslo-1", ForwardedAnswer(number, respond(200)))

    assert (outside.sent, standby.forwarding.calls) == ([], {})
    assert standby.forwarding.serial >= 1 << 32


def test_it_goes_on_from_its_state(standby, outside):
    number = forward(standby, outside)
    again = NodeHost(standby.plan, outside.services, standby.store, standby.files, standby.state())
    assert again.state() == standby.state()
    again.receive("oslo-1", ForwardedAnswer(number, respond(204)))

    assert answers(outside) == [("shop-1", 204, "")]


# ---- on the active node


@pytest.fixture
def leader(standby, outside) -> Standby:
    """The same node, once it leads."""
    outside.now_ns += LEASE_NS
    standby.on_timer(LeaseTimer(0))
    assert standby.active
    outside.done.clear()
    return standby


def test_a_forwarded_request_is_judged_and_answered_to_the_standby(leader, outside):
    request = Request("POST", "secret/data/app", {"X-Vault-Token": leader.root_token}, {"data": {"a": 1}}, "shop-1")
    leader.receive("oslo-3", ForwardedRequest(9, ASKED, request))
    ((_, target, what, message, size_bytes),) = outside.sent

    assert (target, what, message.number, message.response.status) == ("oslo-3", "forwarded_answer", 9, 200)
    assert size_bytes == size_of(message.response.body)
    assert [report.correlation for report in outside.reports] == [ASKED, ASKED], "what it committed, and its answer"


def test_a_node_that_does_not_serve_refuses_what_was_forwarded_to_it_and_forwards_nothing(standby, outside):
    standby.receive("oslo-3", ForwardedRequest(9, ASKED, READ))
    ((_, target, what, message, _),) = outside.sent

    assert (target, what, message.number) == ("oslo-3", "forwarded_answer", 9)
    assert (message.response.status, message.response.code) == (503, NOT_ACTIVE)


@pytest.mark.parametrize("message", [ForwardedRequest(9, ASKED, READ), ForwardedAnswer(1, respond(200))])
@pytest.mark.parametrize("source", ["shop-1", "lima-1", "oslo-operator"])
def test_only_nodes_of_the_cluster_are_believed(leader, outside, message, source):
    before = leader.store.state()
    leader.receive(source, message)

    assert (outside.sent, leader.store.state()) == ([], before)
    assert leader.refused_messages == 1
    assert [report.kind for report in outside.reports] == [MESSAGE_REFUSED]


# ---- in a lab


@pytest.fixture
def settled(quiet) -> Lab:
    """A pair whose standbys know who leads."""
    return quiet.run("1s")


def as_root(lab: Lab, node: str, method: str, path: str, body: Any = None, **headers: str) -> Any:
    """Ask one node as root."""
    cluster = lab[node.split("-")[0]]
    return cluster.request(method, path, body, {"X-Vault-Token": cluster.root_token, **headers}, node=node)


EVERY_CALL = [
    ("GET", DR + "status", None),
    ("GET", "sys/replication/status", None),
    ("POST", DR + "primary/enable", {}),
    ("POST", DR + "primary/demote", {}),
    ("POST", DR + "primary/disable", {}),
    ("POST", DR + "primary/secondary-token", {"id": "lima", "ttl": "1m"}),
    ("POST", DR + "primary/revoke-secondary", {"id": "tokyo"}),
    ("POST", DR + "secondary/generate-public-key", {}),
    ("POST", DR + "secondary/enable", {"token": "x"}),
    ("POST", DR + "secondary/promote", {}),
    ("POST", DR + "secondary/disable", {}),
    ("POST", DR + "secondary/update-primary", {"token": ""}),
    ("GET", ATTEMPT + "attempt", None),
    ("POST", ATTEMPT + "attempt", {}),
    ("DELETE", ATTEMPT + "attempt", None),
    ("POST", ATTEMPT + "update", {"key": "00" * 33, "nonce": "n"}),
    ("POST", DR + "secondary/operation-token/delete", {}),
    ("POST", DR + "secondary/merkle-check", {}),
    ("POST", "sys/replication/merkle-check", {}),
]


@pytest.mark.parametrize(("method", "path", "body"), EVERY_CALL)
@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
def test_every_node_of_a_cluster_answers_a_replication_call_alike(calm_snapshot, cluster, method, path, body):
    given, kept = [], []
    for node in (f"{cluster}-{number}" for number in (1, 2, 3)):
        lab = Lab.restore(calm_snapshot).run("2s")
        if method == "POST" and "operation" not in path and path.startswith(DR + "secondary/") and cluster == "tokyo":
            body = {**body, "dr_operation_token": lab["tokyo"].operation_token()}
        answer = as_root(lab, node, method, path, body)
        given.append((answer.status, answer.errors, answer.warnings, sorted(answer.data or {})))
        kept.append(lab[cluster].mode)

    assert given[0] == given[1] == given[2]
    assert kept[0] == kept[1] == kept[2]


def test_every_node_shows_one_status(calm):
    calm.run("2s")
    for cluster in ("paris", "tokyo"):
        shown = [as_root(calm, node, "GET", DR + "status").data for node in calm[cluster].nodes]
        for data in shown:
            for peer in (*data.get("primaries", ()), *data.get("secondaries", ())):
                assert peer["connection_status"] == "connected"
            assert (data["merkle_root"], data["state"]) == (shown[0]["merkle_root"], shown[0]["state"])


def test_a_request_is_audited_on_the_active_node_only_with_the_callers_address(settled):
    settled["paris"].put("sys/audit/file", {"type": "file", "options": {"file_path": "/a"}})
    before = len(settled["paris"].files.lines["/a"])
    assert as_root(settled, "paris-3", "GET", "sys/mounts").ok
    lines = settled["paris"].files.lines["/a"][before:]

    assert len(lines) == 2
    assert all(b'"remote_address":"paris-operator"' in line.replace(b": ", b":") for line in lines)


def test_a_counted_token_costs_one_use_whichever_node_is_asked(settled):
    made = settled["paris"].post("auth/token/create", {"num_uses": 3, "policies": ["root"]})
    headers = {"X-Vault-Token": made.auth["client_token"]}
    nodes = ("paris-3", "paris-1", "paris-2", "paris-3")
    given = [settled["paris"].request("GET", "sys/mounts", headers=headers, node=node) for node in nodes]

    assert [answer.status for answer in given] == [200, 200, 200, 403]


def test_sealing_through_a_standby_seals_the_active_node(settled):
    assert as_root(settled, "paris-2", "PUT", "sys/seal").status == 204

    assert [settled.parts.nodes[name].vault.sealed for name in settled["paris"].nodes] == [True, False, False]


def test_a_write_through_a_standby_is_a_write_of_its_caller(settled):
    before = len(settled.ledger.writes)
    assert as_root(settled, "paris-2", "POST", "secret/data/app", {"data": {"a": 1}}).ok

    assert [(write.client, write.path) for write in settled.ledger.writes][before:] == [
        ("paris-operator", "secret/data/app")
    ]


def test_a_cluster_joins_through_a_standby_that_seals_itself_meanwhile(settled):
    settled["paris"].enable_primary()
    token = settled["paris"].post(DR + "primary/secondary-token", {"id": "tokyo"}).wrap_info["token"]
    answer = as_root(settled, "tokyo-2", "POST", DR + "secondary/enable", {"token": token})

    assert (answer.status, len(answer.warnings)) == (200, 1)
    settled.run("1500ms")
    assert settled.parts.nodes["tokyo-2"].vault.sealed
    assert settled["tokyo"].mode == "secondary"


def lost_on_its_way(lab: Lab) -> int:
    """Ask a standby to write, and let the active node crash once it has committed; return the request's number."""
    lab.run("2s")
    ask = Ask("paris", "POST", "secret/data/app", {"data": {"a": 1}}, "paris-2")
    number = lab.parts.console.ask(ask)
    commits = lab.parts.nodes["paris-1"].core.commits
    lab.run(until=lambda lab: lab.parts.nodes["paris-1"].core.commits > commits)
    lab.crash("paris-1")
    return number


def test_a_lost_answer_counts_as_unknown_and_the_console_does_not_send_again(settled):
    unknown = settled.ledger.unknown
    number = lost_on_its_way(settled)
    sent_ns = settled.now
    settled.run("10s")
    answer = settled.parts.console.answers[number]

    assert (answer.status, answer.code) == (503, FORWARDING_LOST)
    assert settled.ledger.unknown == unknown + 1
    assert [event.source for event in settled.trace.select("message", what="request") if event.sent_ns > sent_ns] == []
    assert settled["paris"].get("secret/data/app").data["metadata"]["version"] == 1, "it had been carried out"


def test_restored_at_any_step_it_goes_on_as_if_it_had_not_been_cut(settled):
    lost_on_its_way(settled)
    cut = Lab.restore(settled.snapshot())
    while settled.parts.nodes["paris-2"].forwarding.calls:
        settled.step()
        cut.step()
        cut = Lab.restore(cut.snapshot())

    assert cut.trace.digest() == settled.trace.digest()
    assert cut.parts.console.answers == settled.parts.console.answers
