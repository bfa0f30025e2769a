"""The verbs: faults by cluster, node or site, what they leave in trace and ledger, and what undoes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit import Lab
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import pair

SECOND_NS = 1_000_000_000


def faults(lab: Lab) -> list[tuple[str, str, str]]:
    return [(event.verb, event.target, event.detail) for event in lab.trace.select("fault")]


def test_a_target_is_a_node_or_all_nodes_of_a_cluster(quiet):
    assert quiet.queries.nodes_of("paris-2") == ("paris-2",)
    assert quiet.queries.nodes_of("paris") == ("paris-1", "paris-2", "paris-3")
    with pytest.raises(ValueError, match="target: expected a cluster or a node, got 'oslo'; there are: paris, paris-1"):
        quiet.crash("oslo")


def test_a_name_means_a_site(quiet):
    assert [quiet.queries.site_of(name) for name in ("paris", "tokyo-2", "lisbon", "paris-operator")] == [
        "paris",
        "tokyo",
        "lisbon",
        "paris",
    ]
    with pytest.raises(ValueError, match="oslo"):
        quiet.queries.site_of("oslo")


def test_a_crash_is_told_node_by_node_and_once(quiet):
    quiet.crash("paris")
    quiet.crash("paris-1")

    assert faults(quiet) == [
        ("crash", "paris-1", ""),
        ("crash", "paris-2", ""),
        ("crash", "paris-3", ""),
        ("crash", "paris-1", "no change"),
    ]
    assert quiet.parts.nodes["paris-1"].incarnation == 1


def test_only_the_loss_of_the_active_node_is_an_outage_of_the_cluster_until_another_leads(quiet):
    quiet.run("1s").crash("paris-2")
    assert quiet.ledger.outages.since == {}
    quiet.crash("paris-1")
    assert quiet.ledger.outages.since == {("down", "paris"): SECOND_NS}
    quiet.run("10s")
    assert quiet.ledger.outages.since == {}
    quiet.crash("paris-3")
    assert quiet.ledger.outages.since == {("down", "paris"): 11 * SECOND_NS}


def test_a_restart_of_a_node_that_is_up_changes_nothing(quiet):
    pending = quiet.parts.clock.pending()
    quiet.restart("paris")

    assert quiet.parts.clock.pending() == pending
    assert not quiet.parts.nodes["paris-1"].vault.sealed


def test_a_partition_cuts_the_line_between_two_clusters_until_it_heals(quiet):
    quiet.run("1s").partition("paris", "tokyo")
    assert quiet.ledger.outages.since == {("cut", "paris", "tokyo"): SECOND_NS}
    assert faults(quiet) == [("partition", "paris <> tokyo", "")]
    assert not quiet.network.reachable("paris", "tokyo")
    quiet.heal("paris", "tokyo")
    assert quiet.network.reachable("paris", "tokyo")
    assert quiet.ledger.outages.since == {}


def test_a_partition_that_cannot_be_is_no_fault(quiet):
    with pytest.raises(ValueError, match="a, b: expected two different sites, but paris and paris both mean paris"):
        quiet.partition("paris", "paris")

    assert quiet.ledger.outages.since == {}


def test_a_one_way_cut_cuts_one_way(calm):
    """The primary still hears the secondary, the secondary nothing: their statuses disagree."""
    calm.cut("paris", "tokyo")
    seen = len(calm.trace)
    calm.run("20s")
    fates = {
        (event.source.partition("-")[0], event.fate)
        for event in list(calm.trace)[seen:]
        if event.kind == "message" and event.sent_ns > calm.now - 19 * SECOND_NS
    }

    assert {("tokyo", "delivered"), ("paris", "lost")} <= fates
    assert ("tokyo", "lost") not in fates
    assert calm["tokyo"].status()["connection_state"] in ("connecting", "transient_failure")


@pytest.mark.parametrize(
    ("strike", "causes"),
    [
        (lambda lab: lab.cut("paris", "lisbon"), set()),
        (lambda lab: lab.cut("tokyo", "paris"), {("cut", "paris", "tokyo")}),
        (lambda lab: lab.isolate("tokyo"), {("cut", "paris", "tokyo"), ("fenced", "tokyo")}),
        (lambda lab: lab.crash("paris"), {("down", "paris")}),
    ],
)
def test_a_fault_ends_the_service_or_shipping_that_it_touches(quiet, strike, causes):
    """Without clients every other site counts as one, so one line more or less fences nobody."""
    quiet.run("1s")
    strike(quiet)

    assert set(quiet.ledger.outages.since) == causes


def test_isolation_cuts_from_all_and_one_heal_undoes_it(quiet):
    quiet.isolate("paris")
    assert not any(quiet.network.reachable("paris", other) for other in ("tokyo", "lisbon"))
    assert quiet.network.reachable("tokyo", "lisbon")
    quiet.heal("paris")
    assert all(quiet.network.reachable("paris", other) for other in ("tokyo", "lisbon"))


def test_what_is_in_flight_when_a_line_is_cut_is_lost_even_when_it_heals_at_once(calm):
    """A push takes 80 ms; it is cut 40 ms on its way, and healed in the same instant."""
    calm.run(until=lambda lab: lab.now % SECOND_NS > 600_000_000)  # no heartbeat is near
    calm["paris"].post("secret/data/app", {"data": {"a": 1}})
    calm.run("40ms")
    seen = len(calm.trace)
    calm.partition("paris", "tokyo")
    calm.heal("paris", "tokyo")
    calm.run("100ms")
    lost = [event for event in list(calm.trace)[seen:] if event.kind == "message" and event.fate == "lost"]

    assert [(event.source, event.target, event.what) for event in lost] == [("paris-1", "tokyo-1", "stream")]
    assert calm["tokyo"].root != calm["paris"].root


def test_and_replication_makes_up_for_it(calm):
    calm["paris"].post("secret/data/app", {"data": {"a": 1}})
    calm.run("40ms")
    calm.partition("paris", "tokyo")
    calm.heal("paris", "tokyo")
    calm.run("2m")

    assert calm["tokyo"].root == calm["paris"].root
    assert calm.queries.contents("tokyo") == calm.queries.contents("paris")


def test_requests_and_answers_in_flight_to_a_node_that_crashes_are_lost(calm):
    number = calm.parts.console.ask(Ask("paris", "GET", "sys/health"), 5 * SECOND_NS)
    calm.crash("paris")
    calm.run("6s")
    assert calm.parts.console.answers[number].status == 0
    lost = [event for event in calm.trace.select("message", source="paris-operator") if event.fate == "lost"]

    assert [event.what for event in lost] == ["request"]


def test_slow_gives_a_line_another_latency_or_makes_it_so_many_times_as_slow(calm):
    def trip_ns() -> int:
        calm.run("3s")
        beat = calm.trace.select("message", source="tokyo-1", target="paris-1", what="echo")[-1]
        return beat.at_ns - beat.sent_ns

    usual_ns = trip_ns()
    calm.slow("paris", "tokyo", factor=4)
    slower_ns = trip_ns()
    calm.slow("paris", "tokyo", latency="5ms")
    faster_ns = trip_ns()
    calm.restore_links("paris", "tokyo")

    assert 3.8 < slower_ns / usual_ns < 4.2
    assert 5_000_000 <= faster_ns < 6_000_000, "the jitter of the link stays"
    assert 0.9 < trip_ns() / usual_ns < 1.1


@pytest.mark.parametrize("factor", [-2, 0, 1, 1_000_001, 2.0, True, "2"])
def test_a_line_is_slower_by_a_whole_factor(calm, factor):
    with pytest.raises(ValueError, match="factor: expected a whole number from 2 to 1000000"):
        calm.slow("paris", "tokyo", factor=factor)

    assert calm.parts.network.impaired() == ()
    for within in (2, 1_000_000):
        calm.slow("paris", "tokyo", factor=within)
        assert calm.parts.network.impairment("paris", "tokyo").factor == within


def test_a_lossy_line_sends_again_later_and_nothing_is_missing(lab):
    lab.lose("paris", "tokyo", 30)
    lab.run("20s")
    lab.restore_links()
    lab.run("70s")

    assert ("lose", "paris <> tokyo", "300000 ppm") in faults(lab)
    assert lab["tokyo"].root == lab["paris"].root


# ---- lines that are slow one way


def test_a_line_may_be_slow_one_way(quiet):
    quiet.slow("paris", "tokyo", latency="300ms", one_way=True)
    assert "to tokyo: 300 ms, usually 80 ms; to paris: 80 ms" in quiet.map().description
    assert faults(quiet) == [("slow", "paris > tokyo", "constant(300000000 ns)")]
    quiet.restore_links()
    assert "80 ms" in quiet.map().description
    assert "300 ms" not in quiet.map().description


def test_a_link_of_a_blueprint_may_be_slower_one_way():
    link, *others = pair().links
    lab = Lab(replace(pair(), links=(replace(link, jitter_ns=0, back_ns=200_000_000), *others)))
    assert "to tokyo: 80 ms; to paris: 200 ms" in lab.map().description
    topology = Lab.restore(lab.snapshot()).network.topology
    assert (topology.hop("paris", "tokyo").typical_ns, topology.hop("tokyo", "paris").typical_ns) == (
        80_000_000,
        200_000_000,
    )


def test_announcements_may_come_twice_and_the_stream_goes_on(calm):
    calm.duplicate("paris", "tokyo", 100)
    calm.run("1s").crash("paris-1")
    calm.run("5s")
    heard = [event for event in calm.trace.select("message", what="announcement") if event.fate == "delivered"]
    sent = {(event.sent_ns, event.target) for event in heard}
    assert len(heard) == 2 * len(sent) > 0
    calm["paris"].post("secret/data/a", {"data": {"b": 1}})
    calm.run("2s")
    assert calm["paris"].root == calm["tokyo"].root
    assert "datagrams come twice: 100 %" in calm.map().description


# ---- a crash inside a commit


@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_a_leader_that_ends_inside_a_commit_leaves_all_of_it_or_nothing(calm, moment):
    calm.crash_in_commit("paris", moment)
    other = Lab.restore(calm.snapshot())
    for lab in (calm, other):
        number = lab.parts.console.ask(Ask("paris", "POST", "secret/data/a", {"data": {"b": 1}}), 15 * SECOND_NS)
        lab.run("20s")
        assert lab.parts.console.answers[number].status == 0, "nobody was answered"
        assert lab["paris"].active == "paris-2"
        assert not lab.queries.is_running("paris-1")
        assert lab["paris"].get("secret/data/a").status == (200 if moment == "after" else 404)
        assert lab["paris"].post("secret/data/c", {"data": {"b": 1}}).ok
        lab.run("2s")
        assert lab["tokyo"].root == lab["paris"].root
        assert lab.queries.contents("paris") == lab.queries.contents("tokyo")
        assert lab.invariants.broken == {}
    assert calm.trace.digest() == other.trace.digest()
    assert faults(calm)[:2] == [("crash in commit", "paris-1", f"{moment} its keys"), ("crash", "paris-1", "")]


def test_what_it_left_counts_as_written_by_nobody_who_was_answered(calm):
    assert calm["paris"].post("secret/data/a", {"data": {"b": 1}}).ok
    calm.crash_in_commit("paris-1", "after")
    calm.parts.console.ask(Ask("paris", "POST", "secret/data/a", {"data": {"b": 2}}), SECOND_NS)
    calm.run("10s")
    commits = len(calm.ledger.histories.commits)
    calm.crash("paris")
    calm["tokyo"].promote()
    assert calm["tokyo"].get("secret/data/a").data["metadata"]["version"] == 2
    assert calm.ledger.rpo().writes == 0, "the later write of the same history has its place"
    assert commits > 2


def test_only_a_node_that_leads_can_end_inside_a_commit(quiet):
    with pytest.raises(ValueError, match="crash in commit: expected a node that commits, but paris-1 leads paris"):
        quiet.crash_in_commit("paris-2")
    quiet.crash("tokyo")
    with pytest.raises(ValueError, match="expected a node that commits, but none of its nodes leads tokyo"):
        quiet.crash_in_commit("tokyo")
    with pytest.raises(ValueError, match="moment: expected a moment of a commit, got 'soon'; there are: before, betw"):
        quiet.crash_in_commit("paris", "soon")


@pytest.mark.parametrize(("undone", "goes_down"), [("paris", False), ("paris-1", False), ("paris-2", True)])
def test_a_restart_takes_back_that_a_node_is_to_go_down(calm, undone, goes_down):
    calm.crash_in_commit("paris")
    before = calm.faults.meters.changes
    calm.restart(undone)
    assert (calm.faults.meters.changes > before) != goes_down
    if goes_down:
        with pytest.raises(TimeoutError):
            calm["paris"].post("secret/data/a", {"data": {"b": 1}}, timeout="1s")
    else:
        assert calm["paris"].post("secret/data/a", {"data": {"b": 1}}).ok
    assert calm.queries.is_running("paris-1") != goes_down


def test_damage_may_meet_it_and_a_resumed_leader_too(calm):
    calm.crash_in_commit("paris-1", "before")
    calm["paris"].post("sys/policies/acl/none", {"policy": ""})
    calm.run("1s")
    calm.pause("paris-1")
    calm.parts.console.ask(Ask("paris", "POST", "secret/data/a", {"data": {"b": 2}}, "paris-1"), SECOND_NS)
    calm.run("500ms")
    calm.resume("paris-1")
    calm.run("8s")
    assert calm["paris"].active == "paris-2"


def test_a_secondary_that_ends_inside_the_commit_of_what_its_primary_sent_wrote_nothing_of_its_own(calm):
    calm.crash_in_commit("tokyo", "after")
    calm["paris"].post("secret/data/app", {"data": {"n": 1}}).raise_for_status()
    calm.run("2s")

    assert not calm.queries.is_running("tokyo-1")
    assert calm.queries.contents("tokyo") == calm.queries.contents("paris"), "the store has all of it"
    assert calm.invariants.broken == {}


# ---- a write that nobody asked for


def test_what_a_primary_stores_of_its_own_accord_is_replicated(calm):
    calm.stray_write("paris")
    calm.run("2s")

    assert faults(calm)[-1] == ("stray write", "paris", "logical/stray")
    assert "logical/stray" in calm.queries.contents("tokyo")
    assert calm["paris"].root == calm["tokyo"].root
    assert calm.invariants.broken == {}


def test_what_a_secondary_stores_of_its_own_accord_is_found_and_taken_away(calm):
    other = Lab.restore(calm.snapshot())
    for lab in (calm, other):
        lab.stray_write("tokyo")
        assert lab["paris"].root != lab["tokyo"].root
        lab.run("5s")
        assert lab["paris"].root == lab["tokyo"].root
        assert "logical/stray" not in lab.queries.contents("tokyo")
        assert [*lab.invariants.broken] == ["a secondary writes nothing of its own"]
    assert calm.trace.digest() == other.trace.digest()


def test_a_write_of_its_own_wants_a_node_that_leads(calm):
    calm.crash("tokyo")
    with pytest.raises(ValueError, match="tokyo has no active node that could write; unseal or restart one first"):
        calm.stray_write("tokyo")
    calm.crash_in_commit("paris-1", "before")
    with pytest.raises(ValueError, match="paris-1 went down inside a commit, as it was to; restart it first"):
        calm.stray_write("paris")
