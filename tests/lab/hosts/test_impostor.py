"""An impostor in a node's place: whoever is elsewhere meets it, nobody believes it, and it learns nothing of use."""

from __future__ import annotations

from labkit import Lab
from labkit.lab.hosts.impostor import Impostor, name_of
from labkit.lab.wire.messages import Announcement, ApiRequest, Correlation
from labkit.service.message import Request


def made(outside) -> Impostor:
    return Impostor("paris-1", frozenset({"paris-1", "paris-2"}), outside.services)


def test_what_belongs_to_the_cluster_port_is_sent_on_and_back_under_its_own_name(outside):
    impostor = made(outside)
    impostor.receive("tokyo-1", Announcement({}))
    impostor.receive("paris-1", Announcement({"an": "answer"}))
    impostor.receive("tokyo-1", ApiRequest(Correlation("tokyo-1", 1), Request("GET", "/v1/x")))

    assert [sent[:2] for sent in outside.sent] == [
        ("paris-1-impostor", "paris-1"),
        ("paris-1-impostor", "tokyo-1"),
    ]
    assert impostor.seen == 3
    assert impostor.stands_for("tokyo-1")
    assert not impostor.stands_for("paris-2")
    assert not impostor.stands_for(name_of("paris-1"))


def test_it_remembers_only_so_many_askers_and_is_state(outside):
    impostor = made(outside)
    for number in range(40):
        impostor.receive(f"host-{number}", Announcement({}))
    assert len(impostor.askers) == 32
    again = Impostor("paris-1", frozenset(), outside.services, impostor.state())
    assert again.state() == impostor.state()
    impostor.present = False
    outside.done.clear()
    impostor.receive("tokyo-1", Announcement({}))
    assert outside.sent == []


def test_a_secondary_does_not_believe_it_and_shows_nothing(calm):
    calm.impersonate("paris")
    calm.run("40s")
    assert "paris-1 active (an impostor in its place)" in calm.map().description
    assert calm["tokyo"].status()["connection_state"] != "ready"
    assert calm.parts.nodes["tokyo-1"].refused_messages > 0
    overheard = [calm.parts.impostors[f"paris-{number}"].seen for number in (1, 2, 3)]
    assert sum(overheard) > 10
    shown = [event for event in calm.trace.select("message", what="guard_hash") if event.target == "paris-1-impostor"]
    assert not shown, "nobody sends to it by its name"
    assert calm.invariants.broken == {}
    assert calm["paris"].post("secret/data/a", {"data": {"b": 1}}).ok, "who is beside it reaches the node itself"

    other = Lab.restore(calm.snapshot())
    for lab in (calm, other):
        lab.expose("paris")
        lab.run("90s")
        assert lab["tokyo"].status()["connection_state"] == "ready"
        assert lab["tokyo"].root == lab["paris"].root
    assert calm.trace.digest() == other.trace.digest()
    assert [event.detail for event in calm.trace.select("fault", verb="expose")] == ["", "", ""]


def test_clients_elsewhere_hear_nothing_and_go_to_another_node(lab):
    lab.impersonate("paris-1")
    lab.run("10s")
    assert lab.ledger.unknown == 0
    assert lab.ledger.writes[-1].at_ns > lab.now - 2_000_000_000, "a standby takes their requests and forwards them"
    lab.crash("paris-1")
    lab.restart("paris-1")
    assert lab.parts.impostors["paris-1"].present


def test_exposing_where_there_is_none_changes_nothing(quiet):
    quiet.expose("paris-1")
    quiet.impersonate("paris-1")
    quiet.impersonate("paris-1")
    assert [event.detail for event in quiet.trace.select("fault")] == ["no change", "", "no change"]
