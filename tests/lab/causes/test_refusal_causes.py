"""Refusal causes: what a refusal followed: the state of the node, a value that was altered, or the request itself."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.causes.explanation import OPERATOR, WORK
from labkit.lab.plan.blueprint import BalancerPlan, ClientPlan, WorkloadPlan, pair

ALTERED = "the value at logical/"


def damaged(calm: Lab, *clusters: str) -> Lab:
    calm["paris"].post("secret/data/app", {"data": {"n": 1}})
    calm.run("1s")
    for cluster in clusters:
        calm.corrupt(cluster, "storage")
        calm.run("1s")
    return calm


def test_an_operator_who_reads_an_altered_value_is_told_who_altered_it(calm):
    lab = damaged(calm, "paris", "tokyo")
    assert lab["paris"].get("secret/data/app").status == 500

    found = lab.why("refused")

    assert found.steps[1].sentence.startswith(ALTERED)
    assert found.root.sentence == "paris is damaged on purpose (storage), by hand"


def test_a_client_that_reads_an_altered_value_is_told_too():
    work = WorkloadPlan(operation="get-secret", every_ns=200_000_000, from_ns=4_000_000_000, keys=1)
    first = WorkloadPlan(
        operation="put-secret", every_ns=1_000_000_000, from_ns=1_000_000_000, until_ns=2_000_000_000, keys=1
    )
    plan = pair().with_clients(ClientPlan(name="app", site="lisbon", use=("paris", "tokyo"), workload=(first, work)))
    lab = Lab(plan, seed=7).run("3s")
    lab.corrupt("paris", "storage")
    lab.run("3s")

    found = lab.why("refused")

    assert found.steps[0].sentence.endswith("is refused with 500")
    assert ALTERED in str(found)
    assert found.root.sentence == "paris is damaged on purpose (storage), by hand"


def test_of_several_damages_it_names_the_one_of_the_value(calm):
    lab = damaged(calm, "paris")
    lab["paris"].post("secret/data/zebra", {"data": {"n": 1}})
    lab.corrupt("paris", "storage")
    assert lab["paris"].get("secret/data/app").status == 500

    found = lab.why("refused")

    assert "/versions/app/" in found.steps[1].sentence
    assert found.root.at_ns == lab.trace.select("fault")[0].at_ns


def test_an_altered_value_that_a_secondary_fetched_names_the_damage_of_its_primary():
    lab = Lab.pair(seed=7)
    lab["paris"].post("secret/data/app", {"data": {"n": 1}})
    lab.corrupt("paris", "storage")
    lab.replicate("paris", "tokyo")
    lab.run("5s")
    lab.crash("paris")
    lab["tokyo"].promote(force=True)
    assert lab["tokyo"].get("secret/data/app").status == 500

    assert lab.why("refused").root.sentence == "paris is damaged on purpose (storage), by hand"


def writers(count: int, every_ns: int = 100_000_000, *, read: bool = True) -> Lab:
    """Clients of one group that put the same two secrets by check-and-set, and read them or not."""
    how: dict[str, Any] = {"keys": 2, "from_ns": 1_000_000_000}
    work = (
        WorkloadPlan(operation="put-secret", every_ns=every_ns, cas=True, **how),
        WorkloadPlan(operation="get-secret", every_ns=60_000_000, **how),
    )
    group = ClientPlan(
        name="app",
        site="lisbon",
        use=("paris",),
        count=count,
        share="shop",
        workload=work[: 1 + read],
        retries=0,
        check_ns=0,
    )
    plan = pair().with_clients(group)
    return Lab(replace(plan, links=tuple(replace(link, jitter_ns=0) for link in plan.links)), seed=7)


def test_a_refused_check_and_set_names_the_write_that_came_first():
    lab = writers(3).run("2s")
    rows: list[Any] = list(lab.trace)
    refused = [number for number, row in enumerate(rows) if row.kind == "outcome" and row.status == 400]
    acknowledged = {(write.path, write.committed.version): write.client for write in lab.ledger.writes}

    assert len(refused) > 10
    for number in refused:
        found = lab.why(number)
        said = re.fullmatch(rf"(\S+) makes version (\d+) of {rows[number].path} first", found.steps[1].sentence)
        assert said is not None, str(found)
        assert acknowledged[rows[number].path, int(said[2])] == said[1] != rows[number].client
        assert (found.origin, found.root.sentence) == (WORK, f"{said[1]} sends paris-1 a request")
        assert found.root.row is not None
        assert rows[found.root.row].source == said[1]


def test_a_check_and_set_that_nobody_was_answered_before_names_no_other_writer():
    lab = writers(1, 500_000_000, read=False).run("3200ms")
    lab.cut("paris", "lisbon")
    lab.run("900ms")
    lab.heal()
    lab.run("12s")
    rows: list[Any] = list(lab.trace)
    refused = [number for number, row in enumerate(rows) if row.kind == "outcome" and row.status == 400]

    assert refused
    assert lab.why(refused[0]).root.sentence.endswith(" answers app-1 with 400: another version is current")


def test_an_operators_check_and_set_names_the_operators_write_that_came_first(calm):
    for data in ("a", "b"):
        calm["paris"].post("secret/data/app", {"data": {"x": data}})
    calm["paris"].post("secret/data/other", {"data": {"x": "c"}})
    assert calm["paris"].post("secret/data/app", {"data": {"x": 1}, "options": {"cas": 1}}).status == 400
    version = calm.why("refused")
    calm["paris"].delete("secret/metadata/app")
    assert calm["paris"].post("secret/data/app", {"data": {"x": 1}, "options": {"cas": 2}}).status == 400
    deleted = calm.why("refused")

    assert version.steps[1].sentence == "an operator makes version 2 of secret/data/app first"
    assert deleted.steps[1].sentence == "an operator deletes secret/data/app with all its versions first"
    assert version.origin == deleted.origin == OPERATOR


@pytest.mark.parametrize("ends_tls", [False, True])
def test_what_a_balancer_answers_is_explained_by_the_nodes_behind_it(ends_tls: bool):
    work = WorkloadPlan(operation="put-secret", every_ns=300_000_000, from_ns=1_000_000_000)
    shop = ClientPlan(name="shop", site="lisbon", use=("paris",), through="front", workload=(work,), retries=0)
    front = BalancerPlan(name="front", site="lisbon", use=("paris",), ends_tls=ends_tls)
    lab = Lab(replace(pair().with_clients(shop), balancers=(front,)), seed=7).run("3s")
    lab["paris"].post("sys/seal")
    lab.run("8s")
    refused = [row for row in lab.trace.select("outcome") if row.outcome == "refused"]

    handed_on, of_its_own = (str(lab.why(event)) for event in (refused[0], refused[-1]))

    assert "front answers shop-1 with 503\n" in handed_on.replace("  [", "\n[")
    assert "paris-1 answers front with 503" in handed_on
    assert "front answers shop-1 with 503: no node behind it is in service" in of_its_own
    for found in (handed_on, of_its_own):
        assert "paris-1 is sealed: asked" in found
    assert lab.play().recording.explanations
