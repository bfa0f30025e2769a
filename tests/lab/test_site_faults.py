"""A site that goes down takes all that stands there along, clients too; what comes up again works on."""

from __future__ import annotations

import pickle
from dataclasses import replace

from labkit import Lab
from labkit.lab.plan.blueprint import BalancerPlan, Blueprint, ClientPlan, CloudPlan, WorkloadPlan, pair

SECOND_NS = 1_000_000_000


def placed() -> Blueprint:
    """The pair; at lisbon stand a load balancer, the cloud, and two clients that hold tokens."""
    works = [WorkloadPlan(operation=name, every_ns=SECOND_NS // 10) for name in ("create-token", "put-secret")]
    clients = ClientPlan(name="shop", site="lisbon", use=("paris",), count=2, workload=tuple(works), share="shop")
    front = BalancerPlan(name="front", site="lisbon", use=("paris",))
    return replace(pair(), clients=(clients,), balancers=(front,), cloud=CloudPlan(site="lisbon"))


def begun(lab: Lab) -> int:
    return sum(host.client.serial for host in lab.parts.clients.values())


def test_clients_of_a_lost_site_do_nothing_and_what_they_had_under_way_is_in_doubt() -> None:
    lab = Lab(placed(), seed=7)
    lab.run("5005ms")
    under_way = sum(len(host.client.pending) for host in lab.parts.clients.values())
    before, outcomes = begun(lab), lab.ledger.outcomes.of("shop")
    assert under_way
    assert outcomes.counts["unknown"] == 0
    lab.crash_site("lisbon")
    lab.run("3s")

    assert (begun(lab), outcomes.counts["unknown"]) == (before, under_way)
    assert lab.ledger.waiting == 0
    assert all(not host.client.memory.tokens for host in lab.parts.clients.values())
    assert [lab.parts.network.up(name) for name in ("shop-1", "shop-2", "front", "cloud", "paris-1")] == [False] * 4 + [
        True
    ]


def test_they_work_on_at_their_rate_when_the_site_is_back_and_a_saved_lab_goes_on_alike() -> None:
    lab = Lab(placed(), seed=7)
    lab.run("5s")
    lab.crash_site("lisbon")
    lab.run("2s")
    saved, before = pickle.loads(pickle.dumps(lab.snapshot())), begun(lab)
    digests = []
    for going_on in (lab, Lab.restore(saved)):
        going_on.restart_site("lisbon")
        going_on.run("2s")
        digests.append(going_on.trace.digest())
        assert begun(going_on) == before + 80

    assert digests[0] == digests[1]


def test_nodes_go_down_with_their_site_and_start_sealed() -> None:
    lab = Lab.pair(seed=7)
    lab.crash_site("paris")
    assert lab.queries.active_node("paris") == ""
    lab.restart_site("paris")
    lab.run("2s")

    assert lab.queries.active_node("paris") == ""
    lab.unseal("paris")
    lab.run("20s")
    assert lab.queries.active_node("paris")


def test_a_second_loss_changes_nothing() -> None:
    lab = Lab(placed(), seed=7)
    lab.run("5s")
    for _ in range(2):
        lab.crash_site("lisbon")
    ended = lab.ledger.outcomes.of("shop").counts["unknown"]
    details = [event.detail for event in lab.trace.select("fault", verb="crash site")]

    assert details == ["", "no change"]
    lab.run("1s")
    assert lab.ledger.outcomes.of("shop").counts["unknown"] == ended


def test_impostors_end_with_their_site_and_those_elsewhere_stay() -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.impersonate("paris-1")
    lab.impersonate("tokyo-2")
    lab.crash_site("paris")
    lab.restart_site("paris")
    lab.unseal("paris")
    lab.run("30s")

    assert {name: impostor.present for name, impostor in lab.parts.impostors.items()} == {
        "paris-1": False,
        "tokyo-2": True,
    }
    assert [event.target for event in lab.trace.select("fault", verb="expose")] == ["paris-1"]
    assert lab.lag("paris", "tokyo").level
