"""State spans: what the trace says of each node is what it was, and every instant is covered once."""

from __future__ import annotations

import contextlib
import hashlib
from itertools import pairwise

import pytest

from labkit import Lab
from labkit.lab.measures.state_spans import Span, rows_of, spans_of
from labkit.lab.operations.runbook_effects import Ask
from labkit.trace import Trace
from tests.lab.measures.conftest import Seen, watch_to_the_end
from tests.traces import recorded

SECOND_NS = 1_000_000_000
NODES = {"paris": ("paris-1", "paris-2")}


def clusters_of(lab: Lab) -> dict[str, tuple[str, ...]]:
    return {plan.name: plan.node_names for plan in lab.blueprint.clusters}


def test_nothing_happened():
    bars, lines = spans_of(Trace(), NODES, 5)
    assert bars == [Span("paris", 0, 5, "disabled", "")]
    assert lines == [Span("paris-1", 0, 5, "sealed", ""), Span("paris-2", 0, 5, "sealed", "")]


def test_a_cluster_without_its_leader_says_what_its_nodes_are():
    trace = recorded(
        ("leader", 1, "paris", "paris-1", 1),
        ("mode", 1, "paris", "secondary", "idle"),
        ("observed", 2, "paris-1", "sealed", ()),
        ("fault", 3, "crash", "paris-1", ""),
    )
    bars, _ = spans_of(trace, NODES, 9)
    assert [(bar.from_ns, bar.what, bar.detail) for bar in bars] == [
        (0, "disabled", ""),
        (1, "secondary", "idle"),
        (2, "sealed", "2 nodes sealed"),
        (3, "down", "1 node down, 1 node sealed"),
    ]


def test_a_paused_leader_goes_on_as_a_standby_where_another_took_over():
    begun = (("leader", 1, "paris", "paris-1", 1), ("observed", 1, "paris-2", "unsealed", ()))
    paused, resumed = ("fault", 2, "pause", "paris-1", ""), ("fault", 8, "resume", "paris-1", "")
    _, lines = spans_of(recorded(*begun, paused, ("leader", 5, "paris", "paris-2", 2), resumed), NODES, 9)
    assert [span.what for span in lines if span.row == "paris-1"] == ["sealed", "active", "paused", "standby"]
    bars, lines = spans_of(recorded(*begun, paused, resumed), NODES, 9)
    assert [span.what for span in lines if span.row == "paris-1"] == ["sealed", "active", "paused", "active"]
    assert [bar.what for bar in bars] == ["disabled", "down", "disabled"]


def test_rows_of_some_kinds_only():
    trace = recorded(("note", 1, "a"), ("leader", 2, "paris", "paris-1", 1))
    assert list(rows_of(trace, ("note",))) == [("note", 1, "a")]


def test_every_instant_is_covered_once(drilled):
    bars, lines = spans_of(drilled.trace, clusters_of(drilled), drilled.now)
    for row in {span.row for span in (*bars, *lines)}:
        own = [span for span in (*bars, *lines) if span.row == row]
        assert (own[0].from_ns, own[-1].to_ns) == (0, drilled.now)
        assert all(first.to_ns == second.from_ns for first, second in pairwise(own))


def check_truth(lab: Lab, acts) -> None:
    start_ns, seen = lab.now, Seen({}, {})
    for act in acts:
        watch_to_the_end(lab, lab.now + SECOND_NS // 4, seen)
        act(lab)
    watch_to_the_end(lab, lab.now + 2 * SECOND_NS, seen)
    _, lines = spans_of(lab.trace, clusters_of(lab), lab.now)
    found: dict[tuple[str, str], int] = {}
    for span in lines:
        length_ns = span.to_ns - max(span.from_ns, start_ns)
        if length_ns > 0:
            found[span.row, span.what] = found.get((span.row, span.what), 0) + length_ns
    assert found == {key: value for key, value in seen.nodes.items() if value}


def treat(lab: Lab, verb: str, target: str) -> None:
    """Carry a fault out, where it can be."""
    with contextlib.suppress(ValueError):
        getattr(lab, verb)(target)


ACTS = [
    lambda lab: lab.pause(lab["paris"].active),
    lambda lab: lab.resume("paris"),
    lambda lab: lab.crash("paris-2"),
    lambda lab: lab.restart("paris-2"),
    lambda lab: lab.parts.console.start("seal", cluster="tokyo"),
    lambda lab: lab.parts.console.start("unseal", cluster="tokyo", node=""),
    lambda lab: lab.parts.console.ask(Ask("paris", "POST", "sys/step-down")),
]


def test_what_the_trace_says_of_nodes_is_what_they_were(lab):
    check_truth(lab, ACTS)


def test_a_node_that_is_paused_sealed_and_crashed_in_turn(calm):
    check_truth(
        calm,
        [
            lambda lab: lab.pause("tokyo-1"),
            lambda lab: lab.crash("tokyo-1"),
            lambda lab: lab.restart("tokyo-1"),
            lambda lab: lab.pause("tokyo-1"),
            lambda lab: lab.resume("tokyo-1"),
            lambda lab: lab.parts.console.start("unseal", cluster="tokyo", node="tokyo-1"),
        ],
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_what_the_trace_says_of_nodes_is_what_they_were_after_any_faults(replicating_snapshot, seed):
    draws = list(hashlib.sha256(f"{seed}".encode()).digest())
    nodes = ("paris-1", "paris-2", "paris-3", "tokyo-1", "tokyo-2", "tokyo", "paris")
    verbs = ("pause", "resume", "crash", "restart", "pause", "resume", "crash", "restart")

    def act(first: int, second: int):
        verb, target = verbs[first % 8], nodes[second % 7]
        if first % 5 == 0:
            return lambda lab: lab.parts.console.start("unseal", cluster=target.partition("-")[0], node="")
        return lambda lab: treat(lab, verb, target)

    acts = [act(draws[place], draws[place + 1]) for place in range(0, 30, 2)]
    check_truth(Lab.restore(replicating_snapshot), acts)
