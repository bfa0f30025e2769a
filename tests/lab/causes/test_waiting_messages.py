"""Waiting messages: what a busy or paused process took, and when, as the process itself does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from labkit import Lab
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.causes.waiting_messages import WaitingMessages
from labkit.lab.nodes.node_host import NodeHost
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair

MILLISECOND_NS = 1_000_000

Drill = Callable[[Lab], object]
DRILLS: dict[str, Drill] = {
    "nothing": lambda lab: lab.run("1s"),
    "a pause": lambda lab: lab.run("500ms").pause("paris-1"),
    "a crash": lambda lab: lab.run("500ms").crash("paris-1"),
}


@pytest.mark.parametrize("name", DRILLS)
@pytest.mark.parametrize("service_ms", [3, *[pytest.param(ms, marks=pytest.mark.slow) for ms in (0, 30)]])
def test_what_was_taken_is_recounted_to_the_nanosecond(name, service_ms, monkeypatch):
    took: list[tuple[str, int, str]] = []
    receive = NodeHost.receive

    def on_receive(node, source, message):
        took.append((node.name, node.services.now(), source))
        receive(node, source, message)

    monkeypatch.setattr(NodeHost, "receive", on_receive)
    work = WorkloadPlan(operation="put-secret", every_ns=20 * MILLISECOND_NS)
    plan = pair().with_clients(ClientPlan(name="shop", site="paris", use=("paris",), count=3, workload=(work,)))
    slow = tuple(replace(its, service_ns=service_ms * MILLISECOND_NS) for its in plan.clusters)
    lab = Lab(replace(plan, clusters=slow))
    DRILLS[name](lab)
    lab.run("700ms")
    for act in (lab.resume, lab.restart):
        if name != "a crash" or act == lab.restart:
            act("paris")
    lab.run("2s")
    run = RecordedRun(lab.trace, lab.ledger, lab.queries)
    recounted = [
        (node, at_ns, run.rows[row][3])
        for node, its in run._taken.items()
        for at_ns, rows in its.items()
        for row in rows
    ]

    assert len(recounted) > 20 or (service_ms == 0 and name != "a pause")
    assert set(recounted) <= set(took)


def test_what_waits_goes_with_a_crash():
    waiting = WaitingMessages(10)
    for at_ns, number in ((0, 1), (1, 2), (2, 3)):
        waiting.arrive(at_ns, number, "request")
    waiting.arrive(3, 4, "response")  # takes no time
    waiting.crash(15)
    waiting.arrive(40, 5, "request")

    assert waiting.end(100) == {10: [1], 50: [5]}


def test_a_paused_process_takes_all_when_it_goes_on():
    waiting = WaitingMessages(10)
    waiting.arrive(0, 1, "request")
    waiting.pause(5)
    waiting.arrive(6, 2, "request")
    waiting.arrive(7, 3, "response")
    waiting.resume(30)

    assert waiting.end(100) == {30: [3, 1], 40: [2]}
