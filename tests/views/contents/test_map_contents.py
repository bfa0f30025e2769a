"""What a map says: sites, lines, clusters, nodes and who follows whom, as they are now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import ClientPlan, CloudPlan, ClusterPlan, LinkPlan, pair
from labkit.sim.delivery import Impairment
from labkit.views.contents.map_contents import (
    BOTH_WAYS,
    FollowMark,
    LineMark,
    MapContents,
    clients_in_words,
    contents_of,
    describe,
)

MILLISECOND_NS = 1_000_000


@pytest.fixture(scope="module")
def streaming():
    """The pair, replicating, with three clients in lisbon."""
    lab = Lab(pair().with_clients(ClientPlan(name="shop", site="lisbon", use=("paris",), count=3)))
    lab.replicate("paris", "tokyo")
    return lab.run("2s").snapshot()


@pytest.fixture
def lab(streaming):
    """The same, to do with as one likes."""
    return Lab.restore(streaming)


def of(lab: Lab) -> MapContents:
    """What a lab's map says."""
    return contents_of(lab.queries)


def states(contents: MapContents) -> dict[str, str]:
    """What each node is."""
    return {node.name: node.state for site in contents.sites for one in site.clusters for node in one.nodes}


def lines(contents: MapContents) -> dict[tuple[str, str], tuple[str, str]]:
    """Label and cut of each line."""
    return {(mark.a, mark.b): (mark.label, mark.cut) for mark in contents.lines}


def follow(lab: Lab) -> tuple[str, bool]:
    """How the one secondary follows."""
    (mark,) = of(lab).follows
    assert mark[:4] == ("paris", "tokyo", "paris", "tokyo")
    return mark.how, mark.streams


def test_nodes_are_active_standby_sealed_or_down(lab):
    lab.crash("paris-1")
    lab.crash("paris-3")
    lab.run("6s").restart("paris-1")

    assert states(of(lab)) == {
        "paris-1": "sealed",
        "paris-2": "active",
        "paris-3": "down",
        "tokyo-1": "active",
        "tokyo-2": "standby",
        "tokyo-3": "standby",
    }


def test_modes_and_clients(lab):
    contents = of(lab)

    assert [[(one.name, one.mode) for one in site.clusters] for site in contents.sites] == [
        [("paris", "primary")],
        [("tokyo", "secondary")],
        [],
    ]
    assert [site.clients for site in contents.sites] == [0, 0, 3]


def test_a_secondary_follows_and_how_is_said(lab):
    assert follow(lab) == ("streams", True)
    for number in range(3):
        lab["paris"].post(f"secret/data/{number}", {"data": {}})
    assert follow(lab) == ("streams, 3 entries behind", True)
    lab.run("1s").partition("paris", "tokyo")
    lab["paris"].post("secret/data/x", {"data": {}})
    assert follow(lab) == ("cut off, 1 entry behind", False)
    lab.run("20s").heal()
    assert follow(lab) == ("not connected, 1 entry behind", False)
    lab.crash("paris")
    assert follow(lab) == ("no primary at paris", False)
    lab.crash("tokyo")
    assert of(lab).follows == ()
    assert of(lab).sites[1].clusters[0].mode == "unknown"


def test_a_one_way_cut_stops_a_secondary_too(lab):
    lab.cut("tokyo", "paris")

    assert follow(lab) == ("cut off", False)


def test_a_first_sync_is_no_stream():
    lab = Lab.pair()
    lab.parts.console.start("replicate", primary="paris", secondary="tokyo")
    seen = set()
    for _ in range(200):
        lab.run("10ms")
        seen |= {(mark.how, mark.streams) for mark in of(lab).follows}

    assert ("merkle-sync", False) in seen
    assert ("streams", True) in seen


def test_after_a_promotion_none_follows(lab):
    lab.crash("paris")
    lab["tokyo"].promote()

    assert of(lab).follows == ()


