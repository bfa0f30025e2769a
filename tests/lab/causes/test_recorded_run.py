"""Recorded run: rows by instant, what a row follows within its item, and the step of a scenario it belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.trace import Trace


def recorded(*rows: tuple[Any, ...]) -> RecordedRun:
    """A run of these rows, in a lab of paris and tokyo."""
    lab = Lab.pair()
    return RecordedRun(Trace.from_state((True, (rows,))), lab.ledger, lab.queries)


def message(
    at_ns: int, source: str, target: str, fate: str = "delivered", sent_ns: int | None = None
) -> tuple[Any, ...]:
    return ("message", at_ns - 5 if sent_ns is None else sent_ns, at_ns, source, target, "request", 1, fate)


SEEN = ("observed", 20, "paris-1", "unsealed", ())


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ([message(20, "shop-1", "paris-1")], 0),
        ([message(20, "shop-1", "paris-2")], None),  # another item: a timer of paris-1 followed
        ([message(19, "shop-1", "paris-1")], None),
        ([message(20, "shop-1", "paris-1", "lost")], None),  # it arrived nowhere
        ([message(20, "shop-1", "paris-1"), message(20, "paris-1", "tokyo-1", "lost", 20)], 0),  # lost when it was sent
        ([message(20, "shop-1", "paris-1"), ("note", 20, "x")], 0),
        ([("fault", 20, "crash", "paris-2", "")], 0),
        ([], None),
    ],
)
def test_a_row_follows_the_message_or_the_fault_of_its_item(before, expected):
    assert recorded(*before, SEEN).trigger(len(before), ("paris-1",)) == expected


def test_rows_are_found_by_instant():
    run = recorded(*[("note", at_ns, "x") for at_ns in (1, 5, 5, 5, 9)])

    assert [run.between(*window) for window in ((5, 5), (0, 1), (6, 8), (2, 99))] == [
        range(1, 4),
        range(1),
        range(4, 4),
        range(1, 5),
    ]
    assert run.at_ns(4) == 9


def test_what_made_a_host_send_a_message_arrived_at_that_instant():
    run = recorded(message(10, "shop-1", "paris-1"), message(15, "paris-1", "tokyo-1", sent_ns=10))

    assert run.sent_for(1) == 0
    assert run.sent_for(0) is None


def test_the_last_row_of_a_kind_with_these_fields():
    run = recorded(("leader", 1, "paris", "paris-1", 1), ("leader", 2, "paris", "paris-2", 2), ("note", 3, "x"))

    assert run.last("leader", 3, cluster="paris") == 1
    assert run.last("leader", 1, cluster="paris") == 0
    assert run.last("leader", 3, node=("paris-1", "paris-3")) == 0
    assert run.last("leader", 3, cluster="tokyo") is None


def test_a_step_is_in_progress_until_it_is_done():
    begun, done = ("step", 1, 1, "replicate", "begins"), ("step", 5, 1, "", "done")
    beside = (("step", 3, 2, "crash", "begins"), ("step", 3, 2, "", "done"))
    run = recorded(begun, *beside, ("note", 4, "x"), done, ("note", 6, "x"))

    assert [run.step_at(number) for number in (0, 2, 3, 5)] == [None, 1, 0, None]


def test_hosts_belong_to_clusters():
    run = recorded()

    assert [run.cluster_of(name) for name in ("paris-1", "tokyo-operator", "shop-1")] == ["paris", "tokyo", ""]
    assert run.nodes_of("tokyo") == ("tokyo-1", "tokyo-2", "tokyo-3")
    assert run.site_of("paris-operator") == run.site_of("paris-2") == "paris"
