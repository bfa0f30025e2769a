"""A primary's part in replication: who its new active node calls, and how soon the stream goes on."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.nodes.admission import NOT_ACTIVE_TEXT
from labkit.lab.nodes.secondaries import ANNOUNCEMENTS
from labkit.lab.wire.messages import (
    Announcement,
    AnnounceTimer,
    ReplicationAnswer,
    ReplicationQuestion,
    ReplicationRefusal,
    StreamPush,
)
from labkit.vault.core import Leadership
from labkit.vault.replication.serving_secondaries import SecondaryStream
from labkit.vault.sealing.seal import seal

SECOND_NS = 1_000_000_000
DR = "sys/replication/dr/"


def new_leader(lab: Lab, cluster: str = "paris") -> None:
    """Let another node take the lead."""
    before = lab[cluster].active
    lab.crash(before)
    lab.run(until=lambda one: one[cluster].active not in ("", before))


def streaming(lab: Lab, secondary: str = "tokyo") -> bool:
    """Whether a secondary streams from the active node of paris."""
    served = lab.parts.nodes[lab["paris"].active].link.secondaries
    return secondary in served.streams and ("paris", secondary) in lab.queries.streaming_pairs()


def seconds_to_stream(lab: Lab, secondary: str = "tokyo") -> float:
    began_ns = lab.now
    lab.run(until=lambda one: streaming(one, secondary) or one.now > began_ns + 60 * SECOND_NS)
    return (lab.now - began_ns) / SECOND_NS


def said(lab: Lab, what: str) -> list[dict[str, Any]]:
    return [dict(event.fields) for event in lab.trace.select("observed", what=what)]


def announced(lab: Lab) -> list[Any]:
    return lab.trace.select("message", what="announcement")


# ---- who is asked


def test_a_standby_sends_a_secondary_on_to_the_leader_that_it_knows(calm):
    standby = calm.parts.nodes["paris-2"]
    secondaries = standby.link.secondaries
    question = ReplicationQuestion("guard_hash", "tokyo", {"serial": 1}, {})

    assert secondaries._judge("tokyo-1", question) == (NOT_ACTIVE_TEXT, ("https://paris-1:8201",))
    standby.vault.set_leadership(Leadership(active=False))
    assert secondaries._judge("tokyo-1", question) == (NOT_ACTIVE_TEXT, ())


def test_a_sealed_node_names_no_leader(calm):
    node = calm.parts.nodes["paris-2"]
    seal(node.core)

    assert node.link.secondaries._judge("tokyo-1", ReplicationQuestion("echo", "tokyo", {}, {})) == ("sealed", ())


# ---- a change of the primary's active node


def test_the_stream_goes_on_within_two_seconds_of_the_new_lease(calm):
    new_leader(calm)

    assert seconds_to_stream(calm) < 0.6
    assert said(calm, "primary_announced")[-1]["address"] == f"https://{calm['paris'].active}:8201"
    assert said(calm, "replication_disconnected") == []


def test_and_when_the_first_announcement_is_lost(calm):
    before = calm["paris"].active
    calm.crash(before)
    calm.run(until=lambda one: one.trace.select("leader", cluster="paris")[-1].node != before)
    calm.cut("paris", "tokyo")
    calm.run("100ms")
    calm.heal()

    assert announced(calm)[0].fate == "lost"
    assert seconds_to_stream(calm) < 1.9


def test_a_write_to_the_new_active_node_arrives_soon(calm):
    new_leader(calm)
    assert calm["paris"].post("secret/data/app", {"data": {"a": 1}}).ok
    calm.run("2s")

    assert calm.lag("paris", "tokyo").entries == 0


def test_every_secondary_is_called(trio):
    new_leader(trio)

    assert seconds_to_stream(trio, "tokyo") < 1
    assert seconds_to_stream(trio, "lima") < 1


def test_who_cannot_be_reached_is_called_fifteen_times_and_comes_back_by_itself(calm):
    calm.partition("paris", "tokyo")
    new_leader(calm)
    calm.run("40s")
    assert len(announced(calm)) == ANNOUNCEMENTS * 3
    calm.heal()
    calm.run("90s")

    assert streaming(calm)


def test_who_is_connected_is_not_called(calm):
    new_leader(calm)
    calm.run("20s")

    assert len(announced(calm)) == 3


def test_a_change_on_both_sides_at_once(calm):
    calm.crash(calm["tokyo"].active)
    new_leader(calm)
    calm.run("5s")

    assert streaming(calm)


@pytest.mark.parametrize("milliseconds", [0, 40, 80, 120, 160, 240, 900])
def test_a_lab_saved_while_the_new_node_calls_goes_on_the_same(calm, milliseconds):
    calm.cut("paris", "tokyo")
    new_leader(calm)
    calm.run(f"{milliseconds}ms")
    again = Lab.restore(calm.snapshot())
    for lab in (calm, again):
        lab.heal()
        lab.run("5s")

    assert streaming(again)
    assert again.trace.digest() == calm.trace.digest()


def test_the_term_outlives_a_change_of_the_secondarys_active_node(calm):
    new_leader(calm)
    calm.run("3s")
    before = calm.parts.nodes[calm["tokyo"].active].sync
    new_leader(calm, "tokyo")
    calm.run("2s")
    after = calm.parts.nodes[calm["tokyo"].active].sync

    assert after.term == before.term == calm.parts.nodes[calm["paris"].active].leadership.term
    assert after.life > before.serial, "the lives of all nodes rise together"


def test_a_timer_of_an_earlier_lead_calls_nobody(calm):
    node = calm.parts.nodes[calm["paris"].active]
    calm.partition("paris", "tokyo")
    calm.run("20s")
    before = len(announced(calm))
    node.on_timer(AnnounceTimer(node.incarnation, node.leadership.term - 1, 5))

    assert len(announced(calm)) == before


def test_who_was_answered_once_knows_every_node_of_the_primary(quiet):
    """The active node dies before the first heartbeat was answered."""
    quiet.parts.console.start("replicate", primary="paris", secondary="tokyo")
    quiet.run(until=lambda one: said(one, "replication_connected") != [])
    new_leader(quiet)
    quiet.run("10s")

    assert streaming(quiet)


# ---- hostile peers


def captured(lab: Lab) -> list[Announcement]:
    """The announcements that a change of the active node makes."""
    found: list[Announcement] = []
    for node in lab.parts.nodes.values():
        services = node.link.secondaries._services

        def listen(*message: Any, cast: Any = services.datagram) -> None:
            found.extend([message[3]] if isinstance(message[3], Announcement) else [])
            cast(*message)

        node.link.secondaries._services = services._replace(datagram=listen)
    new_leader(lab)
    lab.run("3s")
    return found


def held(lab: Lab) -> tuple[Any, ...]:
    node = lab.parts.nodes[lab["tokyo"].active]
    state = node.state()
    return node.sync, state["link"], lab.queries.contents("tokyo")


def test_a_replayed_announcement_is_counted_and_changes_nothing(calm):
    (message, *_) = captured(calm)
    node = calm.parts.nodes[calm["tokyo"].active]
    before = held(calm)
    for source in ("paris-1", "paris-2", "lima-1"):
        node.receive(source, message)

    assert held(calm) == before
    assert node.refused_messages == 3


@pytest.mark.parametrize("changed", [{"term": 1 << 40}, {"address": "https://paris-3:8201"}, {"secondary_id": "lima"}])
def test_a_forged_announcement_is_counted_and_changes_nothing(calm, changed):
    (message, *_) = captured(calm)
    node = calm.parts.nodes[calm["tokyo"].active]
    before = held(calm)
    node.receive("paris-2", Announcement({**message.message, **changed}))

    assert held(calm) == before
    assert node.refused_messages == 1
    assert "an announcement" in said(calm, "message refused")[-1]["reason"]


def test_what_comes_from_no_node_of_the_primary_is_counted_and_changes_nothing(calm):
    """Refusals that would end the connection, entries that continue the stream, answers under the right serial."""
    node = calm.parts.nodes["tokyo-1"]
    sync = node.sync
    fakes = (
        ReplicationRefusal("", 0, "go away", ("https://lima-1:8201",)),
        StreamPush({"serial": sync.stream, "entries": [[sync.position + 1, [["logical/fake", b"x"]]]]}),
        ReplicationAnswer("stream_wals", {"serial": sync.serial, "gone": True}),
    )
    before = held(calm)
    for count, fake in enumerate(fakes, 1):
        node.receive("lisbon-1", fake)
        assert node.refused_messages == count
    assert held(calm) == before


# ---- recover


def test_a_primary_that_recovers_begins_each_connection_again_and_loses_nothing(trio):
    for number in range(5):
        assert trio["paris"].post(f"secret/data/{number}", {"data": {"a": number}}).ok
    before = len(said(trio, "guard_found"))
    assert trio["paris"].post("sys/replication/recover", {}).warnings
    assert trio.parts.nodes[trio["paris"].active].link.secondaries.connected == {}
    trio.run("2s")

    assert [gone["reason"] for gone in said(trio, "replication_disconnected")] == [
        "the primary was asked to recover"
    ] * 2
    assert len(said(trio, "guard_found")) == before + 2
    assert streaming(trio, "tokyo")
    assert streaming(trio, "lima")
    assert trio.lag("paris", "lima").entries == trio.lag("paris", "tokyo").entries == 0
    assert not trio.parts.nodes[trio["paris"].active].vault.core.replica.reconnects


def test_a_secondary_that_recovers_waits_for_no_backoff(calm):
    token = {"dr_operation_token": calm["tokyo"].operation_token()}
    calm.partition("paris", "tokyo")
    calm.run("90s")
    calm.heal()
    assert calm["tokyo"].post(DR + "secondary/recover", token, token="").warnings

    calm.run("600ms")
    status = calm["tokyo"].get(DR + "status").data
    assert (status["state"], status["connection_state"]) == ("stream-wals", "ready")
    assert len(said(calm, "guard_found")) == 1


def test_a_host_follows_under_one_id_at_a_time(calm):
    """Under the new one nothing is pushed twice, and revoking the old one does not disturb it."""
    token = calm["paris"].post(DR + "primary/secondary-token", {"id": "again"}).wrap_info["token"]
    body = {"dr_operation_token": calm["tokyo"].operation_token(), "token": token}
    assert calm["tokyo"].post(DR + "secondary/update-primary", body, token="").ok
    calm.run("2s")
    served = calm.parts.nodes["paris-1"].link.secondaries
    assert (served.connected, list(served.streams)) == ({"again": "tokyo-1"}, ["again"])

    at_ns = calm.now
    calm["paris"].post("secret/data/app", {"data": {"a": 1}})
    calm["paris"].post(DR + "primary/revoke-secondary", {"id": "tokyo"})
    calm.run("2s")
    pushed = [event for event in calm.trace.select("message", what="stream") if event.sent_ns >= at_ns]
    assert len(pushed) == 1
    lost = calm.trace.select("observed", what="replication_disconnected", node="tokyo-1")
    assert [event for event in lost if event.at_ns >= at_ns] == []
    assert calm.queries.streaming_pairs() == [("paris", "tokyo")]


def test_a_paused_primary_that_was_saved_learns_of_a_revocation_no_earlier_than_one_that_was_not(calm):
    """While it was paused another node led and revoked the id; what it is asked then is answered as it believes."""
    calm["paris"].post("secret/data/app", {"data": {"n": 1}}).raise_for_status()
    calm.pause("paris-1")
    calm.run(until=lambda lab: lab["paris"].active not in ("", "paris-1"))
    calm["paris"].post(DR + "primary/revoke-secondary", {"id": "tokyo"}).raise_for_status()
    restored = Lab.restore(calm.snapshot())
    for lab in (calm, restored):
        lab.resume("paris-1")
        lab.run("3s")
    assert restored.trace.digest() == calm.trace.digest()


def test_streams_are_gone_through_once_something_was_committed_or_one_was_opened_and_not_otherwise(trio):
    secondaries = trio.parts.nodes["paris-1"].link.secondaries
    passes: list[int] = []

    class Noted(dict[str, SecondaryStream]):
        def items(self) -> Any:
            passes.append(trio.now)
            return super().items()

    trio.run("10s")  # a restored node looks once
    secondaries.streams = Noted(secondaries.streams)
    trio.run("10s")
    assert passes == [], "heartbeats of two secondaries"
    trio["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    trio.run("1s")
    assert len(passes) == 1
    secondaries.reconnect("to see a stream opened")
    trio.run("5s")
    assert len(passes) > 1
    assert (trio.lag("paris", "tokyo").level, trio.lag("paris", "lima").level) == (True, True)


def test_a_stream_that_is_opened_behind_the_newest_entry_is_pushed_what_it_lacks(trio):
    trio.partition("paris", "tokyo")
    trio["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    trio.run("1m").heal()
    trio.run("2m")

    assert trio.lag("paris", "tokyo").level
    assert trio.queries.contents("paris") == trio.queries.contents("tokyo")
