"""Message causes: what takes and delays messages, what keeps a request from being answered, and who asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import BalancerPlan, Blueprint, ClientPlan, WorkloadPlan, pair

SECOND_NS = 1_000_000_000


def shop(*, site: str = "paris", **how: Any) -> Blueprint:
    """The pair with one client that writes four times a second, once each time, and waits for one second."""
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS // 4, until_ns=4 * SECOND_NS)
    return pair().with_clients(ClientPlan(name="shop", site=site, use=("paris",), workload=(work,), retries=0, **how))


def slowed(lab: Lab) -> None:
    lab.slow("lisbon", "paris", latency="2s")


def flapping(lab: Lab) -> None:
    lab.flap("lisbon", "paris", down="2s", up="10ms")


def losing(lab: Lab) -> None:
    lab.lose("lisbon", "paris", 90)


def one_way(lab: Lab) -> None:
    lab.cut("paris", "lisbon")


CAUSES: list[tuple[Callable[[Lab], None], str, str]] = [
    (
        slowed,
        "the message (request) from shop-1 to paris-1 is sent, and arrives at",
        "the line lisbon <> paris becomes",
    ),
    (flapping, "is lost on its way: the line is cut", "begins to flap (2s down, 10ms up)"),
    (losing, "is sent, and has not arrived up to now", "the line lisbon <> paris loses messages (900000 ppm), by hand"),
    (
        one_way,
        "the message (response) from paris-1 to shop-1 is lost: the line is cut",
        "the way paris > lisbon is cut",
    ),
    (
        lambda lab: lab.pause("paris-1"),
        "the request of shop-1 waits at paris-1, whose process",
        "the process of paris-1",
    ),
    (
        lambda lab: lab.crash_in_commit("paris"),
        "paris-1 has the request of shop-1, and goes down before",
        "down inside its",
    ),
]


@pytest.mark.parametrize(("fault", "says", "root"), CAUSES)
def test_an_answer_does_not_come_in_time(fault, says, root):
    lab = Lab(shop(site="lisbon")).run(until="990ms")
    fault(lab)

    found = lab.run("4s").why(next(event for event in lab.trace if getattr(event, "outcome", "") == "unknown"))

    assert says in found.steps[1].sentence
    assert root in found.root.sentence
    assert found.origin == "fault"


def test_a_message_that_is_hit_on_its_way_names_the_fault_that_came_meanwhile():
    lab = Lab(shop(site="lisbon")).run(until="1005ms")  # what was sent at 1 s is on its way
    lab.partition("lisbon", "paris")

    found = lab.run("2s").why(
        "unknown" if lab.ledger.unknown == 1 else lab.trace.select("outcome", outcome="unknown")[0]
    )

    assert found.steps[1].sentence.endswith("is lost on its way: the line is cut")
    assert found.root.sentence == "the line lisbon <> paris is cut both ways, by hand"


def test_a_standby_that_forwarded_a_request_is_named_with_the_node_that_has_it():
    lab = Lab.pair().run(until="1s")
    lab.pause("paris-1")
    with pytest.raises(TimeoutError):
        lab["paris"].request("POST", "secret/data/x", {"data": {}}, _token(lab), node="paris-2", timeout="2s")

    found = lab.why("unknown")

    assert "paris-2 has sent the request of paris-operator on to paris-1" in str(found)
    assert found.root.sentence == "the process of paris-1 stands still, by hand"


def test_a_balancer_that_carries_a_request_is_named():
    front = BalancerPlan(name="front", site="paris", use=("paris",), ends_tls=True)
    lab = Lab(replace(shop(through="front"), balancers=(front,))).run(until="1990ms")
    lab.pause("paris-1")

    found = lab.run("4s").why("unknown")

    assert "front has sent the request of shop-1 on to paris-1" in str(found)
    assert found.root.sentence == "the process of paris-1 stands still, by hand"


def test_a_node_that_is_too_busy_is_said_to_have_the_request():
    blueprint = pair()
    slow = tuple(replace(plan, service_ns=SECOND_NS) for plan in blueprint.clusters)
    lab = Lab(replace(blueprint, clusters=slow))
    with pytest.raises(TimeoutError):
        lab["paris"].get("secret/data/x", timeout="100ms")

    found = lab.why("unknown")

    assert "the request of paris-operator waits at paris-1 until those before it are served" in str(found)
    assert found.origin == "work"


def test_a_crash_by_hand_after_one_that_was_to_cut_a_commit_short_is_its_own_root():
    lab = Lab.pair()
    lab.crash_in_commit("paris")
    with pytest.raises(TimeoutError):
        lab["paris"].post("secret/data/x", {"data": {}}, timeout="1s")
    lab.restart("paris-1")
    lab.crash("paris-1")

    assert lab.why("paris-1: crash").root.sentence == "paris-1 goes down, by hand"


def _token(lab: Lab) -> dict[str, str]:
    return {"X-Vault-Token": lab["paris"].root_token}