def test_lines_say_what_messages_meet_now(lab):
    assert lines(of(lab)) == {
        ("paris", "tokyo"): ("80 ms", ""),
        ("lisbon", "paris"): ("15 ms", ""),
        ("lisbon", "tokyo"): ("90 ms", ""),
    }
    lab.slow("paris", "tokyo", latency="250ms")
    lab.slow("lisbon", "paris", factor=4)
    lab.lose("lisbon", "tokyo", percent=2.5)
    assert lines(of(lab)) == {
        ("paris", "tokyo"): ("250 ms, usually 80 ms", ""),
        ("lisbon", "paris"): ("60 ms, usually 15 ms", ""),
        ("lisbon", "tokyo"): ("90 ms · loses 2.5 %, usually 0 %", ""),
    }
    lab.restore_links()
    assert lines(of(lab))["paris", "tokyo"] == ("80 ms", "")


def test_a_partition_and_a_one_way_cut_differ(lab):
    lab.partition("paris", "tokyo")
    lab.cut("lisbon", "paris")
    cuts = {pair: cut for pair, (_, cut) in lines(of(lab)).items()}

    assert cuts == {("paris", "tokyo"): BOTH_WAYS, ("lisbon", "paris"): "paris", ("lisbon", "tokyo"): ""}
    lab.heal()
    lab.cut("paris", "lisbon")
    assert lines(of(lab))["lisbon", "paris"] == ("15 ms", "lisbon")


def test_what_links_do_by_themselves_is_said_too():
    link = LinkPlan(
        between=("paris", "tokyo"), latency_ns=80 * MILLISECOND_NS, loss_ppm=10_000, bandwidth_bps=2_500_000
    )
    lab = Lab(replace(pair(), links=(link, *pair().links[1:])))
    assert lines(of(lab))["paris", "tokyo"] == ("80 ms · loses 1 % · 2.5 Mbit/s", "")
    lab.lose("paris", "tokyo", percent=10)

    assert lines(of(lab))["paris", "tokyo"] == ("80 ms · loses 10.9 %, usually 1 % · 2.5 Mbit/s", "")


def test_faults_inside_a_site_and_between_sites_without_a_link():
    lab = Lab(replace(pair(), links=pair().links[1:]))
    assert ("paris", "tokyo") not in lines(of(lab))
    lab.slow("paris", "paris", latency="5ms")
    lab.partition("paris", "tokyo")
    contents = of(lab)

    assert [site.inside for site in contents.sites] == ["5 ms, usually 0.2 ms", "", ""]
    assert LineMark("paris", "tokyo", "105 ms", BOTH_WAYS, direct=False) in contents.lines


def test_directions_that_differ_are_said_one_by_one(lab):
    lab.network.impair({("paris", "tokyo"): Impairment(factor=2)})

    assert lines(of(lab))["paris", "tokyo"] == ("to tokyo: 160 ms, usually 80 ms; to paris: 80 ms", "")


def test_without_a_way_between_two_sites_there_is_no_route():
    lab = Lab(replace(pair(), links=pair().links[:1]))
    lab.partition("paris", "lisbon")
    contents = of(lab)

    assert contents.lines == (
        LineMark("paris", "tokyo", "80 ms", ""),
        LineMark("lisbon", "paris", "no route", BOTH_WAYS, direct=False),
    )


def test_what_a_fault_does_inside_a_site_is_said(lab):
    lab.slow("paris", "paris", latency="5ms")

    assert "inside paris: 5 ms, usually 0.2 ms; " in describe(of(lab))
    assert "inside tokyo" not in describe(of(lab))


@pytest.mark.parametrize(
    ("bps", "words"),
    [
        (999, "999 bit/s"),
        (1_000, "1 kbit/s"),
        (999_500, "999.5 kbit/s"),
        (1_000_000, "1 Mbit/s"),
        (1_000_000_000, "1 Gbit/s"),
        (2_500_000_000, "2.5 Gbit/s"),
    ],
)
def test_a_bandwidth_is_said_in_the_largest_unit_that_fits(bps, words):
    link = LinkPlan(between=("paris", "tokyo"), latency_ns=80 * MILLISECOND_NS, bandwidth_bps=bps)
    lab = Lab(replace(pair(), links=(link, *pair().links[1:])))

    assert lines(of(lab))["paris", "tokyo"] == (f"80 ms · {words}", "")


