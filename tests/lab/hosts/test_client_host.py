"""Clients, by themselves and on the network: what they are answered is reported, and reaches ledger and trace."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.hosts.client_host import ClientAccess, ClientHost
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.lab.wire.messages import ApiAnswer, ApiRequest, AttemptTimeout, Correlation, WorkTimer, size_of
from labkit.lab.wire.reports import MESSAGE_REFUSED, NOT_ASKED, OperationEnded
from labkit.service.message import Response

SECOND_NS = 1_000_000_000
ACCESS = ClientAccess(lambda: "hvs.root", lambda machine: {})


def one_client(**given) -> Lab:
    """A pair with one client that puts a secret each second, ten in all."""
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS, from_ns=SECOND_NS, until_ns=11 * SECOND_NS)
    return Lab(pair().with_clients(ClientPlan(name="shop", site="lisbon", use=("paris",), workload=(work,), **given)))


def test_a_client_by_itself_sends_waits_and_reports(outside):
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS)
    plan = ClientPlan(name="shop", site="lisbon", use=("paris",), workload=(work,), timeout_ns=70)
    host = ClientHost("shop-1", plan, pair().nodes_of("paris"), outside.services, ACCESS)
    host.start()
    outside.now_ns = 5
    host.on_timer(WorkTimer(0))
    ((source, target, what, message, size_bytes),) = outside.sent

    assert outside.timers == [
        (0, WorkTimer(0), 0),
        (SECOND_NS, WorkTimer(0), 0),
        (70, AttemptTimeout(), 0),
    ]
    assert (source, target, what, size_bytes) == ("shop-1", "paris-1", "request", size_of(message.request.body))
    assert isinstance(message, ApiRequest)
    assert message.correlation == Correlation("shop-1", 1, 1)
    assert message.request.headers == {"X-Vault-Token": "hvs.root"}
    outside.now_ns = 9
    host.receive("paris-1", ApiAnswer(message.correlation, Response(200, {})))
    assert outside.reports == [
        OperationEnded(
            9, 5, "shop-1", "put-secret", "secret/data/shop-1/1", "paris", "answered", 200, 1, message.correlation
        )
    ]


def test_an_answer_of_a_node_that_was_not_asked_is_counted_and_ends_nothing():
    """Whoever forges one makes no write acknowledged that nobody keeps."""
    lab = one_client().run("1010ms")
    shop = lab.clients["shop-1"]
    (open_now,) = shop.client.pending.values()
    forged = ApiAnswer(Correlation("shop-1", open_now.number, open_now.attempts), Response(200, {}))
    late = ApiAnswer(Correlation("shop-1", open_now.number, open_now.attempts + 1), Response(200, {}))
    before = shop.client.state()
    for source in ("tokyo-1", "paris-2", "paris-operator"):
        shop.receive(source, forged)
        shop.receive(source, late)

    assert shop.client.state() == before
    assert (shop.refused_messages, len(lab.ledger.writes)) == (3, 0)
    reasons = [dict(event.fields)["reason"] for event in lab.trace.select("observed") if event.what == MESSAGE_REFUSED]
    assert reasons == [NOT_ASKED] * 3
    lab.run("15s")
    assert len(lab.ledger.writes) == 10


@pytest.fixture(scope="module")
def served():
    """Ten operations, all served."""
    return one_client().run("15s")


def test_what_was_answered_is_in_ledger_and_trace(served):
    outcomes = served.trace.select("outcome")

    assert [event.outcome for event in outcomes] == ["answered"] * 10
    assert {(event.client, event.operation, event.cluster, event.status) for event in outcomes} == {
        ("shop-1", "put-secret", "paris", 200)
    }
    assert [event.path for event in outcomes] == [f"secret/data/shop-1/{number}" for number in range(1, 11)]
    assert served.ledger.answered == len(served.ledger.writes) == 10


def test_what_a_client_wrote_is_there(served):
    read = served["paris"].get("secret/data/shop-1/7").data["data"]

    assert read["number"] == 7


def test_an_outcome_took_the_way_there_and_back(served):
    event = served.trace.select("outcome")[0]

    assert event.started_ns == SECOND_NS
    assert 2 * 15_000_000 <= event.at_ns - event.started_ns < 2 * 16_000_000


def test_a_cluster_that_is_gone_leaves_operations_unknown():
    lab = one_client(retries=1).run("500ms")
    lab.crash("paris")
    lab.run("20s")

    assert {event.outcome for event in lab.trace.select("outcome")} == {"unknown"}
    assert (lab.ledger.answered, lab.ledger.unknown, len(lab.ledger.writes)) == (0, 10, 0)


def test_a_sealed_cluster_refuses_and_nothing_is_unknown():
    lab = one_client(retries=1)
    lab.crash("paris")
    lab.restart("paris")
    lab.run("20s")

    assert {(event.outcome, event.status) for event in lab.trace.select("outcome")} == {("refused", 503)}
    assert (lab.ledger.refused, lab.ledger.unknown) == (10, 0)


def test_a_client_fails_over_inside_a_cluster(lab):
    lab.run("2s").crash("paris-1")
    lab.run("20s")
    last = lab.trace.select("outcome")[-20:]

    assert {(event.outcome, event.attempts) for event in last} == {("answered", 1)}, "it stays at the new active node"
    assert {event.cluster for event in last} == {"paris"}


def test_a_client_fails_over_to_the_other_cluster_once_that_serves(lab):
    lab.run("2s").crash("paris")
    lab["tokyo"].promote()
    lab.run("10s")

    assert lab.trace.select("outcome")[-1].cluster == "tokyo"
    assert lab.trace.select("outcome")[-1].outcome == "answered"


def test_a_saved_client_goes_on_with_what_was_under_way():
    lab = one_client().run("5010ms")
    (open_now,) = lab.clients["shop-1"].client.pending.values()
    again = Lab.restore(lab.snapshot())

    assert tuple(again.clients["shop-1"].client.pending.values()) == (open_now,)
    assert again.run("15s").trace.digest() == lab.run("15s").trace.digest()


def test_it_shows_its_name_and_no_token(served):
    assert repr(served.clients["shop-1"]) == "ClientHost(shop-1)"
