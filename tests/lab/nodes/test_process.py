"""A process: a pause holds what arrives, a resume acts on what was believed; requests take their time, one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit import Lab
from labkit.lab.invariants import ONLY_LEADER, ROOTS
from labkit.lab.nodes.process import Process
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import Blueprint, ClientPlan, NodeSettings, WorkloadPlan, pair
from labkit.lab.wire.messages import ApiRequest, Correlation, ServiceTimer
from labkit.service.message import Request

SECOND_NS = 1_000_000_000
REQUEST = ApiRequest(Correlation("client", 1), Request("GET", "/v1/sys/health"))


class Node:
    """A node that writes down what it is handed."""

    name = "paris-1"

    def __init__(self) -> None:
        self.incarnation = 0
        self.got: list[object] = []

    def receive(self, source: str, message: object) -> None:
        self.got.append((source, message))

    def on_timer(self, timer: object) -> None:
        self.got.append(timer)


def process(service_ns: int = 0, state: dict | None = None) -> tuple[Process, Node, list]:
    node, timers = Node(), []
    return Process(node, service_ns, lambda delay_ns, timer: timers.append((delay_ns, timer)), state), node, timers


def test_without_pause_and_service_time_the_items_go_to_the_node_itself():
    made, node, _ = process()

    assert made.host is node
    assert made.state() == {}
    assert process(5)[0].host is not node


def test_a_pause_holds_everything_and_messages_go_before_timers():
    made, node, _ = process()
    assert made.pause()
    assert not made.pause()
    made.on_timer("timer")
    made.receive("a", "first")
    made.receive("b", "second")
    assert node.got == []

    restored, other, _ = process(state=made.state())
    for each, host in ((made, node), (restored, other)):
        assert each.host is not host
        assert each.resume()
        assert host.got == [("a", "first"), ("b", "second"), "timer"]
        assert not each.resume()


def test_a_crash_forgets_what_waits():
    made, node, _ = process(5)
    made.receive("a", REQUEST)
    made.pause()
    made.receive("a", "held")
    made.crash()
    made.resume()

    assert node.got == []
    assert not made.paused
    assert not made.queue


def test_requests_are_worked_on_one_by_one_and_the_rest_passes():
    made, node, timers = process(5)
    made.receive("a", REQUEST)
    made.receive("b", REQUEST)
    made.receive("c", "heartbeat")
    assert node.got == [("c", "heartbeat")]
    assert timers == [(5, ServiceTimer(0))]
    made.on_timer(ServiceTimer(0))
    assert node.got[1:] == [("a", REQUEST)]
    assert timers[1:] == [(5, ServiceTimer(0))]
    made.on_timer(ServiceTimer(0))
    assert node.got[2:] == [("b", REQUEST)]
    assert len(timers) == 2
    assert made.max_queued == 2


def test_the_end_of_work_before_a_crash_is_ignored():
    made, node, _ = process(5)
    made.receive("a", REQUEST)
    made.crash()
    node.incarnation = 1
    made.on_timer(ServiceTimer(0))

    assert node.got == []


# ---- in a lab


def unfenced() -> Blueprint:
    """The pair, without fencing in paris."""
    first, second = pair().clusters
    return replace(pair(), clusters=(replace(first, fencing=False), second))


def overtaken(lab: Lab) -> tuple[Lab, int]:
    """A lab whose first leader was paused with a write on its way to it, and overtaken, then resumed."""
    lab.replicate("paris", "tokyo")
    lab.run("1s")
    lab.pause("paris-1")
    number = lab.parts.console.ask(Ask("paris", "POST", "secret/data/late", {"data": {"a": 1}}, "paris-1"))
    lab.run("6s")
    assert lab["paris"].active == "paris-2"
    lab.resume("paris-1")
    lab.run("3s")
    return lab, number


def test_a_leader_that_was_paused_and_overtaken_cannot_write():
    lab, number = overtaken(Lab.pair(seed=7))

    assert lab.parts.console.answers[number].status == 503
    assert lab["paris"].get("secret/data/late").status == 404
    assert lab["paris"].active == "paris-2"
    assert lab.run("1s").invariants.broken == {}


def test_without_fencing_its_write_survives_and_breaks_what_replication_rests_on():
    lab, number = overtaken(Lab(unfenced()))

    assert lab.parts.console.answers[number].status == 200
    assert lab["paris"].get("secret/data/late").ok
    lab.run("1s")
    assert list(lab.invariants.broken) == [ONLY_LEADER, ROOTS]
    assert lab.invariants.broken[ONLY_LEADER].detail.startswith("paris-1 wrote logical/")
    assert "under term 1, which is over" in lab.invariants.broken[ONLY_LEADER].detail


def test_a_pause_of_the_active_node_is_an_outage_until_another_leads(quiet):
    quiet.run("1s").pause("paris-1")
    assert quiet["paris"].active == ""
    assert quiet.ledger.outages.since == {("down", "paris"): SECOND_NS}
    quiet.run("10s")
    assert quiet["paris"].active == "paris-2"
    assert quiet.ledger.outages.since == {}


def test_a_short_pause_changes_nothing_but_the_time(quiet):
    quiet.run("1s").pause("paris")
    quiet.run("1s").resume("paris")

    assert quiet["paris"].active == "paris-1"
    assert quiet["paris"].post("secret/data/a", {"data": {"b": 1}}).ok
    assert [event.verb for event in quiet.trace.select("fault")] == ["pause"] * 3 + ["resume"] * 3


def test_a_lab_saved_in_a_pause_goes_on_as_the_same_lab(lab):
    lab.pause("paris-1")
    lab.run("2s")
    other = Lab.restore(lab.snapshot())
    for each in (lab, other):
        each.run("3s").resume("paris")
        each.run("3s")

    assert lab.trace.digest() == other.trace.digest()


def test_what_is_down_can_be_neither_paused_nor_resumed_and_a_crash_ends_a_pause(quiet):
    quiet.pause("paris-1")
    quiet.crash("paris-1")
    quiet.crash("tokyo")
    for verb in (quiet.pause, quiet.resume):
        with pytest.raises(
            ValueError, match="expected a node that is up, but paris-1 is down; there are: paris-2, par"
        ):
            verb("paris-1")
    quiet.restart("paris-1")
    assert not quiet.queries.is_paused("paris-1")
    quiet.pause("paris-2")
    quiet.pause("paris-2")
    assert [event.detail for event in quiet.trace.select("fault", verb="pause")] == ["", "", "no change"]


def overload(every_ms: int, service_ms: int = 20) -> Lab:
    """One client that writes at a rate into a cluster whose nodes need time for each request."""
    first, second = pair().clusters
    work = WorkloadPlan(operation="put-secret", every_ns=every_ms * 1_000_000, until_ns=6 * SECOND_NS)
    plan = ClientPlan(name="shop", site="paris", use=("paris",), timeout_ns=30 * SECOND_NS, workload=(work,))
    plans = (replace(first, nodes=1, service_ns=service_ms * 1_000_000), replace(second, nodes=1))
    return Lab(replace(pair(), clusters=plans).with_clients(plan), trace=False)


def test_throughput_saturates_and_latency_grows():
    answered, waits, queues = [], [], []
    for every_ms in (40, 10, 5):
        lab = overload(every_ms).run("2s")
        answered.append(len(lab.ledger.writes))
        waits.append(lab.queries.waiting("paris-1"))
        queues.append(lab.parts.processes["paris-1"].max_queued)
    assert answered[0] == pytest.approx(50, abs=2)
    assert answered[1] == answered[2] == pytest.approx(100, abs=2), "a request each 20 ms, whatever is asked"
    assert waits[0] <= 1
    assert waits[2] == pytest.approx(3 * waits[1], rel=0.1)
    assert queues[2] >= waits[2]
    assert f"paris-1 active ({waits[2]} requests waiting)" in lab.map().description


def test_a_node_may_be_slower_than_its_cluster():
    first = replace(pair().clusters[0], service_ns=5, each=(NodeSettings(name="paris-2", service_ns=9),))
    found = [node.service_ns for node in replace(pair(), clusters=(first,)).nodes_of("paris")]

    assert found == [5, 9, 5]


def test_a_lab_saved_while_requests_wait_goes_on_as_the_same_lab():
    lab = overload(10).run("1s")
    other = Lab.restore(lab.snapshot())
    for each in (lab, other):
        each.run("1s")

    assert [write.at_ns for write in lab.ledger.writes] == [write.at_ns for write in other.ledger.writes]
    assert lab.parts.processes["paris-1"].state() == other.parts.processes["paris-1"].state()


def test_what_is_forwarded_to_a_paused_leader_is_unknown_once_another_leads(quiet):
    quiet.run("1s").pause("paris-1")
    asked = quiet.now
    answer = quiet["paris"].post("secret/data/a", {"data": {"b": 1}}, node="paris-2")
    assert (answer.status, answer.code) == (503, "forwarding_lost")
    assert quiet.now - asked < 5 * SECOND_NS, "it ends with the lease, not with patience"
    assert quiet.ledger.unknown == 1
    quiet.resume("paris-1")
    quiet.run("1s")
    assert quiet["paris"].get("secret/data/a").status == 404, "its store refused what had waited there"
