"""Part shapes: a number or a name of another kind is refused by name before a lab is built."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.front.lab_file.errors import LabFileError
from labkit.front.lab_file.part_shapes import judge_parts
from labkit.lab.plan.blueprint import BalancerPlan, Blueprint, ClientPlan, WorkloadPlan, pair

WORK = WorkloadPlan(operation="put-secret", every_ns=100_000_000)


@pytest.fixture(scope="module")
def state() -> dict[str, Any]:
    """The state of a pair with clients that check its health, some through a load balancer."""
    two = pair()
    groups = (
        ClientPlan(name="shop", site="lisbon", use=("paris",), check_ns=1_000_000_000, workload=(WORK,)),
        ClientPlan(name="late", site="lisbon", use=("paris",), through="front", workload=(WORK,)),
    )
    front = BalancerPlan(name="front", site="lisbon", use=("paris",))
    planned = Blueprint(sites=two.sites, links=two.links, clusters=two.clusters, clients=groups, balancers=(front,))
    lab = Lab(planned, seed=7)
    lab.run(until=lambda lab: lab.ledger.answered > 5 and lab.ledger.waiting)
    return lab.snapshot().state


def changed(value: dict[str, Any], place: tuple[str, ...], to: Any) -> dict[str, Any]:
    """The value with another member somewhere inside."""
    first, *more = place
    return {**value, first: changed(value[first], tuple(more), to) if more else to}


def test_what_a_lab_writes_has_these_shapes(state: dict[str, Any]) -> None:
    judge_parts(state)
    for name in ("items", "leaves", "term"):
        assert name in state["stores"]["paris"]
    assert state["ledger"]["waiting"]
    assert state["clients"]["shop-1"]["checks"]["serving"]


def test_a_missing_member_has_its_default(state: dict[str, Any]) -> None:
    judge_parts({**state, "ledger": {}, "stores": {"paris": {}}, "clients": {"shop-1": {}}, "balancers": {"front": {}}})


@pytest.mark.parametrize(
    ("place", "to", "says"),
    [
        (("stores", "paris", "term"), {}, "term of the store of paris"),
        (("stores", "paris", "items"), {"a": "b"}, "items of the store of paris"),
        (("clients", "shop-1", "position"), (), "position of shop-1"),
        (("clients", "shop-1", "serial"), None, "serial of shop-1"),
        (("clients", "shop-1", "checks"), 5, "the checks of shop-1"),
        (("clients", "shop-1", "checks", "round"), "", "round of the checks of shop-1"),
        (("balancers", "front"), 5, "the checks of front"),
        (("balancers", "front", "checks", "round"), None, "round of the checks of front"),
        (("invariants", "judged", "one primary"), {}, "judged of the rules"),
        (("invariants", "rules", "a crash forgets", "occurred"), "1", "occurred of the rule a crash forgets"),
        (("ledger", "counts"), {"answered": ()}, "counts of the ledger"),
        (("ledger", "waiting"), {("a", 1): {1: 5}}, "waiting of the ledger"),
    ],
)
def test_a_member_of_another_kind_is_named(place: tuple[str, ...], to: Any, says: str, state: dict[str, Any]) -> None:
    with pytest.raises(LabFileError, match=f"the lab's state: {says} is of another kind"):
        judge_parts(changed(state, place, to))
