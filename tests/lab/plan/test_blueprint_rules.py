"""A blueprint made in Python is judged before a lab is built of it: one sentence, and no lab that never ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.build import SHAPES
from labkit.lab.plan.blueprint import (
    BalancerPlan,
    Blueprint,
    ClientPlan,
    ClusterPlan,
    NodeSettings,
    WorkloadPlan,
    pair,
    triangle,
)
from labkit.lab.plan.blueprint_rules import judge
from labkit.lab.plan.workload_operations import OPERATIONS

SECOND_NS = 1_000_000_000
WORK = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS)
SHOP = ClientPlan(name="shop", site="lisbon", use=("paris",), workload=(WORK,))
FRONT = BalancerPlan(name="front", site="lisbon", use=("paris",))


def clients(**how: Any) -> Blueprint:
    return pair().with_clients(replace(SHOP, **how))


def works(**how: Any) -> Blueprint:
    return clients(workload=(replace(WORK, **how),))


def balanced(**how: Any) -> Blueprint:
    return replace(pair(), balancers=(replace(FRONT, **how),))


def paris(**how: Any) -> Blueprint:
    first, second = pair().clusters
    return replace(pair(), clusters=(replace(first, **how), second))


def linked(**how: Any) -> Blueprint:
    first, *others = pair().links
    return replace(pair(), links=(replace(first, **how), *others))


def test_what_there_is_can_be_built():
    for blueprint in (pair(), triangle(), clients(), balanced(), clients(check_ns=1, jitter_ppm=5)):
        judge(blueprint, OPERATIONS, SHAPES)


@pytest.mark.parametrize(
    ("blueprint", "says"),
    [
        (works(operation="putt-secret"), "shop, operation: expected an operation, got 'putt-secret'; there are: put-s"),
        (works(cas=1), "shop, cas: expected True or False, got 1"),
        (works(operation="create-token", ttl_ns=-1), "shop, ttl_ns: expected a whole number from 0 up, got -1"),
        (works(operation="create-token", uses="3"), "shop, uses: expected a whole number from 0 up, got '3'"),
        (works(operation="login"), "shop, operation: expected a blueprint with a cloud, from which machines log in"),
        (works(operation="use-token"), "shop, workload: expected create-token or login beside use-token, which takes"),
        (works(by="ldap"), "shop, by: expected a type of login, got 'ldap'; there are: cloud, approle, userpass"),
        (works(operation="login", by="approle"), "shop, role_id: expected a text, to log in by approle, got ''"),
        (works(operation="login", by="userpass", user="u"), "shop, password: expected a text, to log in by userpass"),
        (works(password=1234), "shop, password: expected a text, got 'int'"),
        (works(role=""), "shop, role: expected the name of a role, got ''"),
        (works(machine=7), "shop, machine: expected the name of a machine of the cloud, got 7"),
        (clients(share=True), "shop, share: expected a name under which its keys stand, or an empty text, got True"),
        (works(every_ns=0), "shop, every_ns: expected a whole number from 1 up, got 0"),
        (works(from_ns=-1), "shop, from_ns: expected a whole number from 0 up, got -1"),
        (clients(jitter_ppm=1_000_001), "shop, jitter_ppm: expected parts per million, from 0 to 1000000, got 1000001"),
        (clients(check_ns=-5), "shop, check_ns: expected a whole number from 0 up, got -5"),
        (clients(backoff_ns=0), "shop, backoff_ns: expected a whole number from 1 up, got 0"),
        (clients(use=()), "shop, use: expected a tuple of clusters, got a tuple; there are: paris, tokyo"),
        (clients(use=("oslo",)), "shop, use: expected a cluster, got 'oslo'; there are: paris, tokyo"),
        (clients(through="front"), "shop, through: expected a load balancer, got 'front'"),
        (clients(site="oslo"), "shop, site: expected a site, got 'oslo'"),
        (clients(consistent="yes"), "shop, consistent: expected True or False, got 'yes'"),
        (paris(service_ns=-1), "paris, service_ns: expected a whole number from 0 up, got -1"),
        (paris(fencing=1), "paris, fencing: expected True or False, got 1"),
        (
            paris(each=(NodeSettings(name="oslo"),)),
            "paris, each: expected a node of paris, got 'oslo'; there are: paris-1",
        ),
        (
            paris(each=(NodeSettings(name="paris-1", drift_ppm=-100_001),)),
            "paris-1, drift_ppm: expected a whole number from -100000 to 100000, got -100001",
        ),
        (balanced(check_ns=0), "front, check_ns: expected a whole number from 1 up, got 0"),
        (balanced(use=()), "front, use: expected a tuple of clusters"),
        (balanced(name="paris-1"), "blueprint: expected a name of its own for each host, got 'paris-1'"),
        (linked(back_ns=-4), "link paris-tokyo, back_ns: expected a whole number from 0 up, got -4"),
        (linked(distribution="odd"), "link paris-tokyo, distribution: expected a distribution, got 'odd'"),
        (linked(between=("paris", "oslo")), "link paris-oslo: expected a site, got 'oslo'"),
    ],
)
def test_what_cannot_be_built_is_one_sentence(blueprint, says):
    with pytest.raises(ValueError, match="^" + says):
        Lab(blueprint)


class ReadOften(tuple[str, ...]):
    """Names that count how often they are gone through."""

    times = 0

    def __iter__(self) -> Iterator[str]:
        self.times += 1
        return super().__iter__()


def test_names_are_looked_up_and_not_gone_through_for_each_plan(monkeypatch: pytest.MonkeyPatch):
    names = [f"s{number}" for number in range(50)]
    sites, links = ReadOften((*names, *pair().sites)), [replace(pair().links[0], between=("paris", to)) for to in names]
    each = tuple([NodeSettings(name=f"paris-{number}") for number in range(1, 51)])
    first = replace(pair().clusters[0], nodes=50, each=each)
    made: list[str] = []

    def node_names(plan: ClusterPlan) -> tuple[str, ...]:
        made.append(plan.name)
        return tuple([f"{plan.name}-{number}" for number in range(1, plan.nodes + 1)])

    monkeypatch.setattr(ClusterPlan, "node_names", property(node_names))

    judge(replace(pair(), sites=sites, links=tuple(links), clusters=(first, pair().clusters[1])), OPERATIONS, SHAPES)

    assert sites.times == 1
    assert made == ["paris", "paris", "tokyo"]  # once more for its settings
