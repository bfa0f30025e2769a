"""The node directory: nodes by address, and the active node of a cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import BalancerPlan, pair
from labkit.lab.wire.host_services import ResolvedNode


def test_a_clusters_active_node_is_found_while_there_is_one(quiet):
    directory = quiet.parts.directory
    assert directory.resolve_for_console("active://paris") == ResolvedNode("paris-1", "paris", True)
    quiet.crash("paris-1")

    assert directory.resolve_for_console("active://paris") == ResolvedNode("", "paris", True)
    assert directory.active_node("paris") == ""


def test_without_an_unsealed_node_none_can_become_active(quiet):
    quiet.crash("paris")
    quiet.restart("paris")

    assert quiet.parts.directory.resolve_for_console("active://paris") == ResolvedNode("", "paris", False)


@pytest.mark.parametrize("address", ["https://tokyo-2:8201", "http://tokyo-2:8200"])
def test_an_address_names_a_node_and_its_cluster_running_or_not(quiet, address):
    directory = quiet.parts.directory
    assert directory.resolve(address) == ResolvedNode("tokyo-2", "tokyo", True)
    quiet.crash("tokyo-2")

    assert directory.resolve(address) == ResolvedNode("tokyo-2", "tokyo", False)


def test_an_address_names_a_load_balancer_which_belongs_to_no_cluster():
    front = BalancerPlan(name="front", site="lisbon", use=("tokyo", "paris"))
    lab = Lab(replace(pair(), balancers=(front,)))
    directory = lab.parts.directory

    assert directory.resolve("https://front:8201") == ResolvedNode("front", "", True, passes_on=True)
    assert directory.resolve("https://tokyo-1:8201") == ResolvedNode("tokyo-1", "tokyo", True)


@pytest.mark.parametrize(
    "address", ["", "paris", "oslo-1", "https://oslo-1:8201", "http://", "active://paris", "active://oslo"]
)
def test_what_names_no_node_is_none(quiet, address):
    assert quiet.parts.directory.resolve(address) is None


def test_an_unknown_cluster_is_an_error(quiet):
    with pytest.raises(ValueError, match="expected a cluster, got 'oslo'"):
        quiet.parts.directory.resolve_for_console("active://oslo")


@pytest.mark.parametrize("address", ["active://tokyo", "active://nowhere"])
def test_no_request_leads_to_a_name_that_only_operators_may_use(quiet, address):
    """It once resolved for every fetch, and a cluster that does not exist ended the lab."""
    quiet["paris"].post("sys/replication/dr/primary/enable", {})
    issued = quiet["paris"].post("sys/replication/dr/primary/secondary-token", {"id": "tokyo"})
    body = {"token": issued.wrap_info["token"], "primary_api_addr": address}
    answer = quiet["tokyo"].post("sys/replication/dr/secondary/enable", body)

    assert answer.status == 503
    assert address in answer.errors[0]
    quiet.run("5s")


def test_a_host_is_a_node_or_something_else():
    front = BalancerPlan(name="front", site="lisbon", use=("tokyo", "paris"))
    services = Lab(replace(pair(), balancers=(front,))).parts.nodes["paris-1"].services

    assert [services.is_node(host) for host in ("tokyo-1", "front", "shop-1", "paris-operator")] == [
        *(True, False, False, False)
    ]
