"""The upstream as a secondary's node sees it: at which hosts it is, what is heard of it, and what it is asked."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.lab.nodes.upstream import EVENTS, Upstream
from labkit.lab.wire.messages import Announcement, ReplicationAnswer, ReplicationRefusal, StreamPush
from labkit.lab.wire.reports import MESSAGE_REFUSED, UpstreamHeard
from labkit.vault.replication.events import AskUpstream, Pushed, Refused
from labkit.vault.replication.trust.root_key_transfer import QUESTION


@pytest.fixture
def heard(calm) -> tuple[Upstream, list[Any]]:
    """The upstream of tokyo's active node, and what it sends and reports from now on."""
    node = calm.parts.nodes["tokyo-1"]
    done: list[Any] = []
    upstream: Upstream = node.link.upstream
    upstream._services = node.services._replace(
        emit=done.append,
        send=lambda *message, **how: done.append(("send", *message[1:3])),
        datagram=lambda *message: done.append(("datagram", *message[1:3])),
    )
    return upstream, done


def test_its_hosts_are_those_at_the_addresses_of_whom_a_node_follows(calm):
    assert calm.parts.nodes["tokyo-1"].link.upstream.hosts == ("paris-1", "paris-2", "paris-3")
    assert calm.parts.nodes["tokyo-2"].link.upstream.hosts is None, "only the active node follows"
    assert calm.parts.nodes["paris-1"].link.upstream.hosts is None


def test_another_host_that_is_heard_is_reported_once(heard):
    upstream, done = heard
    push = StreamPush({"entries": ()})
    for source in ("paris-1", "paris-2", "paris-2"):
        assert isinstance(EVENTS[StreamPush](upstream, source, push), Pushed)

    assert done == [UpstreamHeard("tokyo", "paris-2")]


def test_a_refusal_is_an_event_and_nothing_is_heard_by_it(heard):
    upstream, done = heard
    event = EVENTS[ReplicationRefusal](upstream, "paris-2", ReplicationRefusal("echo", 3, "sealed", ("a",)))

    assert isinstance(event, Refused)
    assert (event.rpc, event.serial, event.reason, event.addresses) == ("echo", 3, "sealed", ("a",))
    assert done == []


def test_what_is_refused_makes_no_event(calm, heard):
    """An announcement that nobody signed, and a root key that nobody asked for."""
    upstream, _ = heard
    content: dict[str, Any] = {"address": "https://lima-1:8201", "term": 9, "cluster_id": "x", "secondary_id": "tokyo"}
    content["signature"] = b""
    given = ReplicationAnswer(QUESTION, {"serial": 7, "gone": True})
    before = len(calm.trace.select("observed", what=MESSAGE_REFUSED))
    assert EVENTS[Announcement](upstream, "paris-1", Announcement(content)) is None
    assert EVENTS[ReplicationAnswer](upstream, "paris-1", given) is None

    reasons = [dict(event.fields)["reason"] for event in calm.trace.select("observed", what=MESSAGE_REFUSED)[before:]]
    assert reasons[0].startswith("an announcement: ")
    assert reasons[1] == "a root key that was not asked for"


def test_a_heartbeat_that_proves_nothing_may_be_lost_and_a_question_may_not(heard):
    upstream, done = heard
    address = "https://paris-2:8201"
    upstream.ask(AskUpstream("echo", address, {}, aside=True))

    assert done == [("datagram", "paris-2", "echo")]


def test_a_standby_tells_who_is_active(calm):
    """A secondary that heard no announcement and asks the wrong node is sent on at once, without a backoff."""
    calm.partition("paris", "tokyo")
    calm.crash("paris-1")
    calm.run("22s")
    calm.restart("paris-1")
    calm["paris"].unseal()
    calm.heal()
    calm.run("60s")
    refusals = [
        dict(event.fields)["reason"] for event in calm.trace.select("observed", what="replication_disconnected")
    ]

    assert ("paris", "tokyo") in calm.queries.streaming_pairs()
    assert {"sealed", "not the active node"} & set(refusals) or refusals[0].startswith("no")


def test_a_secondary_of_an_older_authority_says_why_it_does_not_connect(calm):
    """A primary that was demoted and promoted again has an authority of its own making."""
    calm["paris"].demote()
    calm["paris"].promote()
    calm.run("20s")
    status, reason = calm["tokyo"].status(), "the challenge was not made by this authority for this host"

    assert (status["connection_state"], status["connection_error"]) == ("transient_failure", reason)
    assert reason in [dict(event.fields)["reason"] for event in calm.trace.select("observed", what="upstream_refused")]
    lost = calm.trace.select("observed", what="replication_disconnected", node="tokyo-1")
    assert reason in [dict(event.fields)["reason"] for event in lost]
    calm["tokyo"].repoint("paris")
    calm.run("2s")
    assert "connection_error" not in calm["tokyo"].status()
