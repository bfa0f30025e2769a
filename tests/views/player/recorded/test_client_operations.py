"""Client operations: each outcome of the trace is one, with what ended it; the rest of the ledger is the operators'."""

from __future__ import annotations

from collections import Counter

from labkit import Lab
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.views.player.recorded.client_operations import UNDER_WAY, client_operations, operators_operations


def test_each_outcome_is_an_operation_and_what_waits_is_under_way(drilled_lab: Lab) -> None:
    run = RecordedRun(drilled_lab.parts.trace, drilled_lab.parts.ledger, drilled_lab.queries)
    found = client_operations(run)
    outcomes = drilled_lab.trace.select("outcome")
    ended = [one for one in found if one.outcome != UNDER_WAY]
    waiting = [one for one in found if one.outcome == UNDER_WAY]

    assert [(one.started_ns, one.at_ns, one.client, one.path, one.outcome) for one in ended] == [
        (one.started_ns, one.at_ns, one.client, one.path, one.outcome) for one in outcomes
    ]
    for one in ended:
        if one.answer >= 0:
            row = run.rows[one.answer]
            assert (row[0], row[2], row[4]) == ("message", one.at_ns, one.client)
    assert all(one.answer >= 0 for one in ended if one.outcome == "answered")
    pending = [host.client.pending for host in drilled_lab.parts.clients.values()]
    assert len(waiting) == sum(map(len, pending)) > 0
    assert {one.at_ns for one in waiting} == {drilled_lab.now}


def test_operators_have_what_no_client_has(drilled_lab: Lab) -> None:
    run = RecordedRun(drilled_lab.parts.trace, drilled_lab.parts.ledger, drilled_lab.queries)
    clients = Counter((one.at_ns, one.outcome) for one in drilled_lab.trace.select("outcome"))
    operators = Counter(tuple(one) for one in operators_operations(run))

    assert operators + clients == Counter(tuple(one) for one in drilled_lab.ledger.operations)
    assert sum(operators.values()) > 5
