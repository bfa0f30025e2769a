"""A load balancer: who is in service behind it, where connections and requests go, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit import Lab
from labkit.lab.hosts.balancer import BalancerHost
from labkit.lab.plan.blueprint import BalancerPlan, Blueprint, ClientPlan, WorkloadPlan, pair
from labkit.lab.wire.messages import (
    ApiAnswer,
    ApiRequest,
    BootstrapAnswer,
    BootstrapRequest,
    CheckTimer,
    Correlation,
    PassedOn,
    ReplicationAnswer,
    ReplicationQuestion,
    ReplicationRefusal,
    ServiceTimer,
)
from labkit.service.message import Request, Response

SECOND_NS = 1_000_000_000
NODES = ("paris-1", "paris-2")
QUESTION = ReplicationQuestion("stream_wals", "tokyo", {"serial": 5, "from": 2}, {})
REPLY = ReplicationAnswer("stream_wals", {"serial": 5, "from": 2, "last": 2})
REQUEST = ApiRequest(Correlation("shop-1", 4, 1), Request("GET", "/v1/secret/data/a", {"X-Vault-Token": "t"}))


def plan(**how: bool) -> BalancerPlan:
    return BalancerPlan(name="front", site="lisbon", use=("paris", "tokyo"), **how)


def in_service(outside, *nodes: str, **how: bool) -> BalancerHost:
    """A balancer that has just found these nodes in service."""
    made = BalancerHost(plan(**how), NODES, outside.services)
    check(made, outside, *nodes)
    return made


def check(made: BalancerHost, outside, *nodes: str) -> None:
    made.on_timer(CheckTimer())
    for place, node in enumerate(NODES):
        status = 200 if node in nodes else 429
        made.receive(node, ApiAnswer(Correlation("front", -1 - place, made.checks.round), Response(status, {})))
    outside.done.clear()


def test_it_asks_every_node_each_second(outside):
    made = BalancerHost(plan(), NODES, outside.services)
    made.start()
    made.on_timer(CheckTimer())

    assert outside.timers == [(0, CheckTimer(), 0), (SECOND_NS, CheckTimer(), 0)]
    assert [(sent[1], sent[3].request.path) for sent in outside.sent] == [(node, "/v1/sys/health") for node in NODES]


def test_a_request_goes_to_the_node_in_service_and_the_answer_to_its_client(outside):
    made = in_service(outside, "paris-2")
    made.receive("shop-1", REQUEST)
    answer = ApiAnswer(REQUEST.correlation, Response(200, {}))
    made.receive("paris-2", answer)
    made.receive("paris-2", answer)

    assert [(sent[:3], sent[3]) for sent in outside.sent] == [
        (("front", "paris-2", "request"), REQUEST),
        (("front", "shop-1", "response"), answer),
    ]
    assert made.passed == {}


def test_while_no_node_is_in_service_it_answers_itself(outside):
    made = in_service(outside)
    made.receive("shop-1", REQUEST)
    (sent,) = outside.sent
    assert (sent[1], sent[3].response.status) == ("shop-1", 503)


def test_passing_through_a_connection_stays_at_its_node_and_ending_tls_each_request_is_put_anew(outside):
    for ends_tls, second in ((False, "paris-2"), (True, "paris-1")):
        made = in_service(outside, "paris-2", ends_tls=ends_tls)
        made.receive("shop-1", REQUEST)
        check(made, outside, "paris-1", "paris-2")
        made.receive("shop-1", REQUEST)
        made.receive("shop-2", REQUEST)
        assert [sent[1] for sent in outside.sent] == [second, "paris-1"]
        headers = outside.sent[0][3].request.headers
        assert headers.get("X-Forwarded-For") == ("shop-1" if ends_tls else None)
        outside.done.clear()


def test_a_connection_moves_when_its_node_is_out_of_service(outside):
    made = in_service(outside, "paris-2")
    made.receive("shop-1", REQUEST)
    for _ in range(2):
        check(made, outside, "paris-1")
    made.receive("shop-1", REQUEST)
    assert outside.sent[0][1] == "paris-1"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("paris-1", ApiAnswer(REQUEST.correlation, Response(200, {}))),
        ("shop-1", ApiAnswer(Correlation("front", -1, 1), Response(200, {}))),
        ("shop-1", ApiAnswer(Correlation("front", -9, 1), Response(200, {}))),
        ("tokyo-1", ServiceTimer(1)),
        ("tokyo-1", {}),
        ("tokyo-1", PassedOn("shop-1", REPLY)),
        ("paris-2", PassedOn("tokyo-9", REPLY)),
        ("paris-2", PassedOn(["tokyo-1"], REPLY)),  # type: ignore[arg-type]  # a forged message
        ("paris-2", PassedOn("tokyo-1", QUESTION)),
        ("paris-2", PassedOn("tokyo-1", ReplicationAnswer("stream_wals", {}))),
        ("tokyo-1", ReplicationQuestion("stream_wals", "tokyo", {}, {})),
        ("shop-1", ApiRequest(Correlation("shop-1", 1), None)),  # type: ignore[arg-type]  # a forged message
    ],
)
def test_what_it_did_not_ask_for_is_refused_and_counted(outside, source, message):
    made = in_service(outside, "paris-2")
    made.receive("shop-1", REQUEST)
    made.receive("tokyo-1", QUESTION)
    outside.done.clear()
    made.receive(source, message)

    assert made.refused_messages == 1
    assert outside.sent == []
    assert [report.kind for report in outside.reports] == ["message refused"]


def test_a_secondarys_connection_is_passed_through_and_stays_at_its_node_while_that_is_in_service(outside):
    made = in_service(outside, "paris-2")
    made.receive("tokyo-1", QUESTION)
    made.receive("paris-2", PassedOn("tokyo-1", REPLY))
    check(made, outside, "paris-1", "paris-2")
    made.receive("tokyo-1", QUESTION)
    assert outside.sent[-1][1] == "paris-2"
    for _ in range(2):
        check(made, outside, "paris-1")
    made.receive("tokyo-1", QUESTION)
    assert [sent[:4] for sent in outside.sent] == [("front", "paris-1", "stream_wals", PassedOn("tokyo-1", QUESTION))]
    for _ in range(2):
        check(made, outside)
    made.receive("tokyo-1", QUESTION)
    assert (outside.sent, made.connected, made.refused_messages) == ([], {}, 0)


def test_what_is_passed_back_is_the_nodes_own_answer(outside):
    made = in_service(outside, "paris-2")
    made.receive("tokyo-1", QUESTION)
    made = BalancerHost(plan(), NODES, outside.services, made.state())
    outside.done.clear()
    made.receive("paris-2", PassedOn("tokyo-1", REPLY))
    assert [sent[:4] for sent in outside.sent] == [("front", "tokyo-1", "stream_wals", REPLY)]


def test_ending_tls_it_lets_a_secondarys_connection_fail(outside):
    made = in_service(outside, "paris-2", ends_tls=True)
    made.receive("tokyo-1", QUESTION)
    made.receive("tokyo-1", BootstrapRequest(7, "challenge", {"cluster_id": "c", "secondary_id": "s"}))
    (_, first, _, refusal), (_, second, _, answer) = (sent[:4] for sent in outside.sent)

    assert isinstance(refusal, ReplicationRefusal)
    assert isinstance(answer, BootstrapAnswer)
    assert (first, refusal.serial, second, answer.number) == ("tokyo-1", 5, "tokyo-1", 7)
    assert refusal.reason == answer.response.errors[0]
    assert refusal.reason.startswith("tls: ")


def test_what_is_never_answered_is_forgotten(outside):
    made = in_service(outside, "paris-2")
    made.receive("shop-1", REQUEST)
    outside.now_ns = 61 * SECOND_NS
    made.on_timer(CheckTimer())
    assert made.passed == {}


# ---- in a lab


def fronted(**how: bool) -> Blueprint:
    """The pair with clients that know a load balancer only."""
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS // 5, from_ns=3 * SECOND_NS)
    shop = ClientPlan(
        name="shop", site="lisbon", use=("paris", "tokyo"), count=2, retries=20, through="front", workload=(work,)
    )
    return replace(pair().with_clients(shop), balancers=(plan(**how),))


@pytest.mark.parametrize("ends_tls", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_clients_behind_it_reach_whichever_cluster_is_in_service(ends_tls):
    lab = Lab(fronted(ends_tls=ends_tls))
    lab.replicate("paris", "tokyo")
    lab.run("8s")
    assert "load balancer front → paris-1 at lisbon" in lab.map().description
    before = len(lab.ledger.writes)
    assert before > 40
    lab.crash("paris")
    lab.run("3s")
    assert "front → none in service" in lab.map().description
    other = Lab.restore(lab.snapshot())
    for each in (lab, other):
        each["tokyo"].promote()
        each.run("10s")
        assert "front → tokyo-1" in each.map().description
        assert each.ledger.writes[-1].committed.cluster == "tokyo"
    assert lab.trace.digest() == other.trace.digest()
    assert 3 < (lab.ledger.rto().seconds or 0) < 7
