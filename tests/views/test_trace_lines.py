"""Trace lines: the last events that are shown, each in a line."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.trace import EVENTS, Trace
from labkit.views.trace_lines import TEXTS, last_lines
from tests.traces import recorded

SECOND_NS = 1_000_000_000


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (("message", 1, SECOND_NS, "a-1", "b-1", "echo", 9, "lost"), "    1.000 s  a-1 to b-1: echo lost"),
        (("fault", SECOND_NS, "crash", "a-1", ""), "    1.000 s  fault: crash a-1"),
        (("fault", SECOND_NS, "slow", "a <> b", "factor 4"), "    1.000 s  fault: slow a <> b factor 4"),
        (
            ("observed", 1_500_000_000, "a-1", "missing_guard", (("generation", 4),)),
            "    1.500 s  a-1: missing guard (generation 4)",
        ),
        (("observed", SECOND_NS, "a-1", "sealed", ()), "    1.000 s  a-1: sealed"),
        (("leader", SECOND_NS, "a", "a-2", 2), "    1.000 s  a-2 leads a, term 2"),
        (("mode", SECOND_NS, "a", "secondary", "idle"), "    1.000 s  a is secondary · idle"),
        (("mode", SECOND_NS, "a", "disabled", ""), "    1.000 s  a is disabled"),
        (
            ("outcome", 1, SECOND_NS, "c-1", "put-secret", "secret/data/x", "a", "refused", 503, 4),
            "    1.000 s  c-1: put-secret secret/data/x refused 503, tries: 4",
        ),
        (
            ("outcome", 1, SECOND_NS, "c-1", "encrypt", "transit/encrypt/x", "a", "unknown", 0, 4),
            "    1.000 s  c-1: encrypt transit/encrypt/x in doubt, tries: 4",
        ),
        (("step", SECOND_NS, 3, "crash paris", "done"), "    1.000 s  step 3: crash paris done"),
        (
            ("invariant", SECOND_NS, "one primary", "broken", "a and b"),
            "    1.000 s  rule broken: one primary: a and b",
        ),
        (("note", SECOND_NS, "mind this"), "    1.000 s  mind this"),
    ],
)
def test_each_kind_has_its_words(event, line):
    assert last_lines(recorded(event)) == [line]


def test_every_kind_of_event_has_a_text():
    assert set(TEXTS) == set(EVENTS)


def test_what_goes_well_all_the_time_is_left_out():
    delivered = ("message", 1, 2, "a-1", "b-1", "echo", 9, "delivered")
    answered = ("outcome", 1, 2, "c-1", "put-secret", "secret/data/x", "a", "answered", 200, 1)

    assert last_lines(recorded(delivered, answered)) == []
    assert len(last_lines(recorded(delivered, ("note", 3, "x"), answered))) == 1


def test_only_the_last_are_shown_oldest_first():
    trace = recorded(*[("note", number * SECOND_NS, f"n{number}") for number in range(50)])

    assert [line[-3:] for line in last_lines(trace, 3)] == ["n47", "n48", "n49"]
    trace.state()  # seals what there is
    trace.record(("note", 60 * SECOND_NS, "n60"))
    assert [line[-3:] for line in last_lines(trace, 2)] == ["n49", "n60"]


def test_asking_changes_nothing():
    trace = recorded(("note", 1, "x"), ("note", 2, "y"))
    digest = trace.digest()
    last_lines(trace)

    assert (len(trace), trace.digest()) == (2, digest)


def test_nothing_happened_yet():
    assert last_lines(Trace()) == []
    assert last_lines(Trace(enabled=False)) == []


def test_the_lines_of_a_lab_show_no_secret():
    lab = Lab.pair()
    lab.replicate("paris", "tokyo")
    lab.crash("paris")
    lab["tokyo"].promote()
    output = "\n".join(last_lines(lab.trace, 10_000))

    assert "tokyo is primary · running" in output
    for secret in (lab["tokyo"].root_token, *lab["tokyo"].unseal_keys):
        assert secret not in output
