"""Traffic: each message belongs to one mechanism, and the sums are those of the trace."""

from __future__ import annotations

from labkit.lab.measures.traffic import BETWEEN, CLIENTS, ORDER, Flow, Slice, flows, slices
from labkit.lab.plan.blueprint import pair
from labkit.trace import Trace

SECOND_NS = 1_000_000_000


def recorded(*messages: tuple[str, str, str, int, str]) -> Trace:
    trace = Trace()
    for number, (what, source, target, size_bytes, fate) in enumerate(messages):
        trace.record(("message", number * SECOND_NS, number * SECOND_NS + 9, source, target, what, size_bytes, fate))
    return trace


def test_the_sums_are_those_of_the_messages_in_the_trace(drilled):
    found = flows(drilled.trace, drilled.blueprint)
    messages = drilled.trace.select("message")

    assert sum(flow.messages for flow in found) == len(messages)
    assert sum(flow.size_bytes for flow in found) == sum(message.size_bytes for message in messages)
    lost = [message.size_bytes for message in messages if message.fate == "lost"]
    assert sum(flow.lost_messages for flow in found) == len(lost) > 0
    assert sum(flow.lost_bytes for flow in found) == sum(lost)


def test_each_mechanism_is_counted_by_itself(drilled):
    found = {flow.mechanism: 0 for flow in flows(drilled.trace, drilled.blueprint)}
    for flow in flows(drilled.trace, drilled.blueprint):
        found[flow.mechanism] += flow.size_bytes
    kinds: dict[str, int] = {}
    for message in drilled.trace.select("message"):
        kinds[message.what] = kinds.get(message.what, 0) + message.size_bytes

    assert found["streaming"] == kinds["stream"] + kinds["stream_wals"]
    assert found["heartbeats"] == kinds["echo"]
    assert found["fetch of keys"] == kinds["fetch_keys"]
    assert found["comparison"] == kinds["conflicting_pages"] + kinds["sub_page_hashes"]
    assert found["bootstrap"] == kinds["bootstrap_request"] + kinds["bootstrap_answer"]
    assert set(found) <= set(ORDER), "every kind of message has a mechanism"


def test_parties_are_clusters_groups_and_operators():
    blueprint = pair()
    trace = recorded(
        ("request", blueprint.clusters[0].operator_host, "paris-1", 5, "delivered"),
        ("response", "paris-1", "tokyo-2", 6, "delivered"),
        ("response", "paris-1", "shop-3", 7, "lost"),
        ("stream", "paris-1", "tokyo-2", 8, "delivered"),
        ("stream", "paris-2", "tokyo-1", 8, "lost"),
        ("something else", "paris-1", "paris-2", 9, "delivered"),
    )

    assert flows(trace, blueprint) == (
        Flow(CLIENTS, "paris", "shop-3", 1, 7, 1, 7),
        Flow("operator requests", "operators", "paris", 1, 5, 0, 0),
        Flow(BETWEEN, "paris", "tokyo", 1, 6, 0, 0),
        Flow("streaming", "paris", "tokyo", 2, 16, 1, 8),
        Flow("something else", "paris", "paris", 1, 9, 0, 0),
    )


def test_slices_count_by_the_instant_of_sending():
    trace = recorded(*[("echo", "paris-1", "tokyo-2", size, "delivered") for size in (1, 2, 4, 8)])

    assert slices(trace, pair(), 2 * SECOND_NS) == (
        Slice("heartbeats", 0, 2, 3),
        Slice("heartbeats", 2 * SECOND_NS, 2, 12),
    )


def test_slices_add_up_to_the_flows(drilled):
    parts = slices(drilled.trace, drilled.blueprint, SECOND_NS // 2)
    for mechanism in ORDER:
        whole = [flow for flow in flows(drilled.trace, drilled.blueprint) if flow.mechanism == mechanism]
        assert sum(part.size_bytes for part in parts if part.mechanism == mechanism) == sum(f.size_bytes for f in whole)


def test_a_lab_in_which_nothing_was_sent_has_none():
    assert flows(Trace(), pair()) == ()
    assert slices(Trace(), pair(), 1) == ()
