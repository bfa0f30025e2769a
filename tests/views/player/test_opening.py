"""Opening: a player opens where a run first becomes interesting."""

from __future__ import annotations

from labkit import Lab
from labkit.views.player.opening import opening_ns
from labkit.views.player.recorded.recording import recording_of


def opening(lab: Lab, only: str | None = None) -> int:
    return opening_ns(recording_of(lab.queries, lab.invariants, only))


def test_it_is_the_first_fault_or_what_is_lost_before_it(drilled_lab: Lab) -> None:
    first = min(one.at_ns for one in drilled_lab.trace.select("fault"))

    assert opening(drilled_lab) == min(first, *(write.at_ns for write in drilled_lab.ledger.lost()))


def test_without_a_fault_it_is_the_first_message_of_interest_and_without_any_the_beginning() -> None:
    lab = Lab.pair(seed=7).run("1s")
    assert opening(lab) == 0
    lab.replicate("paris", "tokyo")
    recording = recording_of(lab.queries, lab.invariants, "replication")
    chosen = [one.sent_ns for one in recording.messages if one.row in recording.interesting]
    assert opening(lab, "replication") == min(chosen) > 0
