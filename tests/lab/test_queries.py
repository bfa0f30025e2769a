"""What can be seen of a lab from outside, without a question and without a trace."""

from __future__ import annotations

from labkit import Lab
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.records.outages import CUT, DOWN
from labkit.lab.wire.messages import Correlation
from labkit.vault.replication.tree.merkle import classify


def test_looking_changes_nothing(lab):
    lab.run("2s")
    before, digest, drawn = lab.parts.clock.pending(), lab.trace.digest(), lab.parts.random_streams.state()
    for cluster in ("paris", "tokyo"):
        lab.queries.active_node(cluster)
        lab.queries.mode_of(cluster)
        lab.queries.root(cluster)
        lab.queries.contents(cluster)
        lab.queries.last_entry(cluster)
    lab.queries.accepting()
    lab.queries.streaming_pairs()

    assert (lab.parts.clock.pending(), lab.trace.digest(), lab.parts.random_streams.state()) == (before, digest, drawn)


def test_only_the_host_that_asked_awaits_an_answer(calm):
    """A node's fetches and a client's operations have numbers too."""
    console = calm.parts.console
    number = console.ask(Ask("paris", "GET", "sys/health"))
    awaited = [calm.queries.is_awaited(Correlation(asker, number, 1)) for asker in ("paris-operator", "paris-1")]

    assert awaited == [True, False]
    assert not calm.queries.is_awaited(Correlation("tokyo-operator", number, 1))
    calm.run("1s")
    assert not calm.queries.is_awaited(Correlation("paris-operator", number, 1))


def test_who_serves_and_in_which_mode(calm):
    assert [(calm.queries.active_node(name), calm.queries.mode_of(name)) for name in ("paris", "tokyo")] == [
        ("paris-1", "primary"),
        ("tokyo-1", "secondary"),
    ]
    calm.crash("tokyo")
    assert (calm.queries.active_node("tokyo"), calm.queries.mode_of("tokyo")) == ("", "unknown")


def test_a_node_that_is_sealed_runs_and_one_that_is_down_does_not(calm):
    calm.crash("paris-2")
    assert [calm.queries.is_running(node) for node in ("paris-1", "paris-2", "paris-9", "paris-operator")] == [
        True,
        False,
        False,
        False,
    ]
    calm.restart("paris-2")
    assert calm.queries.is_running("paris-2")


def test_a_node_belongs_to_a_cluster(quiet):
    assert [quiet.queries.cluster_of(node) for node in ("paris-3", "tokyo-1")] == ["paris", "tokyo"]


def test_a_cluster_that_does_not_replicate_has_no_root(quiet):
    assert quiet.queries.root("paris") == ""


def test_contents_are_what_replicates_and_equal_on_both_sides_at_rest(calm):
    before = calm.queries.contents("paris")
    calm["paris"].post("secret/data/app", {"data": {"a": 1}})
    calm.run("1s")
    contents = calm.queries.contents("paris")

    assert len(contents) > len(before) > 0
    assert contents == calm.queries.contents("tokyo")
    assert all(classify(key) for key in contents)
    assert not any(key.startswith("node/") for key in contents)


def test_only_a_primary_that_clients_reach_accepts(lab):
    assert list(lab.queries.accepting().values()) == [["paris"]]
    lab.isolate("paris")
    assert lab.queries.accepting() == {}
    lab.heal()
    lab.crash("paris-1")
    assert lab.queries.accepting() == {}, "nobody leads"
    lab.run("6s")
    assert list(lab.queries.accepting().values()) == [["paris"]]


def test_without_clients_any_other_site_counts_as_one(calm):
    assert list(calm.queries.accepting().values()) == [["paris"]]
    calm.partition("paris", "lisbon")
    assert list(calm.queries.accepting().values()) == [["paris"]]
    calm.partition("paris", "tokyo")
    assert calm.queries.accepting() == {}


def test_a_pair_streams_when_nothing_is_on_its_way(calm):
    assert calm.queries.streaming_pairs() == [("paris", "tokyo")]
    calm["paris"].post("secret/data/app", {"data": {"a": 1}})
    assert calm.queries.streaming_pairs() == [], "80 ms away"
    calm.run("1s")
    assert calm.queries.streaming_pairs() == [("paris", "tokyo")]


def test_three_clusters_are_two_pairs(trio):
    assert trio.queries.streaming_pairs() == [("paris", "tokyo"), ("paris", "lima")]


def test_the_newest_entry_is_read_from_the_store(calm):
    assert calm.queries.last_entry("paris") == calm.parts.nodes["paris-1"].vault.core.replica.journal.last
    before = calm.queries.last_entry("paris")
    calm["paris"].post("secret/data/app", {"data": {"a": 1}})
    assert calm.queries.last_entry("paris") == before + 1
    calm.crash("paris")
    assert calm.queries.last_entry("paris") == before + 1


def test_a_cluster_that_never_replicated_has_no_entry():
    assert Lab.pair().queries.last_entry("paris") == 0


def test_what_keeps_clusters_from_serving_or_shipping_is_named(lab):
    assert lab.queries.outages() == []
    lab.partition("paris", "tokyo")
    assert (CUT, "paris", "tokyo") in lab.queries.outages()
    lab.heal()
    assert lab.queries.outages() == []
    lab.crash("paris")
    assert lab.queries.outages() == [(DOWN, "paris")]


def test_outages_name_clusters_in_the_order_of_the_blueprint(trio):
    trio.isolate("lima")
    trio.crash("tokyo")
    assert trio.queries.outages() == [
        ("down", "tokyo"),
        ("fenced", "lima"),
        ("cut", "lima", "paris"),
        ("cut", "lima", "tokyo"),
    ]