def test_what_was_damaged_on_purpose_is_said(lab):
    assert of(lab).sites[1].clusters[0].damaged == ()
    lab.corrupt("tokyo", layer="page")
    lab.corrupt("tokyo", layer="page")

    assert len(of(lab).sites[1].clusters[0].damaged) == 1
    assert "page" in of(lab).sites[1].clusters[0].damaged[0]
    assert "tokyo-3 standby, damaged: page" in describe(of(lab))
    lab["paris"].reindex()
    assert len(of(lab).sites[1].clusters[0].damaged) == 1
    lab["tokyo"].reindex()
    assert of(lab).sites[1].clusters[0].damaged == ()


def test_looking_changes_nothing(lab):
    before, digest = lab.parts.clock.pending(), lab.trace.digest()

    assert of(lab) == of(lab)
    assert (lab.parts.clock.pending(), lab.trace.digest()) == (before, digest)


def test_it_says_in_words_what_it_shows(lab):
    lab.partition("paris", "tokyo")
    lab.cut("lisbon", "paris")
    lab.crash("tokyo-3")

    assert describe(of(lab)) == (
        "paris is primary: paris-1 active, paris-2 standby, paris-3 standby; "
        "tokyo is secondary: tokyo-1 active, tokyo-2 standby, tokyo-3 down; "
        "lisbon has 3 clients; paris is followed by tokyo (cut off); "
        "lisbon and paris are 15 ms apart and messages to paris are cut; "
        "lisbon and tokyo are 90 ms apart; "
        "paris and tokyo are 80 ms apart and cut off from each other."
    )
    assert lab.map().description == describe(of(lab))


def test_a_cluster_without_an_active_node_is_said_to_be_that(lab):
    lab.crash("tokyo")

    assert "tokyo has no active node: tokyo-1 down" in describe(of(lab))


def test_clusters_may_stand_at_one_site_under_their_own_names_and_nobody_elsewhere():
    plans = (ClusterPlan(name="red", site="paris"), ClusterPlan(name="blue", site="paris"))
    contents = of(Lab(replace(pair(), clusters=plans)))

    assert [cluster.name for cluster in contents.sites[0].clusters] == ["red", "blue"]
    assert "red at paris is not replicating: red-1 active" in describe(contents)
    assert "lisbon has nobody" in describe(contents)


def test_clusters_of_one_site_follow_each_other_too():
    plans = (ClusterPlan(name="red", site="paris"), ClusterPlan(name="blue", site="paris"))
    lab = Lab(replace(pair(), clusters=plans))
    lab.replicate("red", "blue")
    lab.run("1s")

    assert of(lab).follows == (FollowMark("red", "blue", "paris", "paris", "streams", True),)


def test_numbers_of_clients():
    assert (clients_in_words(1), clients_in_words(2)) == ("1 client", "2 clients")


def test_the_cloud_is_at_its_site_with_what_fails_of_it():
    lab = Lab(replace(pair(), cloud=CloudPlan(site="lisbon")), seed=7)

    def cloud() -> list[str]:
        return [site.cloud for site in of(lab).sites if site.cloud]

    assert cloud() == ["cloud"]
    assert "lisbon has the cloud; " in describe(of(lab))
    assert "nobody" not in describe(of(lab))
    lab.cloud_outage("keys")
    lab.cloud_slow("1s", "discovery")
    lab.cloud_slow("1s", "compute")
    assert cloud() == ["cloud: keys down, compute and discovery slow"]
    lab.cloud_restore()
    for endpoint in ("token", "compute"):
        lab.cloud_outage(endpoint)
    assert cloud() == ["cloud: 3 endpoints down"]
    lab.cloud_outage()
    assert cloud() == ["cloud: down"]
    lab.cloud_recover()
    assert cloud() == ["cloud"]


def test_a_lab_that_nobody_asked_for_a_cloud_shows_none(lab):
    assert [site.cloud for site in of(lab).sites] == ["", "", ""]
