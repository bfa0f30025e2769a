"""Comparison: the first event in which two runs differ, and that they are equal up to there."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.views.comparison import MAX_NEXT, Comparison, compare
from tests.traces import recorded


@pytest.fixture(scope="module")
def streaming() -> Any:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    return lab.run("2s").snapshot()


@pytest.fixture
def lab(streaming: Any) -> Lab:
    return Lab.restore(streaming)


def test_two_branches_part_where_one_of_them_is_changed(lab: Lab) -> None:
    other = lab.branch("what-if")
    lab.run("1s")
    other.run("1s")
    assert lab.compare(other).at_ns is None
    assert lab.compare(other).text == f"equal: {len(lab.trace)} events"
    other.crash("paris-1")
    changed_ns = other.now
    lab.run("5s")
    other.run("5s")
    found = lab.compare(other)

    assert found.at_ns == changed_ns
    assert (found.there.kind, found.there.verb, found.there.target) == ("fault", "crash", "paris-1")
    assert found.here.at_ns >= changed_ns
    assert list(lab.trace)[: found.common] == list(other.trace)[: found.common]
    assert found.text.splitlines()[0] == f"the same {found.common} events; they part at {changed_ns / 1e9:.3f} s"
    assert "fault: crash paris-1" in repr(found)
    turned = other.compare(lab)
    assert (turned.common, turned.here, turned.there) == (found.common, found.there, found.here)
    assert (found.next_here[0], found.next_there[0]) == (found.here, found.there)
    assert list(found.next_there) == list(other.trace)[found.common :][:MAX_NEXT]


def test_one_that_went_on_longer_parts_where_the_other_ended(lab: Lab) -> None:
    other = lab.branch("longer").run("3s")
    found = lab.compare(other)

    assert (found.common, found.here) == (len(lab.trace), None)
    assert found.at_ns == list(other.trace)[found.common].at_ns
    assert found.text.splitlines()[1] == "here:  nothing more"


def test_runs_without_anything_in_common() -> None:
    found = compare(recorded(("note", 5, "one")), recorded(("note", 3, "other")))
    assert found.at_ns == 3
    assert found.text.startswith("no event in common; they part at 0.000 s")
    assert compare(recorded(), recorded()) == Comparison(0, None, None)


def test_chunks_make_no_difference() -> None:
    events = [("note", n, str(n)) for n in range(40)]
    whole, pieces = recorded(*events), recorded()
    for event in events:
        pieces.record(event)
        if event[1] % 7 == 0:
            pieces.state()
    assert compare(whole, pieces).at_ns is None


def test_it_needs_two_labs_with_a_trace(lab: Lab) -> None:
    silent = Lab(lab.blueprint, trace=False)
    with pytest.raises(ValueError, match="expected two labs that keep a trace, got one with trace=False"):
        lab.compare(silent)
