"""Refusal causes: what a refusal followed: the state of the node, a value that was altered, or the request itself."""

from __future__ import annotations

from labkit import Lab
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair

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
