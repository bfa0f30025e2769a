"""Blueprints: the two that need no file, and what a plan names."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import Blueprint, ClientPlan, ClusterPlan, LinkPlan, NodeSettings, pair, triangle


def test_the_pair_is_two_clusters_of_three_nodes_and_a_place_for_clients():
    blueprint = pair()

    assert [plan.name for plan in blueprint.clusters] == ["paris", "tokyo"]
    assert [plan.node_names for plan in blueprint.clusters] == [
        ("paris-1", "paris-2", "paris-3"),
        ("tokyo-1", "tokyo-2", "tokyo-3"),
    ]
    assert blueprint.sites == ("paris", "tokyo", "lisbon")
    assert blueprint.clients == ()


def test_the_lines_of_both_have_the_latencies_of_a_map():
    far_ms = {link.between: link.latency_ns / 1_000_000 for link in triangle().links}

    assert far_ms == {
        ("paris", "tokyo"): 80,
        ("lisbon", "paris"): 15,
        ("lisbon", "tokyo"): 90,
        ("lima", "paris"): 95,
        ("lima", "tokyo"): 110,
        ("lima", "lisbon"): 85,
    }
    assert all(link.jitter_ns * 100 == link.latency_ns for link in triangle().links)


def test_a_client_waits_a_second_tries_three_times_more_and_pauses_between():
    patient = ClientPlan(name="shop", site="lisbon", use=("paris",))

    assert (patient.timeout_ns, patient.retries, patient.backoff_ns) == (1_000_000_000, 3, 200_000_000)
    assert (patient.names, patient.workload) == (("shop-1",), ())


def test_the_triangle_adds_a_third_cluster_and_keeps_the_pair():
    two, three = pair(), triangle()

    assert three.clusters[:2] == two.clusters
    assert three.links[: len(two.links)] == two.links
    assert [plan.name for plan in three.clusters] == ["paris", "tokyo", "lima"]


@pytest.mark.parametrize("make", [pair, triangle])
def test_every_two_sites_are_joined_by_one_link(make):
    blueprint = make()
    joined = [frozenset(link.between) for link in blueprint.links]
    every_two = {frozenset((a, b)) for a in blueprint.sites for b in blueprint.sites if a != b}

    assert set(joined) == every_two
    assert len(joined) == len(every_two)
    assert all(plan.site in blueprint.sites for plan in blueprint.clusters)


def test_key_shares_are_five_of_which_three_open():
    assert {(plan.shares, plan.threshold) for plan in triangle().clusters} == {(5, 3)}


def test_a_cluster_is_found_by_name_and_a_stranger_is_refused_with_the_names_there_are():
    assert pair().cluster("tokyo").site == "tokyo"
    with pytest.raises(ValueError, match=r"expected a cluster, got 'oslo'; there are: paris, tokyo"):
        pair().cluster("oslo")


def test_clients_come_in_groups_with_numbered_names():
    group = ClientPlan(name="shop", site="lisbon", use=("paris",), count=3)

    assert group.names == ("shop-1", "shop-2", "shop-3")
    assert pair().with_clients(group).clients == (group,)
    assert pair().with_clients(group).with_clients().clients == ()


def test_a_plan_never_changes():
    plan = ClusterPlan(name="oslo", site="north")
    with pytest.raises(FrozenInstanceError):
        plan.nodes = 5  # type: ignore[misc]  # it is refused when run


def test_plans_take_their_parts_by_name_only():
    kinds: list[Any] = [LinkPlan, ClusterPlan, ClientPlan, Blueprint]
    for kind in kinds:
        with pytest.raises(TypeError, match="positional"):
            kind("paris")


def upgraded(*names: str) -> Blueprint:
    """The pair, in which these nodes run a newer version."""
    each = [
        tuple(NodeSettings(name=name, version="1.17.0+ent") for name in names if name.startswith(plan.name))
        for plan in pair().clusters
    ]
    plans = tuple(replace(plan, each=own) for plan, own in zip(pair().clusters, each, strict=True))
    return replace(pair(), clusters=plans)


def test_a_node_may_run_another_version_and_a_newer_primary_serves_no_older_secondary():
    lab = Lab(upgraded("paris-2", "paris-3", "tokyo-2", "tokyo-3"))
    assert [node.version for node in lab.blueprint.nodes_of("paris")] == ["1.16.3+ent", "1.17.0+ent", "1.17.0+ent"]
    lab.replicate("paris", "tokyo")
    lab.crash("paris-1")
    lab.run("8s")
    status = lab["tokyo"].status()
    assert status["connection_state"] != "ready"
    assert "1.17.0+ent" in status["connection_error"]
    assert (lab["paris"].get("sys/health").body or {})["version"] == "1.17.0+ent"
    lab.crash("tokyo-1")
    lab.run("30s")
    assert lab["tokyo"].status()["connection_state"] == "ready", "the upgraded standby leads now"
