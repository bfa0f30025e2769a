"""Exercise stall: a stalled leader is replaced after its lease, and a late commit is refused."""

from __future__ import annotations

from labkit.lessons.two_primaries.stall import look, stall_short, start


def test_another_node_leads_after_the_lease_and_the_late_commit_steps_down():
    lab = start()
    stall_short(lab)
    seen = look(lab)

    assert 2.0 < (seen.taken_over_ns - seen.paused_ns) / 1e9 < 3.5
    assert seen.refused_ns == seen.resumed_ns
    assert seen.versions == 1
    assert seen.slept_s > 4.9


def test_nothing_was_done_at_the_start():
    seen = look(start())

    assert (seen.paused, seen.versions, seen.taken_over_ns) == ((), 0, -1)
