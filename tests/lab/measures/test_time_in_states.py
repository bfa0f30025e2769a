"""Time in states: every kind adds up to the run, and sync and connection are what they were seen to be."""

from __future__ import annotations

from labkit import Lab
from labkit.lab.measures.time_in_states import KINDS, NONE, Stay, time_in_states
from labkit.trace import Trace
from tests.lab.measures.conftest import Seen, watch_to_the_end

SECOND_NS = 1_000_000_000


def of(lab: Lab) -> tuple[Stay, ...]:
    clusters = {plan.name: plan.node_names for plan in lab.blueprint.clusters}
    return time_in_states(lab.trace, clusters, lab.queries.progress.connections, lab.now)


def test_the_times_of_each_add_up_to_the_run(drilled):
    stays = of(drilled)
    rows = {(stay.kind, stay.name) for stay in stays}

    assert {kind for kind, _ in rows} == set(KINDS)
    assert {name for kind, name in rows if kind == "connection"} == {"paris", "tokyo"}
    for row in rows:
        own = [stay for stay in stays if (stay.kind, stay.name) == row]
        assert sum(stay.total_ns for stay in own) == drilled.now, row
        assert all(0 < stay.longest_ns <= stay.total_ns and stay.stretches >= 1 for stay in own)


def test_sync_and_connection_are_what_they_were(calm):
    lab = calm
    begun = {(stay.kind, stay.name, stay.state): stay.total_ns for stay in of(lab)}
    seen = Seen({}, {})
    acts = [
        lambda: lab.partition("paris", "tokyo"),
        *[lambda: None] * 3,
        lambda: lab.heal(),
        lambda: lab.crash(lab["tokyo"].active),
        lambda: lab.pause(lab["tokyo"].active),
        lambda: lab.resume("tokyo"),
        lambda: lab.crash("paris"),
    ]
    for act in acts:
        act()
        watch_to_the_end(lab, lab.now + 5 * SECOND_NS, seen)
    found = {
        (kind, name, state): total_ns - begun.get((kind, name, state), 0)
        for kind, name, state, total_ns, _, _ in of(lab)
        if kind in ("sync", "connection")
    }

    assert found == {**dict.fromkeys(found, 0), **{row: ns for row, ns in seen.links.items() if row[1] == "tokyo"}}
    assert found["connection", "tokyo", "transient_failure"] > SECOND_NS


def test_stretches_and_the_longest():
    trace = Trace()
    for at_ns, state in ((10, "idle"), (20, "stream-wals"), (50, "idle"), (60, "stream-wals")):
        trace.record(("mode", at_ns, "tokyo", "secondary", state))
    stays = time_in_states(trace, {"tokyo": ("tokyo-1",)}, {"tokyo": [(10, "connecting"), (25, "ready")]}, 100)

    assert stays == (
        Stay("cluster", "tokyo", "disabled", 10, 1, 10),
        Stay("cluster", "tokyo", "secondary", 90, 1, 90),
        Stay("sync", "tokyo", NONE, 10, 1, 10),
        Stay("sync", "tokyo", "idle", 20, 2, 10),
        Stay("sync", "tokyo", "stream-wals", 70, 2, 40),
        Stay("connection", "tokyo", NONE, 10, 1, 10),
        Stay("connection", "tokyo", "connecting", 15, 1, 15),
        Stay("connection", "tokyo", "ready", 75, 1, 75),
        Stay("node", "tokyo-1", "sealed", 100, 1, 100),
    )


def test_no_time_has_passed():
    assert time_in_states(Trace(), {"tokyo": ("tokyo-1",)}, {}, 0) == ()


def test_a_restored_lab_goes_on_counting(drilled):
    restored = Lab.restore(drilled.snapshot())
    assert of(restored) == of(drilled)
    restored.run("1s")
    uncut = Lab.restore(drilled.snapshot())
    uncut.run("300ms")
    uncut = Lab.restore(uncut.snapshot())
    assert of(uncut.run("700ms")) == of(restored)
