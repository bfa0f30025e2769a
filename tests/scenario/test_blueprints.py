"""The lab section of a file becomes the blueprint that it describes."""

from __future__ import annotations

import pytest

from labkit.lab.plan.blueprint import BalancerPlan, NodeSettings
from labkit.scenario.loading import loads
from labkit.scenario.problems import ScenarioError

FILE = """\
scenario: Slow nodes
lab:
  sites: [paris]
  clusters:
    paris: {site: paris, service time: 5ms, fencing: false,
      each: {paris-2: {service time: 50ms, version: 1.17.0}, paris-3: {clock: -90s, drift: 0.02%}}}
"""


def test_what_a_cluster_and_its_nodes_have_of_their_own_reaches_the_blueprint():
    (cluster,) = loads(FILE.encode()).blueprint.clusters

    assert (cluster.service_ns, cluster.fencing) == (5_000_000, False)
    assert cluster.each == (NodeSettings(name="paris-2", version="1.17.0", service_ns=50_000_000), THIRD)


THIRD = NodeSettings(name="paris-3", offset_ns=-90_000_000_000, drift_ppm=200)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("paris-2:", "paris-9:", "each: expected a node, got 'paris-9' — did you mean 'paris-3'?"),
        ("service time: 50ms", "service time: 50", "with its unit such as 50s or 50ms, got 50"),
        ("fencing: false", "fencing: maybe", "expected false for a store"),
        ("{service time: 50ms", "{speed: 1", "expected a key, got 'speed'"),
        ("version: 1.17.0", "version: newest", "expected a version such as 1.17.0+ent, got 'newest'"),
        ("-90s", "--90s", "expected a duration of at most 24h such as 90s, or -90s for behind, got '--90s'"),
        ("-90s", "25h", "expected a duration of at most 24h"),
        ("0.02%", "11%", "expected a share such as 0.02% or -0.02%, from -10% to 10%, got '11%'"),
        ("0.02%", "0.02", "expected a share such as 0.02%"),
    ],
)
def test_what_is_wrong_is_one_sentence(old, new, says):
    with pytest.raises(ScenarioError) as caught:
        loads(FILE.replace(old, new).encode())
    assert says in str(caught.value)


def test_a_node_belongs_to_its_cluster():
    two = FILE.replace("  clusters:\n", "  clusters:\n    tokyo: {site: paris, each: {paris-1: {}}}\n")
    with pytest.raises(ScenarioError, match="expected a node of tokyo, got 'paris-1'"):
        loads(two.encode())


FRONT = """\
scenario: A load balancer
lab:
  sites: [paris]
  clusters:
    paris: {site: paris}
  balancers:
    front: {site: paris, use: [paris], check: 500ms, fall: 3, ends tls: true}
  clients:
    shop: {site: paris, use: [paris], through: front}
"""


def test_a_load_balancer_and_clients_through_it():
    blueprint = loads(FRONT.encode()).blueprint
    front = BalancerPlan(name="front", site="paris", use=("paris",), check_ns=500_000_000, fall=3, ends_tls=True)
    assert blueprint.balancers == (front,)
    assert [node.name for node in blueprint.behind(blueprint.clients[0])] == ["front"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("through: front", "through: frond", "expected a load balancer, got 'frond' — did you mean 'front'?"),
        ("use: [paris], check", "use: [oslo], check", "expected a cluster, got 'oslo'"),
        ("fall: 3", "fall: 0", "expected a number of failed checks"),
        ("    front:", "    paris-2:", "expected another name, since 'paris-2' is a host already"),
        ("ends tls: true", "ends tls: 1", "expected true to read requests"),
    ],
)
def test_what_is_wrong_with_a_load_balancer_is_one_sentence(old, new, says):
    with pytest.raises(ScenarioError) as caught:
        loads(FRONT.replace(old, new).encode())
    assert says in str(caught.value)


FAR = """\
scenario: Two regions
lab:
  sites: [paris, hong-kong]
  links:
    - {between: [paris, hong-kong], measured: [eu-west-3, ap-east-1], jitter: 1ms}
  clusters:
    paris: {site: paris}
"""


def test_a_link_may_have_a_measured_latency():
    (link,) = loads(FAR.encode()).blueprint.links
    assert (link.latency_ns, link.jitter_ns) == (98_380_000, 1_000_000)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("ap-east-1", "sa-east-1", "expected two regions between which a round trip was measured"),
        ("ap-east-1", "ap-east-7", "expected a region, got 'ap-east-7'"),
        (", measured: [eu-west-3, ap-east-1]", "", "expected latency (a duration such as 80ms, one way) or measured"),
        ("jitter: 1ms", "latency: 1ms", "expected latency or measured, got both"),
        ("[eu-west-3, ap-east-1]", "[eu-west-3]", "expected two regions such as [eu-west-3, ap-east-1]"),
    ],
)
def test_what_is_wrong_with_a_measured_latency_is_one_sentence(old, new, says):
    with pytest.raises(ScenarioError) as caught:
        loads(FAR.replace(old, new).encode())
    assert says in str(caught.value)
