"""Build: a new lab and a restored one are made of the same parts, in the same state."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from labkit import Lab
from labkit.lab import build
from labkit.lab.plan.blueprint import Blueprint, ClusterPlan, LinkPlan, pair
from tests.counting import calls_made

MILLISECOND_NS = 1_000_000
SECOND_NS = 1_000_000_000


def test_every_node_stands_at_its_clusters_site_with_an_operator_beside_it(quiet):
    assert quiet.network.hosts("paris") == ("paris-1", "paris-2", "paris-3")
    assert quiet.network.site_of("tokyo-operator") == "tokyo"
    assert "tokyo-operator" not in quiet.network.hosts(), "no fault is aimed at it"


def test_clients_stand_at_their_groups_site(lab):
    assert lab.network.hosts("lisbon") == ("writers-1", "writers-2")
    assert list(lab.clients) == ["writers-1", "writers-2"]


@pytest.mark.parametrize("shape", sorted(build.SHAPES))
def test_a_link_has_about_the_latency_of_its_plan_whatever_its_shape(shape):
    plan = LinkPlan(between=("a", "b"), latency_ns=40 * MILLISECOND_NS, distribution=shape)
    (link,) = build.topology_of(Blueprint(sites=("a", "b"), links=(plan,), clusters=())).links

    assert link.between == ("a", "b")
    assert 20 * MILLISECOND_NS < link.latency.typical_ns <= 80 * MILLISECOND_NS
    assert link.latency.times(2).typical_ns == pytest.approx(2 * link.latency.typical_ns, rel=0.01)


def test_a_shape_spreads_about_the_latency_of_the_plan():
    made = {shape: tuple(of(40 * MILLISECOND_NS)) for shape, of in build.SHAPES.items()}

    assert made == {
        "constant": ("constant", 40 * MILLISECOND_NS, 0),
        "uniform": ("uniform", 20 * MILLISECOND_NS, 60 * MILLISECOND_NS),
        "normal": ("normal", 40 * MILLISECOND_NS, 4 * MILLISECOND_NS),
        "exponential": ("exponential", 40 * MILLISECOND_NS, 20 * MILLISECOND_NS),
        "heavy": ("heavy", 40 * MILLISECOND_NS, 800 * MILLISECOND_NS),
    }


def test_a_timer_without_a_spread_falls_due_exactly_then(quiet):
    quiet.parts.nodes["paris-1"].services.after(3_000 * SECOND_NS, "late")

    assert quiet.parts.clock.pending()[-1][0] == quiet.now + 3_000 * SECOND_NS


def test_a_timer_with_a_spread_falls_due_around_its_delay(quiet):
    after = quiet.parts.nodes["paris-1"].services.after
    for _ in range(300):
        after(1_000, "spread", 100_000)
    after(1_000, "exact")
    pending = quiet.parts.clock.pending()
    due = {name: [at_ns - quiet.now for at_ns, item in pending if item[2] == name] for name in ("spread", "exact")}

    assert due["exact"] == [1_000]
    assert set(due["spread"]) <= set(range(900, 1_101))
    assert min(due["spread"]) < 910
    assert max(due["spread"]) > 1_090
    assert len(set(due["spread"])) > 100


def test_no_bandwidth_is_no_limit():
    plan = LinkPlan(between=("a", "b"), latency_ns=1)
    links = (plan, replace(plan, between=("a", "c"), bandwidth_bps=8_000))
    topology = build.topology_of(Blueprint(sites=("a", "b", "c"), links=links, clusters=()))

    assert [link.bandwidth_bps for link in topology.links] == [None, 8_000]


def test_a_new_lab_is_initialised_unsealed_and_mounted(quiet):
    for name in ("paris", "tokyo"):
        assert [quiet.parts.nodes[node].vault.sealed for node in quiet[name].nodes] == [False] * 3
        assert set(quiet[name].get("sys/mounts").data) >= {"secret/", "transit/", "sys/"}


def test_no_two_clusters_share_a_key(quiet):
    assert quiet["paris"].root_token != quiet["tokyo"].root_token
    assert not set(quiet["paris"].unseal_keys) & set(quiet["tokyo"].unseal_keys)


def test_another_seed_makes_other_keys_and_the_same_seed_the_same():
    assert Lab.pair(seed=1)["paris"].root_token == Lab.pair(seed=1)["paris"].root_token
    assert Lab.pair(seed=1)["paris"].root_token != Lab.pair(seed=2)["paris"].root_token


def test_a_cluster_may_have_one_node_and_one_share():
    plan = ClusterPlan(name="oslo", site="paris", nodes=1, shares=1, threshold=1)
    lab = Lab(replace(pair(), clusters=(plan,)))

    assert lab["oslo"].active == "oslo-1"
    assert len(lab["oslo"].unseal_keys) == 1
    lab.crash("oslo")
    lab.restart("oslo")
    assert lab["oslo"].unseal() == "1 node of oslo unsealed"
    assert lab["oslo"].post("secret/data/a", {"data": {}}).ok


def test_the_state_of_a_restored_lab_is_the_state_it_was_restored_from(lab):
    lab.run("2s").crash("paris-1")
    lab.run("700ms")
    kept = lab.snapshot().state
    again = Lab.restore(lab.snapshot()).snapshot().state

    assert again.keys() == kept.keys()
    for part in kept:
        assert again[part] == kept[part], part


def test_a_snapshot_is_plain_enough_to_be_pickled(lab):
    lab.run("2s")
    snapshot = pickle.loads(pickle.dumps(lab.snapshot()))
    again = Lab.restore(snapshot).run("3s")

    assert again.trace.digest() == lab.run("3s").trace.digest()


def test_a_snapshot_does_not_change_when_the_lab_goes_on(lab):
    snapshot = lab.snapshot()
    before = pickle.dumps(snapshot.state["stores"]), pickle.dumps(snapshot.state["ledger"])
    lab.run("5s").crash("paris")
    lab["tokyo"].promote()

    assert (pickle.dumps(snapshot.state["stores"]), pickle.dumps(snapshot.state["ledger"])) == before


@pytest.mark.parametrize("apart", [False, True])
def test_the_work_of_building_grows_with_the_clusters(apart):
    def calls(count: int) -> int:
        sites = tuple(f"site-{number}" for number in range(count if apart else 1))
        links = tuple(LinkPlan(between=(sites[0], site), latency_ns=1_000_000) for site in sites[1:])
        plans = tuple(
            ClusterPlan(name=f"c{number}", site=sites[number % len(sites)], nodes=1) for number in range(count)
        )
        return calls_made(lambda: Lab(Blueprint(sites=sites, links=links, clusters=plans)))

    calls(5)  # modules that a first lab loads
    assert calls(80) < 5 * calls(20)
