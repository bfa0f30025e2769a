"""Replication through load balancers: the way there, the way back, and what a node does not take for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit import Lab
from labkit.lab.hosts.passage import Passage, goes_aside, name_of, passed_bytes
from labkit.lab.invariants.rules import LIVE_CERTIFICATES
from labkit.lab.plan.blueprint import BalancerPlan, ClientPlan, WorkloadPlan, pair
from labkit.lab.wire.messages import (
    HEADER_BYTES,
    ApiRequest,
    BootstrapAnswer,
    BootstrapRequest,
    ConnectionChallenge,
    Correlation,
    ForwardedRequest,
    PassedOn,
    ReplicationAnswer,
    ReplicationQuestion,
    ReplicationRefusal,
    StreamPush,
)
from labkit.service.message import Request, Response
from labkit.vault.replication.serving_secondaries import push_bytes

SECOND_NS = 1_000_000_000
DR = "sys/replication/dr/"
QUESTION = ReplicationQuestion("guard_hash", "tokyo", {"serial": 1}, {})
PUSH = StreamPush({"serial": 1, "entries": ((3, (("key", b"value"),)),)})


class Node:
    """A node that writes down what it is handed."""

    def __init__(self) -> None:
        self.got: list[object] = []

    def receive(self, source: str, message: object) -> None:
        self.got.append((source, message))

    def on_timer(self, timer: object) -> None:
        self.got.append(timer)


def test_what_was_passed_on_is_the_other_ends_and_goes_back_the_same_way_until_that_end_comes_by_itself(outside):
    passage, node = Passage(frozenset({"front"}), outside.services), Node()
    in_front = passage.in_front_of(node)
    in_front.receive("front", PassedOn("tokyo-1", QUESTION))
    in_front.on_timer("timer")
    again = Passage(frozenset({"front"}), outside.services, passage.state())
    for line in (passage, again):
        line.services.send("paris-1", "tokyo-1", "stream", PUSH, 10)
        line.services.send("paris-1", "lima-1", "stream", PUSH, 10)
        line.opened("tokyo-1", QUESTION)
        line.services.send("paris-1", "tokyo-1", "stream", PUSH, 10)

    assert node.got == [("tokyo-1", QUESTION), "timer"]
    through = ("paris-1", "front", "stream", PassedOn("tokyo-1", PUSH))
    direct = [("paris-1", name, "stream", PUSH) for name in ("lima-1", "tokyo-1")]
    assert [sent[:4] for sent in outside.sent] == [through, *direct] * 2


FORWARDED = ForwardedRequest(1, Correlation("shop-1", 1), Request("GET", "/v1/sys/health", {}))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("tokyo-2", PassedOn("tokyo-1", QUESTION)),
        ("front", PassedOn("paris-2", FORWARDED)),
        ("front", PassedOn(["tokyo-1"], QUESTION)),  # type: ignore[arg-type]  # a forged message
        ("front", QUESTION),
    ],
)
def test_from_others_and_of_other_kinds_nothing_is_taken_out(outside, source, message):
    passage = Passage(frozenset({"front"}), outside.services)

    assert passage.opened(source, message) == (source, message)
    assert passage.state() == {}


BEAT, REQUEST = {"asked": 1, "aside": True}, Request("GET", "/v1/sys/health", {})


@pytest.mark.parametrize(
    ("message", "name", "aside"),
    [
        (QUESTION, "guard_hash", True),
        (ReplicationQuestion("stream_wals", "tokyo", {"serial": 1}, {}), "stream_wals", False),
        (ReplicationQuestion("echo", "tokyo", BEAT, {}), "echo", True),
        (ReplicationAnswer("root_key", {"serial": 1}), "root_key", True),
        (ReplicationAnswer("echo", {**BEAT, "aside": False}), "echo", False),
        (ReplicationRefusal("fetch_keys", 1, "why"), "fetch_keys", True),
        (ReplicationRefusal("", 0, "not a primary but secondary"), "disconnect", False),
        (ConnectionChallenge(1, "text", b"seal"), "challenge", True),
        (BootstrapRequest(1, "challenge", {}), "bootstrap_request", True),
        (BootstrapAnswer(1, Response(200, {}, {"data": {}})), "bootstrap_answer", True),
        (PUSH, "stream", False),
    ],
)
def test_the_second_half_of_the_way_is_like_the_first(message, name, aside):
    assert (name_of(message), goes_aside(message)) == (name, aside)
    assert HEADER_BYTES <= passed_bytes(message) < HEADER_BYTES + 100


def test_a_push_weighs_what_it_weighs_without_a_balancer():
    assert passed_bytes(PUSH) == HEADER_BYTES + push_bytes(PUSH.message["entries"])
    assert name_of(BootstrapRequest(1, "challenge", {})) == "bootstrap_request"
    with pytest.raises(KeyError):
        name_of(ApiRequest(Correlation("shop-1", 1), REQUEST))


# ---- in a lab


def replicating(**how: bool) -> Lab:
    """The pair with writers; paris gives secondaries the address of a load balancer, and no other line is left."""
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS // 10, from_ns=3 * SECOND_NS)
    shop = ClientPlan(name="shop", site="paris", use=("paris",), retries=30, workload=(work,))
    front = BalancerPlan(name="front", site="lisbon", use=("paris", "tokyo"), **how)
    lab = Lab(replace(pair().with_clients(shop), balancers=(front,)))
    assert lab["paris"].post(DR + "primary/enable", {"primary_cluster_addr": "https://front:8201"}).ok
    lab["tokyo"].enable_secondary("paris")
    lab.run(until="4s")
    lab.faults.partition("paris", "tokyo")
    return lab


def test_a_secondary_streams_by_the_address_that_the_primary_was_given_and_its_takeovers_too():
    lab = replicating()
    lab.run("2s")
    lab.crash("paris-1")
    lab.run("1s")
    restored = Lab.restore(lab.snapshot())
    for each in (lab, restored):
        each.run("5s")
        assert each["tokyo"].status()["connection_state"] == "ready"
        assert each.lag("paris", "tokyo").entries < 4
    assert lab.trace.digest() == restored.trace.digest()
    assert lab.parts.balancers["front"].connected == {"tokyo-1": "paris-2"}
    assert {name for name, violation in lab.invariants.verdicts().items() if violation} == set()


def test_a_line_that_is_not_used_ends_nothing_and_no_view_says_that_it_does():
    lab = replicating()
    lab.run("6s")
    other = Lab.restore(lab.snapshot())
    assert "paris streams to tokyo" in lab.map().description
    assert "hears nothing" not in lab.timeline().description
    lab.crash("paris")
    lab["tokyo"].promote()
    other.faults.isolate("lisbon")
    other.run("1s")

    assert lab.ledger.rpo().after_fault == 0, "the fault is the crash, six seconds after the line was cut"
    assert "paris is followed by tokyo (cut off" in other.map().description


def test_one_that_ends_tls_lets_every_connection_fail():
    lab = replicating(ends_tls=True)
    assert lab["tokyo"].status()["connection_state"] == "ready", "by the nodes' own addresses, while there was a line"
    token = lab["tokyo"].operation_token()
    body = {"dr_operation_token": token, "update_primary_addrs": ["https://front:8201"]}
    answer = lab["tokyo"].post(DR + "secondary/update-primary", body)
    lab.run("20s")

    assert (answer.status, lab["tokyo"].status()["connection_state"]) == (503, "connecting")
    assert lab.lag("paris", "tokyo").entries > 200


@pytest.mark.slow
def test_after_a_failover_the_old_primary_follows_through_it_and_lag_is_of_the_new_one():
    lab = replicating()
    lab.run("2s")
    lab.faults.heal("paris", "tokyo")
    lab["paris"].demote()
    token = lab["tokyo"].operation_token()
    body = {"dr_operation_token": token, "primary_cluster_addr": "https://front:8201"}
    assert lab["tokyo"].post(DR + "secondary/promote", body).ok
    lab.run("3s")
    lab["paris"].repoint("tokyo")
    lab.run("2s")

    assert lab["paris"].status()["known_primary_cluster_addrs"][0] == "https://front:8201"
    assert lab.parts.balancers["front"].connected["paris-1"] == "tokyo-1"
    assert lab.lag("tokyo", "paris").level
    assert lab.invariants.verdicts()[LIVE_CERTIFICATES] is None
