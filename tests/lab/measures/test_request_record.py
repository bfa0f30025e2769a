"""A request record names the operation of each request in the trace, nothing that it holds, and disturbs nothing."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.measures.request_record import CarriedRequest
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.service.durations import SECOND_NS

VALUE = "a-value-that-nobody-may-see"


@pytest.fixture(scope="module")
def crashed() -> Lab:
    """Writers whose primary goes down, so that they try again elsewhere; and an operator who writes a value."""
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS // 5, keys=5, from_ns=SECOND_NS)
    shop = ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), count=2, workload=(work,))
    lab = Lab(pair().with_clients(shop))
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"value": VALUE}})
    lab.run(until="3s")
    lab.crash("paris")
    lab.run("1s")
    lab["tokyo"].promote()
    return lab.run("4s")


def requests_of(lab: Lab) -> list[CarriedRequest]:
    assert lab._pictures is not None
    return list(lab._pictures.requests.rows)


def test_each_request_of_the_trace_has_its_row_and_its_asker(crashed: Lab) -> None:
    rows = [row for chunk in crashed.trace.state()[1] for row in chunk]
    requests = [number for number, row in enumerate(rows) if row[0] == "message" and row[5] == "request"]
    found = requests_of(crashed)

    assert [one.row for one in found] == requests
    assert all(one.asker == rows[one.row][3] for one in found)
    assert {rows[one.row][7] for one in found} == {"delivered", "lost"}


def test_attempts_and_paths_are_those_of_the_outcomes(crashed: Lab) -> None:
    attempts: dict[tuple[str, int], list[CarriedRequest]] = {}
    for one in requests_of(crashed):
        if one.asker not in crashed.parts.nodes:  # a node's own request has one attempt only
            attempts.setdefault((one.asker, one.number), []).append(one)
    rows = [row for chunk in crashed.trace.state()[1] for row in chunk]
    outcomes = {(one.client, one.started_ns, one.path): one.attempts for one in crashed.trace.select("outcome")}

    assert max(outcomes.values()) > 1
    counted = 0
    for its in attempts.values():
        assert [one.attempt for one in its] == list(range(1, len(its) + 1))
        assert len({one.asked for one in its}) == 1
        sent_ns = rows[its[0].row][1]
        count = outcomes.get((its[0].asker, sent_ns, its[0].asked.split(" ")[1]))
        counted += count is not None
        assert count in (None, len(its))
    assert counted == len(outcomes)


def test_no_value_and_no_token_is_in_it(crashed: Lab) -> None:
    said = repr(requests_of(crashed))

    assert "secret/data/app" in said
    assert "sys/replication/dr/secondary/promote" in said
    assert VALUE not in said
    assert "hvs." not in said
    assert all(part.isascii() and len(part) < 100 for one in requests_of(crashed) for part in (one.asker, one.asked))


def test_a_lab_goes_on_as_it_does_without_and_branches_keep_the_past(crashed: Lab) -> None:
    def run(recorded: bool) -> Lab:
        lab = Lab.pair(seed=11)
        if recorded:
            lab.keep_pictures()
        lab.replicate("paris", "tokyo")
        lab["paris"].get("secret/data/app?version=1")
        return lab.run("1s")

    plain, recorded = run(False), run(True)
    assert plain.parts.network.watcher is None
    assert recorded.trace.digest() == plain.trace.digest()
    assert requests_of(recorded)[-1].asked == "GET secret/data/app"
    ours, branch = requests_of(crashed), crashed.branch("other")
    branch["tokyo"].post("secret/data/later", {"data": {"n": 1}})
    assert requests_of(branch)[: len(ours)] == ours
    assert requests_of(branch)[-1].asked == "POST secret/data/later"
    assert requests_of(crashed) == ours
