"""What is measured in a check is what is measured at the end; each measure sees what it should."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.scenario.expect_keys import Expectations, ExpectPart
from labkit.scenario.measures import Seen, checked
from labkit.scenario.value_types import DeclaredNames

NAMES = DeclaredNames((), ("paris", "tokyo"), groups=("shop",))


@pytest.fixture(scope="module")
def lab() -> Lab:
    """A pair that replicated; then the line was cut, and one write was made in paris."""
    lab = Lab.pair()
    lab.replicate("paris", "tokyo")
    lab.run("1s")
    lab.partition("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"n": 1}})
    return lab.run("20s")


def statuses(lab: Lab, **values: Any) -> list[tuple[str, str]]:
    part = ExpectPart.model_validate({key.replace("_", " "): value for key, value in values.items()}, context=NAMES)
    expect = Expectations.of(part.model_dump(by_alias=True))
    return [(row.measured, row.status) for row in checked(expect, Seen(lab.queries, lab.ledger, lab.invariants))]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"roots": "different"}, [("different: paris and tokyo differ", "ok")]),
        ({"lag": {"at least": 1}}, [("tokyo: 1 entry behind", "ok")]),
        ({"differing": {"at least": 1}}, [("2", "ok")]),
        ({"differing": 0}, [("2", "broken")]),
        ({"fetched": 4}, [("4", "ok")]),
        ({"fetched": {"at least": 7}}, [("4", "broken")]),
        ({"states": {"tokyo": "stream-wals", "paris": "idle"}}, [("stream-wals", "ok"), ("running", "broken")]),
        ({"connections": {"tokyo": "not ready", "paris": "ready"}}, [("connecting", "ok"), ("none", "broken")]),
        ({"connections": {"tokyo": "ready"}}, [("connecting", "broken")]),
        ({"modes": {"tokyo": "secondary"}}, [("secondary", "ok")]),
        ({"observed": {"replication_disconnected": {"at least": 1}, "merkle_loop": 0}}, [("1", "ok"), ("0", "ok")]),
        ({"lags": {"tokyo": {"at least": 1}, "paris": 0}}, [("1", "ok"), ("it follows no cluster", "unknown")]),
        ({"lag_times": {"tokyo": {"at most": "1s"}}}, [("20s", "broken")]),
        ({"logins": {"answered": 0, "refused": 1}}, [("0", "ok"), ("0", "broken")]),
        ({"clients": {"shop": {"in doubt": 0, "latency": "1s"}}}, [("0", "ok"), ("nothing was answered", "unknown")]),
        ({"rto": "1s"}, [("no cluster was promoted", "unknown")]),
        ({"acknowledged": 1, "lost": 0}, [("1", "ok"), ("0", "ok")]),
        ({"invariants": {"one primary": "held"}}, [("held", "ok")]),
        ({"invariants": {"one primary": "broken"}}, [("held", "broken")]),
        ({"primary": "paris"}, [("paris", "ok")]),
    ],
)
def test_what_is_checked_is_judged_now_and_nothing_else_is_listed(
    lab: Lab, values: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    assert statuses(lab, **values) == found


def test_a_connection_that_is_ready_is_not_one_that_is_not() -> None:
    lab = Lab.pair()
    lab.replicate("paris", "tokyo")

    assert statuses(lab, connections={"tokyo": "ready"}) == [("ready", "ok")]
    assert statuses(lab, connections={"tokyo": "not ready"}) == [("ready", "broken")]


def test_keys_of_clusters_that_follow_nobody_are_not_compared() -> None:
    assert statuses(Lab.pair(), differing=0, states={"paris": "running"}) == [
        ("no cluster follows another", "unknown"),
        ("none", "broken"),
    ]


def test_a_cluster_without_an_active_node_leaves_open_who_is_primary() -> None:
    lab = Lab.pair()
    lab.replicate("paris", "tokyo")
    lab.crash("paris")
    for values, found in (
        ({"primary": "paris"}, ("none (paris has no active node)", "unknown")),
        ({"primary": "tokyo"}, ("none (paris has no active node)", "broken")),
        ({"primary": ["paris", "tokyo"]}, ("none (paris has no active node)", "broken")),
    ):
        assert statuses(lab, **values) == [found], values
    lab["tokyo"].promote(force=True)
    for expected, status in (("tokyo", "ok"), ("paris", "broken"), (["paris", "tokyo"], "unknown")):
        assert statuses(lab, primary=expected) == [("tokyo (paris has no active node)", status)], expected


def test_what_a_group_of_clients_got_is_counted_by_group_and_without_a_trace() -> None:
    work = WorkloadPlan(operation="put-secret", every_ns=10**8, until_ns=3 * 10**9)
    groups = [ClientPlan(name=name, site="lisbon", use=(use,), workload=(work,)) for name, use in GROUPS]
    lab = Lab(pair().with_clients(*groups), trace=False)
    lab.crash("tokyo")
    lab.run("10s")
    names = DeclaredNames((), (), groups=("near", "far"))
    limits = {"answered": 30, "acknowledged": 30, "refused": 0, "in doubt": 0, "latency": {"at most": "100ms"}}
    part = ExpectPart.model_validate({"clients": {"near": limits, "far": limits}}, context=names)
    rows = checked(Expectations.of(part.model_dump(by_alias=True)), Seen(lab.queries, lab.ledger, lab.invariants))

    found = {(row.what, row.measured, row.status) for row in rows}
    assert {row for row in found if row[0].startswith("near") and row[2] != "ok"} == set()
    assert {(what, status) for what, _, status in found if what.startswith("far")} == {
        ("far: answered", "broken"),
        ("far: acknowledged", "broken"),
        ("far: refused", "ok"),
        ("far: in doubt", "broken"),
        ("far: latency", "unknown"),
    }
    assert {row.key for row in rows} == {"clients near", "clients far"}


GROUPS = (("near", "paris"), ("far", "tokyo"))
